/* philox_words.h - the words of many Philox blocks at once: those of tfsdk/philox.h, bit for bit,
 * many blocks side by side in vector registers. */
#ifndef TFSDK_CPU_PHILOX_WORDS_H
#define TFSDK_CPU_PHILOX_WORDS_H

#include "common.h"

#define CPU_PHILOX_BLOCKS                                                                          \
  32 /* more than compilers unroll, which would keep them from vectorising */
#define CPU_PHILOX_WORDS (4 * CPU_PHILOX_BLOCKS)

/* Blocks from `counter` on into out[4 * block + word]. */
CPU_INLINE void cpu_philox_words(const uint32_t key[2], uint64_t counter, uint32_t *out) {
  uint32_t c0[CPU_PHILOX_BLOCKS], c1[CPU_PHILOX_BLOCKS], c2[CPU_PHILOX_BLOCKS],
      c3[CPU_PHILOX_BLOCKS];
  uint32_t k0 = key[0], k1 = key[1];
  for (int j = 0; j < CPU_PHILOX_BLOCKS; j++) {
    c0[j] = (uint32_t)(counter + (uint64_t)j);
    c1[j] = (uint32_t)((counter + (uint64_t)j) >> 32);
    c2[j] = c3[j] = 0;
  }
  for (int round = 0; round < 10; round++) {
    for (int j = 0; j < CPU_PHILOX_BLOCKS; j++) {
      uint64_t p0 = (uint64_t)0xD2511F53u * c0[j], p1 = (uint64_t)0xCD9E8D57u * c2[j];
      c0[j] = (uint32_t)(p1 >> 32) ^ c1[j] ^ k0;
      c2[j] = (uint32_t)(p0 >> 32) ^ c3[j] ^ k1;
      c1[j] = (uint32_t)p1;
      c3[j] = (uint32_t)p0;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int j = 0; j < CPU_PHILOX_BLOCKS; j++) {
    out[4 * j] = c0[j];
    out[4 * j + 1] = c1[j];
    out[4 * j + 2] = c2[j];
    out[4 * j + 3] = c3[j];
  }
}

#endif
