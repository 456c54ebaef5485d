/* Bitcast: the same bytes as another type. From a wider type to a narrower one an axis is added at
 * the end, the other way round the last axis, which must hold exactly one wide element, goes. */
#include <tfsdk/elementwise.h>

static tfsdk_status *infer(tfsdk_infer *c) {
  int64_t from = (int64_t)tfsdk_dtype_size(c->in[0].dtype);
  int64_t to = (int64_t)tfsdk_dtype_size(c->out[0].dtype);
  tfsdk_shape s = c->in[0].shape;
  if (s.rank < 0 || from == to) {
    c->out[0].shape = s;
    return NULL;
  }
  if (from > to) {
    TFSDK_REQUIRE(c, s.rank < TFSDK_MAX_RANK, "the result would have rank %d", (int)s.rank + 1);
    s.dim[s.rank++] = from / to;
  } else {
    TFSDK_REQUIRE(c, s.rank > 0 && (s.dim[s.rank - 1] < 0 || s.dim[s.rank - 1] == to / from),
                  "to make %s of %s the last axis must have extent %lld, but the shape is %s",
                  tfsdk_dtype_name(c->out[0].dtype), tfsdk_dtype_name(c->in[0].dtype),
                  (long long)(to / from), tfsdk_shape_text(&s).s);
    s.rank--;
  }
  c->out[0].shape = s;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  size_t bytes = (size_t)r->out[0].n_elem * tfsdk_dtype_size(r->out[0].dtype);
  (void)state;
  if (bytes > 0) memcpy(r->out[0].data, r->in[0].data, bytes);
  return NULL;
}

static const tfsdk_arg in[] = {{"input", "T", "any shape", 0, 0}};
static const tfsdk_arg out[] = {
    {"output", "type", "input's shape, with an axis more or less if the width changes", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", TFSDK_T_ANY, NULL, "type of input", 0, 0},
    {"type", TFSDK_T_ANY, NULL, "type of output", 0, 0},
};
static const char *const samples[] = {"float32[2,3] | type=int32", "float64[2] | type=uint8",
                                      "uint8[3,4] | type=float32", "float16[3] | type=uint16",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Bitcast", "the same bytes as another type"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer,
     .doc = "Reads input's memory as elements of `type`, in the machine's byte order. A wider type "
            "becomes "
            "a narrower one with an axis added at the end; the other way round that axis goes.",
     .reference = compute, .no_grad_reason = "bits are no numbers", .samples = samples},
};
TFSDK_UNIT_OPS(bitcast, ops);
