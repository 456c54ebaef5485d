/* Checksums of a damaged file, set right. FUZZ_SEAL says which frame it has. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "../../plugins/checkpoint/crc32c.h"
#include "target.h"

typedef unsigned char byte;

static uint64_t number(const byte *p, int n) {
  uint64_t v = 0;
  for (int i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
  return v;
}
static void put(byte *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (byte)(v >> 8 * i);
}

/* TFRecord and event files: length, its checksum, data, their checksum. */
static void seal_records(byte *b, size_t n) {
  for (size_t at = 0; n - at >= 16;) {
    uint64_t size = number(b + at, 8);
    put(b + at + 8, crc32c_mask(crc32c(0, b + at, 8)));
    if (size > n - at - 16) return;
    put(b + at + 12 + size, crc32c_mask(crc32c(0, b + at + 12, (size_t)size)));
    at += 16 + (size_t)size;
  }
}

static int varint(const byte *b, size_t n, size_t *at, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; shift < 64 && *at < n; shift += 7) {
    *out |= (uint64_t)(b[*at] & 127) << shift;
    if (b[(*at)++] < 128) return 1;
  }
  return 0;
}
static void seal_block(byte *b, size_t n, uint64_t at, uint64_t size) {
  if (at > n || size > n - at || n - at - size < 5) return;
  put(b + at + size + 1, crc32c_mask(crc32c(0, b + at, (size_t)size + 1)));
}
/* Tables of TensorFlow's checkpoints: the index block and the first data block, which is all of them in small files. */
static void seal_table(byte *b, size_t n) {
  uint64_t h[4], shared, own, value, from, size;
  if (n < 48) return;
  size_t at = n - 48;
  for (int i = 0; i < 4; i++)
    if (!varint(b, n - 8, &at, &h[i])) return;
  if (h[2] > n || h[3] > n - h[2]) return;
  size_t p = (size_t)h[2]; /* its first entry: lengths shared, own, of the value; key; handle */
  if (varint(b, n, &p, &shared) && varint(b, n, &p, &own) && varint(b, n, &p, &value) &&
      own < n - p) {
    p += (size_t)own;
    if (varint(b, n, &p, &from) && varint(b, n, &p, &size)) seal_block(b, n, from, size);
  }
  seal_block(b, n, h[2], h[3]);
}

/* Our index: {"crc32c":"xxxxxxxx", ... */
static void seal_index(byte *b, size_t n) {
  char digits[9];
  if (n < 21 || memcmp(b, "{\"crc32c\":\"", 11) != 0) return;
  snprintf(digits, sizeof digits, "%08x", crc32c(0, b + 21, n - 21));
  memcpy(b + 11, digits, 8);
  memcpy(b + 19, "\",", 2);
}

/* Zip archives: members that are stored, not compressed. */
static void seal_zip(byte *b, size_t n) {
  if (n < 22 || number(b + n - 22, 4) != 0x06054b50) return;
  uint64_t at = number(b + n - 6, 4);
  while (at + 46 <= n && number(b + at, 4) == 0x02014b50) {
    uint64_t local = number(b + at + 42, 4), size = number(b + at + 20, 4);
    if (number(b + at + 10, 2) == 0 && local + 30 <= n) {
      uint64_t data = local + 30 + number(b + local + 26, 2) + number(b + local + 28, 2);
      if (data <= n && size <= n - data) {
        uint32_t crc = (uint32_t)crc32(0, b + data, (uInt)size);
        put(b + at + 16, crc);
        put(b + local + 14, crc);
      }
    }
    at += 46 + number(b + at + 28, 2) + number(b + at + 30, 2) + number(b + at + 32, 2);
  }
}

void target_seal(byte *b, size_t n) {
  switch (FUZZ_SEAL[0]) {
  case 'r': seal_records(b, n); break;
  case 't': seal_table(b, n); break;
  case 'i': seal_index(b, n); break;
  case 'z': seal_zip(b, n); break;
  default: break;
  }
}
