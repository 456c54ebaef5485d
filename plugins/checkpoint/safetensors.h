/* The safetensors format (github.com/huggingface/safetensors): 8 bytes with the header's length,
 * little-endian; the header, JSON; then the elements, little-endian, row-major, without holes. */
#ifndef TFSDK_CHECKPOINT_SAFETENSORS_H
#define TFSDK_CHECKPOINT_SAFETENSORS_H

#include "output.h"

/* What is written of one tensor. */
typedef struct piece {
  const char *name;
  const char *code; /* "F32" */
  const int64_t *dim;
  uint32_t rank;
  uint32_t index; /* the caller's */
  const void *data;
  uint64_t bytes, at; /* at: in the file; filled in */
  uint32_t width;     /* bytes of an element */
  uint32_t crc;       /* CRC-32C of the data; filled in when `checksums` */
} piece;

/* "F32" for float32; NULL for what the format lacks. */
const char *safetensors_code(int32_t dtype);
/* Writes a whole file; `metadata` (may be NULL) is the JSON text of an object of strings. Elements
 * lie by falling width, so that each is aligned to its own; names are in order in the header. */
tfsdk_status *safetensors_put(output *o, arena *memory, piece *list, size_t n, const char *metadata,
                              bool checksums);
/* Text as a JSON string, quotes included; NULL when memory is out. */
char *json_quote(arena *memory, const char *text);

#endif
