/* emit_nn.h - emitting helpers of this folder's gradients. */
#ifndef NN_EMIT_H
#define NN_EMIT_H

#include <tfsdk/emit.h>

enum { NN_MAX_ATTRS = 16 };

/* Emits an op with the attributes of the forward node that are no types (those the inputs tell). */
static inline tfsdk_val nn_emit_like(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op,
                                     const tfsdk_val *in, size_t n_in) {
  tfsdk_attrval attr[NN_MAX_ATTRS];
  size_t n = 0;
  for (uint32_t i = 0; i < g->attr.n && n < NN_MAX_ATTRS; i++)
    if (g->attr.list[i].kind != TFSDK_ATTR_DTYPE) attr[n++] = g->attr.list[i];
  return tfsdk_emit(c, op, in, n_in, attr, n);
}

/* The shape of v as an int32 vector: a constant where it is known. */
static inline tfsdk_val nn_shape_of(tfsdk_ctx *c, tfsdk_val v) {
  tfsdk_typed_shape t = tfsdk_type(c, v);
  int known = t.shape.rank >= 0;
  for (int32_t i = 0; i < t.shape.rank; i++)
    if (t.shape.dim[i] < 0 || t.shape.dim[i] > INT32_MAX) known = 0;
  if (known) return tfsdk_int_vector(c, t.shape.dim, (uint32_t)t.shape.rank);
  return tfsdk_emit1(c, "Shape", v);
}

#endif
