/* turn.c - transposition of elements of 4 and 8 bytes: blocks are turned in registers, 16 by 16 with
 * AVX-512, else 4 by 4 (2 by 2), so that memory is read and written in runs. The rest goes one by
 * one. */
#include "gemm.h"

/* Lanes of two vectors by constant numbers: gcc has one spelling in all versions, clang the other. */
#if defined(__clang__)
#define LANES(a, b, type, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define LANES(a, b, type, ...) __builtin_shuffle(a, b, (type){__VA_ARGS__})
#endif

typedef uint32_t quad32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t pair64 __attribute__((vector_size(16), aligned(8), may_alias));

/* out[i * width + j] = b[j * b_col + i] for i < k, j < cols */
static void turn32(const uint32_t *b, int64_t b_col, int64_t k, int64_t cols, int64_t width,
                   uint32_t *out) {
  int64_t j = 0;
  for (; j + 4 <= cols; j += 4) {
    const uint32_t *c0 = b + j * b_col, *c1 = c0 + b_col, *c2 = c1 + b_col, *c3 = c2 + b_col;
    int64_t i = 0;
    for (; i + 4 <= k; i += 4) {
      quad32 v0 = *(const quad32 *)(c0 + i), v1 = *(const quad32 *)(c1 + i);
      quad32 v2 = *(const quad32 *)(c2 + i), v3 = *(const quad32 *)(c3 + i);
      quad32 a0 = LANES(v0, v1, quad32, 0, 4, 1, 5);
      quad32 a1 = LANES(v0, v1, quad32, 2, 6, 3, 7);
      quad32 a2 = LANES(v2, v3, quad32, 0, 4, 1, 5);
      quad32 a3 = LANES(v2, v3, quad32, 2, 6, 3, 7);
      uint32_t *o = out + i * width + j;
      *(quad32 *)o = LANES(a0, a2, quad32, 0, 1, 4, 5);
      *(quad32 *)(o + width) = LANES(a0, a2, quad32, 2, 3, 6, 7);
      *(quad32 *)(o + 2 * width) = LANES(a1, a3, quad32, 0, 1, 4, 5);
      *(quad32 *)(o + 3 * width) = LANES(a1, a3, quad32, 2, 3, 6, 7);
    }
    for (; i < k; i++) {
      uint32_t *o = out + i * width + j;
      o[0] = c0[i], o[1] = c1[i], o[2] = c2[i], o[3] = c3[i];
    }
  }
  for (; j < cols; j++)
    for (int64_t i = 0; i < k; i++) out[i * width + j] = b[j * b_col + i];
}

static void turn64(const uint64_t *b, int64_t b_col, int64_t k, int64_t cols, int64_t width,
                   uint64_t *out) {
  int64_t j = 0;
  for (; j + 2 <= cols; j += 2) {
    const uint64_t *c0 = b + j * b_col, *c1 = c0 + b_col;
    int64_t i = 0;
    for (; i + 2 <= k; i += 2) {
      pair64 v0 = *(const pair64 *)(c0 + i), v1 = *(const pair64 *)(c1 + i);
      uint64_t *o = out + i * width + j;
      *(pair64 *)o = LANES(v0, v1, pair64, 0, 2);
      *(pair64 *)(o + width) = LANES(v0, v1, pair64, 1, 3);
    }
    for (; i < k; i++) out[i * width + j] = c0[i], out[i * width + j + 1] = c1[i];
  }
  for (; j < cols; j++)
    for (int64_t i = 0; i < k; i++) out[i * width + j] = b[j * b_col + i];
}

#if defined(__x86_64__)
#include <immintrin.h>

/* Four steps: neighbours of 1, of 2, of 4, of 8 elements change places. */
__attribute__((target("avx512f"))) static void turn16(const float *b, int64_t b_col, float *out,
                                                      int64_t width) {
  __m512 r[16], s[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i++) r[i] = _mm512_loadu_ps(b + i * b_col);
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    s[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    s[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
#define PAIR(low, a, b)                                                                            \
  (low ? _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)))            \
       : _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b))))
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    r[i] = PAIR(1, s[i], s[i + 2]);
    r[i + 1] = PAIR(0, s[i], s[i + 2]);
    r[i + 2] = PAIR(1, s[i + 1], s[i + 3]);
    r[i + 3] = PAIR(0, s[i + 1], s[i + 3]);
  }
#undef PAIR
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    s[i] = _mm512_shuffle_f32x4(r[i], r[4 + i], 0x88);
    s[4 + i] = _mm512_shuffle_f32x4(r[i], r[4 + i], 0xdd);
    s[8 + i] = _mm512_shuffle_f32x4(r[8 + i], r[12 + i], 0x88);
    s[12 + i] = _mm512_shuffle_f32x4(r[8 + i], r[12 + i], 0xdd);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
    _mm512_storeu_ps(out + i * width, _mm512_shuffle_f32x4(s[i], s[8 + i], 0x88));
    _mm512_storeu_ps(out + (8 + i) * width, _mm512_shuffle_f32x4(s[i], s[8 + i], 0xdd));
  }
}

static void turn32_wide(const uint32_t *b, int64_t b_col, int64_t k, int64_t cols, int64_t width,
                        uint32_t *out) {
  const int64_t whole_k = k / 16 * 16, whole = cols / 16 * 16;
  for (int64_t i = 0; i < whole_k; i += 16) {
    for (int64_t j = 0; j < whole; j += 16)
      turn16((const float *)b + j * b_col + i, b_col, (float *)out + i * width + j, width);
    if (whole < cols)
      turn32(b + whole * b_col + i, b_col, 16, cols - whole, width, out + i * width + whole);
  }
  if (whole_k < k) turn32(b + whole_k, b_col, k - whole_k, cols, width, out + whole_k * width);
}
#endif

#define BLOCK 64 /* of k: what is written stays in the first-level cache until lines are whole */

void cpu_turn(size_t size, const void *b, int64_t b_col, int64_t k, int64_t cols, int64_t width,
              void *out) {
#if defined(__x86_64__)
  if (size == 4 && cpu_isa() == CPU_ISA_AVX512) {
    turn32_wide((const uint32_t *)b, b_col, k, cols, width, (uint32_t *)out);
    return;
  }
#endif
  for (int64_t i = 0; i < k; i += BLOCK) {
    const int64_t n = k - i < BLOCK ? k - i : BLOCK;
    if (size == 4)
      turn32((const uint32_t *)b + i, b_col, n, cols, width, (uint32_t *)out + i * width);
    else
      turn64((const uint64_t *)b + i, b_col, n, cols, width, (uint64_t *)out + i * width);
  }
}
