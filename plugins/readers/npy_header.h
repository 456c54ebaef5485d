/* The header of an npy file, read and checked. */
#ifndef TFSDK_READERS_NPY_HEADER_H
#define TFSDK_READERS_NPY_HEADER_H

#include "source.h"

typedef struct npy_header {
  int32_t dtype;
  uint32_t rank;
  size_t item;  /* bytes of an element in the file */
  size_t part;  /* bytes of what is turned round together: half an element for complex numbers */
  bool swap;    /* the file's byte order is not the machine's */
  bool fortran; /* the first axis varies fastest */
  int64_t dim[TFSDK_MAX_RANK];
  int64_t elements; /* their bytes fit 63 bits too */
} npy_header;

tfsdk_status *npy_read_header(source *s, npy_header *out);

#endif
