/* gemm_f64.c - tile kernels for double, one set for each instruction set. */
#include "gemm.h"

#define T double

typedef T vector_128 __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
#define NAME(x) generic_##x
#define VECTOR  2
#define VT      vector_128
#define ROWS    4
#define TARGET
#define SET1(x)      broadcast(x)
#define FMA(a, b, c) ((a) * (b) + (c))
#define ZERO()       ((vector_128){0})
CPU_INLINE vector_128 broadcast(T x) { return (vector_128){x, x}; }
#include "gemm_kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

typedef T vector_256 __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
#define NAME(x)      avx2_##x
#define VECTOR       4
#define VT           vector_256
#define ROWS         6
#define TARGET       __attribute__((target("avx2,fma,prfchw")))
#define SET1(x)      ((vector_256)_mm256_set1_pd(x))
#define FMA(a, b, c) ((vector_256)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define ZERO()       ((vector_256)_mm256_setzero_pd())
#include "gemm_kernel.h"

typedef T vector_512 __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
#define NAME(x)      avx512_##x
#define VECTOR       8
#define VT           vector_512
#define ROWS         12
#define TARGET       __attribute__((target("avx512f,avx2,fma,prfchw")))
#define SET1(x)      ((vector_512)_mm512_set1_pd(x))
#define FMA(a, b, c) ((vector_512)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define ZERO()       ((vector_512)_mm512_setzero_pd())
#include "gemm_kernel.h"
#endif

const cpu_kernels *cpu_kernels_f64(void) {
#if defined(__x86_64__)
  switch (cpu_isa()) {
  case CPU_ISA_AVX512: return &avx512_kernels;
  case CPU_ISA_AVX2: return &avx2_kernels;
  default: break;
  }
#endif
  return &generic_kernels;
}
