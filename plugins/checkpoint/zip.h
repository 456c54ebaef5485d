/* Zip archives as NumPy and Keras write them: members stored or deflated, also above 4 GB.
 * Format: PKWARE's APPNOTE. Names are labels here: nothing is unpacked into a file. */
#ifndef TFSDK_CHECKPOINT_ZIP_H
#define TFSDK_CHECKPOINT_ZIP_H

#include <zlib.h>

#include "file.h"

typedef struct zip_member {
  const char *name; /* in the arena */
  uint64_t at;      /* of its data in the file */
  uint64_t packed, bytes;
  uint32_t crc;
  bool deflated;
} zip_member;

/* The archive's directory, checked: everything lies in the file, nothing overlaps, no name is there
 * twice, nothing is encrypted or packed in another way. */
tfsdk_status *zip_list(file *f, arena *memory, zip_member **out, size_t *out_n);

/* A member from front to back. */
typedef struct zip_stream {
  file *f;
  const zip_member *m;
  z_stream z;
  bool inflating;
  unsigned char *chunk;
  uint64_t taken, given; /* bytes of the file, bytes handed out */
  uint32_t crc;
} zip_stream;
tfsdk_status *zip_open(zip_stream *s, file *f, const zip_member *m);
/* Exactly n bytes. At the member's end its checksum is looked at. */
tfsdk_status *zip_read(zip_stream *s, void *to, uint64_t n);
void zip_close(zip_stream *s);

#endif
