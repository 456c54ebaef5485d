/* The frame of TFRecord files (tensorflow/core/lib/io/record_writer.h):
 *
 *     8 bytes   the length n, little-endian
 *     4 bytes   their masked checksum
 *     n bytes   the record
 *     4 bytes   their masked checksum
 *
 * Checksums are CRC-32C (Castagnoli), masked: turned right by 15 bits, plus 0xa282ead8. */
#ifndef TFSDK_READERS_RECORD_H
#define TFSDK_READERS_RECORD_H

#include <stddef.h>
#include <stdint.h>

typedef struct record_checksums {
  uint32_t of_byte[256];
} record_checksums;

static inline void record_checksums_fill(record_checksums *t) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
    t->of_byte[i] = c;
  }
}

static inline uint32_t record_checksum(const record_checksums *t, const void *data, size_t n) {
  const unsigned char *p = data;
  uint32_t c = ~0u;
  for (size_t i = 0; i < n; i++) c = c >> 8 ^ t->of_byte[(c ^ p[i]) & 255];
  c = ~c;
  return (c >> 15 | c << 17) + 0xa282ead8u;
}

#endif
