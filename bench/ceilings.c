/* See ceilings.h. */
#include "ceilings.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

double bench_median(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, rising);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* ------------------------------------------------------------------------------- multiply-adds */

#define LOOPS 2000000

typedef float v16 __attribute__((vector_size(64), may_alias));
typedef float v8 __attribute__((vector_size(32), may_alias));

/* Twelve chains in registers hide the latency; the compiler contracts each line to one instruction,
 * and cannot leave any out, as sums of floats may not be reordered. */
#define EACH(X)  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define BEGIN(i) V a##i = (V){0} + (1.0f + (float)i);
#define STEP(i)  a##i = a##i * m + c;
#define JOIN(i)  sum += a##i;
#define CHAINS                                                                                     \
  V m = (V){0} + 0.999999f, c = (V){0} + 1e-6f, sum = {0};                                         \
  EACH(BEGIN)                                                                                      \
  for (long k = 0; k < LOOPS; k++) { EACH(STEP) }                                                  \
  EACH(JOIN)                                                                                       \
  return (double)sum[0]

#if defined(__x86_64__)
__attribute__((target("avx512f"), optimize("O3,fp-contract=fast"))) static double chains512(void) {
  typedef v16 V;
  CHAINS;
}
__attribute__((target("avx2,fma"), optimize("O3,fp-contract=fast"))) static double chains256(void) {
  typedef v8 V;
  CHAINS;
}
static int width(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") ? 16 : 8;
}
static double chains(void) { return width() == 16 ? chains512() : chains256(); }
#else
typedef float v4 __attribute__((vector_size(16), may_alias));
static int width(void) { return 4; }
static double chains(void) {
  typedef v4 V;
  CHAINS;
}
#endif

/* ------------------------------------------------------------------------------------ threads */

typedef struct part {
  double (*work)(struct part *p);
  char *from, *to;
  size_t bytes;
  double result;
} part;

static void *run_part(void *arg) {
  part *p = arg;
  p->result = p->work(p);
  return NULL;
}

/* The time that all parts together take, at best of five. */
static double run_parts(part *parts, int n) {
  double best = 1e30;
  for (int round = 0; round < 5; round++) {
    pthread_t thread[256];
    int started = 0;
    double began = bench_now();
    for (int i = 1; i < n; i++)
      if (pthread_create(&thread[started], NULL, run_part, &parts[i]) == 0) started++;
    run_part(&parts[0]);
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
    double took = bench_now() - began;
    if (took < best) best = took;
  }
  return best;
}

static double work_fma(part *p) {
  (void)p;
  return chains();
}
static double work_copy(part *p) {
  memcpy(p->to, p->from, p->bytes);
  return 0;
}

double bench_fma_peak(int threads) {
  part parts[256] = {{0}};
  for (int i = 0; i < threads && i < 256; i++) parts[i].work = work_fma;
  double took = run_parts(parts, threads);
  return 2.0 * 12 * width() * (double)LOOPS * threads / took / 1e9;
}

double bench_copy(int threads, size_t bytes) {
  part parts[256] = {{0}};
  char *from = malloc(bytes), *to = malloc(bytes);
  if (from == NULL || to == NULL) {
    free(from);
    free(to);
    return 0;
  }
  memset(from, 1, bytes);
  memset(to, 2, bytes);
  for (int i = 0; i < threads && i < 256; i++) {
    size_t begin = bytes / (size_t)threads * (size_t)i;
    parts[i] = (part){work_copy, from + begin, to + begin, bytes / (size_t)threads, 0};
  }
  double took = run_parts(parts, threads);
  free(from);
  free(to);
  return 2.0 * (double)bytes / took / 1e9;
}
