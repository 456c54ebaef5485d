/* Fill: a tensor of a given shape full of one value. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_TRY(array_scalar_arg(c, 1));
  return array_shape_arg(c, 0, "'dims'", &c->out[0].shape);
}

typedef struct fill {
  const tfsdk_view *value;
  int64_t n;
} fill;

static void write(array_sink *s, const void *user) {
  const fill *f = (const fill *)user;
  array_put(s, f->value, 0, 0, f->n);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_shape s = tfsdk_shape_scalar();
  s.rank = (int32_t)r->in[0].n_elem;
  for (int32_t i = 0; i < s.rank; i++) s.dim[i] = tfsdk_view_int(&r->in[0], i);
  fill f = {&r->in[1], tfsdk_shape_elements(&s)}; /* beside a 0 the other extents may be huge */
  return array_write(r, 0, write, &f);
}

/* The value stands everywhere: its gradient is the sum of dy. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  int64_t flat = -1;
  tfsdk_val dy =
      tfsdk_emit2(c, "Reshape", tfsdk_dy(g, 0), array_int_const(c, TFSDK_INT32, &flat, 1));
  return tfsdk_set_dx(g, 1, tfsdk_emit2(c, "Sum", dy, tfsdk_int_scalar(c, 0)));
}

static const tfsdk_arg in[] = {{"dims", "index_type", "vector: the shape", ARRAY_SHAPE_ARG, 0},
                               {"value", "T", "scalar", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "value at every place", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"index_type", ARRAY_INDEX_TYPES, "int32", "type of dims", 0, 0}};
static const char *const samples[] = {"int32{2,3} ; T[]", "int64{0,2} ; float32(1)",
                                      "int32{} ; float32(1)", NULL};
static const tfsdk_opdef ops[] = {{TFSDK_OP_HEAD("Fill", "a tensor full of one value"),
                                   .doc = "Source: TensorFlow `Fill`.", ARRAY_SCHEMA(in, out, attr),
                                   .const_in = 1, .infer = infer, .reference = compute,
                                   .grad = grad, .samples = samples}};
TFSDK_UNIT_OPS(fill, ops);
