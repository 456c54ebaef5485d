/* depthwise_f32.c - the loops of depthwise.h, one set for each instruction set. */
#include "depthwise.h"

typedef float vector_128 __attribute__((vector_size(16), aligned(4), may_alias));
#define NAME(x) generic_##x
#define VECTOR  4
#define VT      vector_128
#define TARGET
#define FMA(a, b, c) ((a) * (b) + (c))
#include "depthwise_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

typedef float vector_256 __attribute__((vector_size(32), aligned(4), may_alias));
#define NAME(x)      avx2_##x
#define VECTOR       8
#define VT           vector_256
#define TARGET       __attribute__((target("avx2,fma")))
#define FMA(a, b, c) ((vector_256)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#include "depthwise_kernel.h"

typedef float vector_512 __attribute__((vector_size(64), aligned(4), may_alias));
#define NAME(x)      avx512_##x
#define VECTOR       16
#define VT           vector_512
#define TARGET       __attribute__((target("avx512f,avx2,fma")))
#define FMA(a, b, c) ((vector_512)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#include "depthwise_kernel.h"
#endif

const cpu_depthwise_set *cpu_depthwise_f32(void) {
#if defined(__x86_64__)
  switch (cpu_isa()) {
  case CPU_ISA_AVX512: return &avx512_set;
  case CPU_ISA_AVX2: return &avx2_set;
  default: break;
  }
#endif
  return &generic_set;
}
