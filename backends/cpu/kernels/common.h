/* common.h - what most kernels begin with: their types, their record, a state that holds
 * attributes. */
#ifndef TFSDK_CPU_COMMON_H
#define TFSDK_CPU_COMMON_H

#include "cpu.h"

#include <stdio.h>
#include <tfsdk/unit.h>

static const int32_t cpu_float_types[] = {TFSDK_FLOAT32, TFSDK_FLOAT64, 0};
static const tfsdk_where cpu_where_floats[] = {{"T", cpu_float_types}};

/* A kernel for float32 and float64; further members may follow. */
#define CPU_KERNEL(op_, label_, compute_)                                                          \
  TFSDK_KERNEL_HEAD(op_, "cpu", 100), .label = label_, .where = cpu_where_floats, .n_where = 1,    \
                                      .compute = compute_

/* Elements of a piece worth a thread's waking: about 10 microseconds of work. */
#define CPU_GRAIN_COPY  32768 /* as fast as memory */
#define CPU_GRAIN_HEAVY 4096  /* exp and the like */

static inline int64_t cpu_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t cpu_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* Rows of `n` elements such that a piece has about `grain` elements. */
static inline int64_t cpu_row_grain(int64_t n, int64_t grain) {
  return n > 0 ? grain / n + 1 : grain;
}

/* A state of `bytes` bytes, zeroed, that remembers where its memory came from. */
typedef struct cpu_state_head {
  const tfsdk_host *host;
  size_t bytes;
} cpu_state_head;

static inline tfsdk_status *cpu_state_create(const tfsdk_kbuild *b, size_t bytes, void **out) {
  cpu_state_head *h = (cpu_state_head *)b->host->realloc(b->host, NULL, 0, sizeof *h + bytes);
  if (h == NULL)
    return TFSDK_FAIL(b, RESOURCE_EXHAUSTED, "no memory for a kernel of %s", b->op->name);
  memset(h, 0, sizeof *h + bytes);
  h->host = b->host;
  h->bytes = sizeof *h + bytes;
  *out = h + 1;
  return NULL;
}
static inline void cpu_state_destroy(void *state) {
  cpu_state_head *h = (cpu_state_head *)state - 1;
  h->host->realloc(h->host, h, h->bytes, 0);
}

/* Says no, with a reason. */
#define CPU_CANNOT(...)                                                                            \
  do {                                                                                             \
    snprintf(why, why_n, __VA_ARGS__);                                                             \
    *yes = 0;                                                                                      \
    return NULL;                                                                                   \
  } while (0)

#endif
