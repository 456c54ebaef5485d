/* winograd_f32.c - the transforms of winograd.h, one set for each instruction set. */
#include "winograd.h"

/* The points a and b, and N'(p) at 0, a, b for N(x) = x (x^2 - a^2) (x^2 - b^2). */
#define WA  0.625
#define WB  1.5
#define WD0 (WA * WA * WB * WB)
#define WDA (2 * WA * WA * (WA * WA - WB * WB))
#define WDB (2 * WB * WB * (WB * WB - WA * WA))

typedef float vector_128 __attribute__((vector_size(16), aligned(4), may_alias));
CPU_INLINE vector_128 broadcast(float x) { return (vector_128){x, x, x, x}; }
#define NAME(x) generic_##x
#define VECTOR  4
#define VT      vector_128
#define TARGET
#define SET1(x)      broadcast(x)
#define FMA(a, b, c) ((a) * (b) + (c))
#include "winograd_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

typedef float vector_256 __attribute__((vector_size(32), aligned(4), may_alias));
#define NAME(x)      avx2_##x
#define VECTOR       8
#define VT           vector_256
#define TARGET       __attribute__((target("avx2,fma")))
#define SET1(x)      ((vector_256)_mm256_set1_ps(x))
#define FMA(a, b, c) ((vector_256)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#include "winograd_kernel.h"

typedef float vector_512 __attribute__((vector_size(64), aligned(4), may_alias));
#define NAME(x)      avx512_##x
#define VECTOR       16
#define VT           vector_512
#define TARGET       __attribute__((target("avx512f,avx2,fma")))
#define SET1(x)      ((vector_512)_mm512_set1_ps(x))
#define FMA(a, b, c) ((vector_512)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#include "winograd_kernel.h"
#endif

const cpu_winograd_set *cpu_winograd_f32(void) {
#if defined(__x86_64__)
  switch (cpu_isa()) {
  case CPU_ISA_AVX512: return &avx512_set;
  case CPU_ISA_AVX2: return &avx2_set;
  default: break;
  }
#endif
  return &generic_set;
}
