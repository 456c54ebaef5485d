/* PopulationCount: how many bits of x are set, as uint8. */
#include <tfsdk/elementwise.h>

/* By clearing the lowest set bit until none is left; in x's own width, not sign-extended. */
static inline uint8_t bits(uint64_t x) {
  uint8_t n = 0;
  for (; x != 0; x &= x - 1) n++;
  return n;
}

#define COUNT_CASE_(id, S, C, LOAD, STORE, ...)                                                    \
  case TFSDK_##id:                                                                                 \
    for (int64_t i = 0; i < r->out[0].n_elem; i++)                                                 \
      y[i] = bits((uint64_t)((const S *)r->in[0].data)[i] & (UINT64_MAX >> (64 - 8 * sizeof(S)))); \
    break;
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  uint8_t *y = (uint8_t *)r->out[0].data;
  (void)state;
  switch (r->in[0].dtype) {
    TFSDK_EW_INTS(COUNT_CASE_, )
  default: return tfsdk_ew_no_type(r);
  }
  return NULL;
}

static const tfsdk_arg out[] = {{"y", "uint8", "of x's shape", 0, 0}};
static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("PopulationCount", "number of bits that are set"), .in = tfsdk_ew_x, .n_in = 1,
     .out = out, .n_out = 1, TFSDK_EW_T(TFSDK_T_INTS), .infer = tfsdk_infer_same,
     .flags = TFSDK_OP_ELEMENTWISE,
     .doc =
         "y is the number of ones in the binary form of x, two's complement for negative numbers.",
     .reference = compute, .no_grad_reason = "integers", .samples = samples},
};
TFSDK_UNIT_OPS(population_count, ops);
