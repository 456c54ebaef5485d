/* The checksum of records. Byte by byte: events are small beside the step that makes them. */
#include "record.h"

#include <pthread.h>

#define POLYNOMIAL 0x82f63b78u /* CRC-32C, 0x1edc6f41 with its bits in reverse: RFC 3720 */

static uint32_t table[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? POLYNOMIAL : 0);
    table[i] = c;
  }
}

uint32_t record_checksum(const void *bytes, size_t n) {
  uint32_t c = ~0u;
  (void)pthread_once(&once, prepare);
  for (const unsigned char *p = (const unsigned char *)bytes; n > 0; n--, p++)
    c = c >> 8 ^ table[(c ^ *p) & 255];
  c = ~c;
  return (c >> 15 | c << 17) + 0xa282ead8u;
}
