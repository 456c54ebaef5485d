/* cpu.h - what the files of the CPU backend share: the device, its threads, the instruction set,
 * BLAS.
 *
 * Kernels need little of this: they call r->api->par_for and r->api->workspace as any plugin does,
 * and the matrix product of gemm.h. All state that belongs to the process (threads, the BLAS
 * library) is behind functions that may be called from any thread.
 */
#ifndef TFSDK_CPU_H
#define TFSDK_CPU_H

#include <tfsdk/device.h>
#include <tfsdk/kernel.h>

/* Loops that the compiler vectorises are compiled once for each level and chosen when the plugin is
 * loaded. All levels give the same bits: nothing is contracted or reordered. Sanitizers run before
 * the choice can be made, so they get one version. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) &&                  \
    !defined(__SANITIZE_THREAD__) && !defined(TFSDK_CPU_NO_CLONES)
#define CPU_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CPU_CLONES
#endif
#define CPU_INLINE         static inline __attribute__((always_inline))
#define CPU_ALIGNED(bytes) __attribute__((aligned(bytes)))

/* --------------------------------------------------------------------------------------- device */

struct tfsdk_dev {
  const tfsdk_host *host;
  uint32_t ordinal, threads;
  struct cpu_keep *keep; /* see keep.h */
};
extern const tfsdk_devdef cpu_device;

/* -------------------------------------------------------------------------------------- threads */

/* Calls fn over 0..n, cut into ranges of at least `grain` whose number depends on n and grain
 * alone: what a kernel adds up per range does not depend on the number of threads. Runs in the
 * calling thread alone when it is inside another call, or when another thread of the process is
 * using the pool. */
void cpu_pool_run(uint32_t threads, int64_t n, int64_t grain, tfsdk_range_fn *fn, void *user);
uint32_t cpu_pool_machine_threads(void); /* CPUs that this process may use */
/* For scratch memory inside fn: a number below `threads` that no other thread has in the same call.
 */
uint32_t cpu_pool_slot(void);
/* The pool's threads end with the last device. */
void cpu_pool_open(void);
void cpu_pool_close(void);

/* The threads that a kernel's loops may use. */
static inline uint32_t cpu_run_threads(const tfsdk_run *r) {
  return r->device != NULL ? ((const tfsdk_dev *)r->device)->threads : 1;
}

/* ------------------------------------------------------------------------- the processor itself */

enum cpu_isa { CPU_ISA_GENERIC = 0, CPU_ISA_AVX2 = 1, CPU_ISA_AVX512 = 2 };
int cpu_isa(void);
const char *cpu_isa_name(void);
/* Writes "AMD EPYC 9R14" or the like. */
void cpu_model_name(char *out, size_t cap);
/* The kernels that OpenBLAS should use here ("ZEN"), or NULL to let it choose; *why says the
 * reason. */
const char *cpu_openblas_core(const char **why);

/* ----------------------------------------------------------------------------------------- BLAS */

enum {
  CPU_ROW_MAJOR = 101,
  CPU_NO_TRANS = 111,
  CPU_TRANS = 112
}; /* numbers of the CBLAS interface */

typedef struct cpu_blas {
  void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                int lda, const float *b, int ldb, float beta, float *c, int ldc);
  void (*dgemm)(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a,
                int lda, const double *b, int ldb, double beta, double *c, int ldc);
  char text[256]; /* library, version, core type and why, for `tfsdk devices` */
} cpu_blas;

/* Opens the library at the first call and keeps it. NULL when there is none that computes rightly;
 * the reason is logged once. */
const cpu_blas *cpu_blas_get(const tfsdk_host *host);
/* What cpu_blas_get found, or why it found nothing; opens the library. */
const char *cpu_blas_text(const tfsdk_host *host);
/* One thread computes between these two: the tiles are ours to spread. */
int cpu_blas_enter(void);
void cpu_blas_leave(int token);

#endif
