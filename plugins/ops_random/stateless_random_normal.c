/* StatelessRandomNormal: numbers of the normal distribution, told by the seed (TensorFlow's op).
 * Law and source: normal.h.
 */
#include "normal.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return draw_fill(r, &r->in[1], normal_block, 0);
}

static const tfsdk_arg in[] = {
    {"shape", "T", "a vector: the shape of the output", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"seed", "Tseed", "two integers", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {{"output", "dtype", "the numbers", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"dtype", DRAW_FLOATS, "float32", "the type of the numbers", 0, 0},
    {"T", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
    {"Tseed", "dtype{int32,int64}", NULL, "the type of `seed`", 0, 0},
};
static const char *const samples[] = {
    "int32{2,3} ; int32{1,2}",
    "int64{5} ; int64{-1,2} | dtype=float64",
    "int32{7} ; int32{1,2} | dtype=float16",
    "int32{7} ; int32{1,2} | dtype=bfloat16",
    "int32{0,3} ; int32{1,2}",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("StatelessRandomNormal",
                  "numbers of the normal distribution N(0, 1), told by the seed"),
    .doc = "Normally distributed numbers of mean 0 and deviation 1 (Box and "
           "Muller). " DRAW_STATELESS_DOC,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .const_in = 1,
    .infer = draw_infer_stateless,
    .reference = compute,
    .no_grad_reason = DRAW_NO_GRAD,
    .samples = samples,
}};
TFSDK_UNIT_OPS(stateless_random_normal, ops);
