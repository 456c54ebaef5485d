/* tensor.h - TensorProto: numbers as doubles, strings as they lie in the message. */
#ifndef TFSDK_BOARD_TENSOR_H
#define TFSDK_BOARD_TENSOR_H

#include "proto.h"

#define TENSOR_RANK 8

typedef struct tensor {
  int dtype; /* TensorFlow's number: 1 float, 7 string ... */
  uint32_t rank;
  int64_t dim[TENSOR_RANK];
  size_t n;
  double *number; /* n of them, or NULL */
  bytes *string;
} tensor;

/* False: no tensor, or one of a kind that is not shown. */
bool tensor_read(bytes message, tensor *out);
void tensor_free(tensor *t);
/* "float32", "string" ...; "?" for a number that is none. */
const char *tensor_type_name(uint64_t dtype);

#endif
