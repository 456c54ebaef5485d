/* CRC-32C by the processor's own instruction, or by tables of eight bytes at a time. */
#include "crc32c.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* 0x1edc6f41 with its bits in reverse, RFC 3720 */

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_instruction;

static void prepare(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? POLYNOMIAL : 0);
    table[0][i] = c;
  }
  for (int t = 1; t < 8; t++)
    for (uint32_t i = 0; i < 256; i++)
      table[t][i] = table[t - 1][i] >> 8 ^ table[0][table[t - 1][i] & 255];
#if defined(__x86_64__)
  __builtin_cpu_init();
  has_instruction = __builtin_cpu_supports("sse4.2");
#endif
}

static uint32_t by_table(uint32_t c, const unsigned char *p, size_t n) {
  for (; n >= 8; n -= 8, p += 8) {
    uint32_t a =
        c ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    c = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^
        table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
  }
  for (; n > 0; n--, p++) c = c >> 8 ^ table[0][(c ^ *p) & 255];
  return c;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t c, const unsigned char *p,
                                                                 size_t n) {
  uint64_t wide = c;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t x;
    memcpy(&x, p, 8);
    wide = __builtin_ia32_crc32di(wide, x);
  }
  c = (uint32_t)wide;
  for (; n > 0; n--, p++) c = __builtin_ia32_crc32qi(c, *p);
  return c;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t n) {
  (void)pthread_once(&once, prepare);
#if defined(__x86_64__)
  if (has_instruction) return ~by_instruction(~crc, data, n);
#endif
  return ~by_table(~crc, data, n);
}
