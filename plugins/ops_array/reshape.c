/* Reshape: the same elements, in the same row-major order, under another shape.
 *
 * One extent may be -1: it is then the number of elements divided by the product of the others.
 * When that product is 0 every value would do, so that is an error, also for an empty tensor. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_view *v = array_value(c, 1);
  const tfsdk_shape *x = &c->in[0].shape, *s = &c->in[1].shape;
  tfsdk_shape y = tfsdk_shape_scalar();
  int64_t n = tfsdk_shape_elements(x), product = 1;
  int32_t open = -1;
  if (s->rank >= 0 && s->rank != 1)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'shape' must be a vector, but its shape is %s",
                      tfsdk_shape_text(s).s);
  if (v == NULL) {
    if (s->rank == 1 && s->dim[0] >= 0 && s->dim[0] <= TFSDK_MAX_RANK)
      c->out[0].shape = tfsdk_shape_of_rank((int32_t)s->dim[0]);
    return NULL;
  }
  TFSDK_TRY(tfsdk_value_shape(c, v, "'shape'", &y));
  for (int32_t i = 0; i < y.rank; i++) {
    if (y.dim[i] >= 0) {
      TFSDK_TRY(array_mul(c, product, y.dim[i], "'shape'", &product));
      continue;
    }
    if (open >= 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'shape' %s: only one extent may be -1",
                        tfsdk_shape_text(&y).s);
    open = i;
  }
  if (open >= 0) {
    if (product == 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "cannot tell the extent -1 of 'shape' %s: the product of the others is 0",
                        tfsdk_shape_text(&y).s);
    if (n >= 0) {
      if (n % product != 0)
        return TFSDK_FAIL(c, INVALID_ARGUMENT,
                          "%lld elements of shape %s do not fit 'shape' %s: no multiple of %lld",
                          (long long)n, tfsdk_shape_text(x).s, tfsdk_shape_text(&y).s,
                          (long long)product);
      y.dim[open] = n / product;
    }
  } else if (n >= 0 && n != product) {
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "shape %s has %lld elements, but 'shape' %s has %lld",
                      tfsdk_shape_text(x).s, (long long)n, tfsdk_shape_text(&y).s,
                      (long long)product);
  }
  c->out[0].shape = y;
  return NULL;
}

static const tfsdk_arg in[] = {{"tensor", "T", "any shape", 0, 0},
                               {"shape", "Tshape",
                                "vector: the new extents; one may be -1, \"what is left\"",
                                ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "tensor's elements under the new shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0},
                                     {"Tshape", ARRAY_INDEX_TYPES, NULL, "type of shape", 0, 0}};
static const char *const samples[] = {"T[2,3] ; int32{3,-1}", "T[4] ; int64{2,1,2}",
                                      "float32[] ; int32{1,1}", "float32[0,3] ; int32{3,-1}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Reshape", "the same elements under another shape"), .flags = TFSDK_OP_VIEW,
     .doc = "Elements keep their row-major order; nothing is copied. One extent may be -1.\n\n"
            "Errors: another number of elements; more than one -1; -1 beside an extent of 0 "
            "(ambiguous).\n\nSource: TensorFlow `Reshape`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .grad = array_grad_reshape,
     .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(reshape, ops);
