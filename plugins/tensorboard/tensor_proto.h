/* A view as TensorProto{dtype 1, tensor_shape 2{dim 2*{size 1}}, tensor_content 4, string_val 8*}
 * (tensorflow/core/framework/tensor.proto). */
#ifndef TFSDK_TENSORBOARD_TENSOR_PROTO_H
#define TFSDK_TENSORBOARD_TENSOR_PROTO_H

#include "pb.h"

static inline void pb_tensor(pb *b, uint32_t field, const tfsdk_view *v) {
  size_t tensor = pb_begin(b, field), shape;
  pb_put_int(b, 1, v->dtype);
  shape = pb_begin(b, 2);
  for (uint32_t i = 0; i < v->rank; i++) {
    size_t dim = pb_begin(b, 2);
    pb_put_int(b, 1, v->dim[i]);
    pb_end(b, dim);
  }
  pb_end(b, shape);
  if (v->dtype != TFSDK_STRING) {
    pb_put_bytes(b, 4, v->data, (size_t)v->n_elem * tfsdk_dtype_size(v->dtype));
  } else {
    for (int64_t i = 0; i < v->n_elem; i++) {
      uint64_t n;
      const char *s = tfsdk_view_string(v, i, &n);
      pb_always_bytes(b, 8, s, (size_t)n);
    }
  }
  pb_end(b, tensor);
}

#endif
