/* The frame of a record in event files and TFRecord files: its length as 8 bytes, their checksum,
 * the bytes, their checksum; all little-endian, checksums CRC-32C and masked
 * (tensorflow/core/lib/io/record_writer.h). */
#ifndef TFSDK_TENSORBOARD_RECORD_H
#define TFSDK_TENSORBOARD_RECORD_H

#include "pb.h"

#define RECORD_HEAD 12 /* bytes before the data */
#define RECORD_TAIL 4  /* and behind */

/* The masked checksum: rotated and shifted, so that data with checksums in it is no special case. */
uint32_t record_checksum(const void *bytes, size_t n);

static inline void record_put(pb *b, const void *bytes, size_t n) {
  unsigned char head[8];
  for (size_t i = 0; i < 8; i++) head[i] = (unsigned char)((uint64_t)n >> 8 * i);
  pb_raw(b, head, 8);
  pb_fixed(b, record_checksum(head, 8), 4);
  pb_raw(b, bytes, n);
  pb_fixed(b, record_checksum(bytes, n), 4);
}

static inline uint64_t record_number(const unsigned char *p, size_t n) {
  uint64_t v = 0;
  for (size_t i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
  return v;
}
/* Whether the four bytes at p are the checksum of n bytes. */
static inline bool record_checks(const unsigned char *p, const void *bytes, size_t n) {
  return record_number(p, 4) == record_checksum(bytes, n);
}

#endif
