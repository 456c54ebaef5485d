/* tfsdk/philox.h - the counter-based random number generator that all random ops share.
 *
 * Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1,
 * 2, 3", SC 2011; constants from that paper). Block number `counter` of stream `key` is four 32-bit
 * words; any block can be computed alone, so threads and devices give the same numbers.
 */
#ifndef TFSDK_PHILOX_H
#define TFSDK_PHILOX_H

#include <stdint.h>

/* The whole function: a counter of 128 bits, its low word first. */
static inline void tfsdk_philox128(const uint32_t key[2], const uint32_t counter[4],
                                   uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
    uint32_t h0 = (uint32_t)(p0 >> 32), l0 = (uint32_t)p0;
    uint32_t h1 = (uint32_t)(p1 >> 32), l1 = (uint32_t)p1;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/* Block `counter` of stream `key`: what random ops use. */
static inline void tfsdk_philox(const uint32_t key[2], uint64_t counter, uint32_t out[4]) {
  const uint32_t wide[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
  tfsdk_philox128(key, wide, out);
}

/* 24 random bits as a float in [0, 1). */
static inline float tfsdk_uniform_float(uint32_t bits) {
  return (float)(bits >> 8) * (1.0f / 16777216.0f);
}
/* 53 random bits as a double in [0, 1). */
static inline double tfsdk_uniform_double(uint32_t high, uint32_t low) {
  uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
  return (double)bits * (1.0 / 9007199254740992.0);
}

#endif
