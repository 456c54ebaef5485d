/* DiagPart: the diagonal of a tensor whose axes come twice, the opposite of Diag. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  int32_t half = x->rank / 2;
  if (x->rank < 0) return NULL;
  if (x->rank < 2 || x->rank % 2 != 0)
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "'input' must have an even rank from 2 on, but its shape is %s",
                      tfsdk_shape_text(x).s);
  c->out[0].shape = tfsdk_shape_of_rank(half);
  for (int32_t i = 0; i < half; i++)
    TFSDK_TRY(tfsdk_merge_dim(c, x->dim[i], x->dim[half + i],
                              "both halves of the shape must be equal", &c->out[0].shape.dim[i]));
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  array_walk w = {0};
  int64_t n = r->out[0].n_elem;
  array_walk_axis(&w, n, n + 1);
  return array_copy_walk(r, 0, 0, &w);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit1(c, "Diag", tfsdk_dy(g, 0)));
}

static const tfsdk_arg in[] = {{"input", "T", "a shape and the same again", 0, 0}};
static const tfsdk_arg out[] = {{"diagonal", "T", "of that shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[3,3]", "float32[2,3,2,3]", "float32[0,0]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DiagPart", "the diagonal of a tensor"),
     .doc = "`diagonal[i...] = input[i..., i...]`.\n\nSource: TensorFlow `DiagPart`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad,
     .samples = samples}};
TFSDK_UNIT_OPS(diag_part, ops);
