/* Diag: a tensor of twice the rank with the input on its diagonal, zeros elsewhere. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  if (x->rank < 0) return NULL;
  if (x->rank < 1 || 2 * x->rank > TFSDK_MAX_RANK)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'diagonal' must have rank 1 to %d, but its shape is %s",
                      TFSDK_MAX_RANK / 2, tfsdk_shape_text(x).s);
  c->out[0].shape = tfsdk_shape_of_rank(2 * x->rank);
  for (int32_t i = 0; i < 2 * x->rank; i++) c->out[0].shape.dim[i] = x->dim[i % x->rank];
  return NULL;
}

static void write(array_sink *s, const void *user) {
  const tfsdk_view *x = (const tfsdk_view *)user;
  for (int64_t i = 0; i < x->n_elem; i++) {
    array_put_zeros(s, i);
    array_put(s, x, i, 1, 1);
    array_put_zeros(s, x->n_elem - 1 - i);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_write(r, 0, write, &r->in[0]);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit1(c, "DiagPart", tfsdk_dy(g, 0)));
}

static const tfsdk_arg in[] = {{"diagonal", "T", "rank 1 to 6", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "diagonal.shape twice", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[3]", "float32[2,3]", "float32[0]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Diag", "a tensor with a given diagonal"),
     .doc = "`y[i..., j...] = diagonal[i...]` where i = j, else 0.\n\nSource: TensorFlow `Diag`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad,
     .samples = samples}};
TFSDK_UNIT_OPS(diag, ops);
