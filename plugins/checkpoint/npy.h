/* The header of an array in NumPy's format (numpy.lib.format), inside an archive. */
#ifndef TFSDK_CHECKPOINT_NPY_H
#define TFSDK_CHECKPOINT_NPY_H

#include <tfsdk/shape.h>

#include "file.h"

#define NPY_PREAMBLE 12 /* magic number, version, and a length of 4 bytes; version 1: of 2 */

typedef struct npy_array {
  int32_t dtype;
  uint32_t item; /* bytes of an element in the file; of strings their width */
  uint32_t part; /* bytes of a number: half of a complex one */
  bool big_endian, fortran;
  tfsdk_shape shape;
} npy_array;

/* How long the header behind a preamble of NPY_PREAMBLE bytes is, and where it begins; NULL, or
 * what is wrong. */
const char *npy_length(const unsigned char *preamble, size_t *out_at, size_t *out_n);
/* Reads the header's text; NULL, or what is wrong: "object" types and the like are `*unknown`. */
const char *npy_parse(const char *text, size_t n, npy_array *out, bool *unknown);

#endif
