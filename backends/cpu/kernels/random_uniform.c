/* RandomUniform in float32: the numbers of the op's own kernel, bit for bit, many blocks at a time.
 */
#include "philox_words.h"

#include <tfsdk/philox.h>

typedef struct job {
  uint32_t key[2];
  uint64_t counter;
  float *y;
  int64_t n;
} job;

CPU_CLONES static void fill(const uint32_t key[2], uint64_t counter, float *y, int64_t n) {
  uint32_t w[CPU_PHILOX_WORDS];
  for (int64_t i = 0; i < n; i += CPU_PHILOX_WORDS, counter += CPU_PHILOX_BLOCKS) {
    const int64_t m = n - i < CPU_PHILOX_WORDS ? n - i : CPU_PHILOX_WORDS;
    cpu_philox_words(key, counter, w);
    for (int64_t k = 0; k < m; k++) y[i + k] = tfsdk_uniform_float(w[k]);
  }
}

/* Pieces are counted in groups of blocks. */
static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t at = begin * CPU_PHILOX_WORDS;
  fill(j->key, j->counter + (uint64_t)(begin * CPU_PHILOX_BLOCKS), j->y + at,
       cpu_min(end * CPU_PHILOX_WORDS, j->n) - at);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  job j = {.y = (float *)r->out[0].data, .n = r->out[0].n_elem};
  (void)state;
  TFSDK_TRY(r->api->rng(r, (uint64_t)((j.n + 3) / 4), j.key, &j.counter));
  if (j.n > 0)
    r->api->par_for(r, (j.n + CPU_PHILOX_WORDS - 1) / CPU_PHILOX_WORDS,
                    CPU_GRAIN_HEAVY / CPU_PHILOX_WORDS * 2, range, &j);
  return NULL;
}

static const int32_t types[] = {TFSDK_FLOAT32, 0};
static const tfsdk_where where[] = {{"dtype", types}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("RandomUniform", "cpu", 100),
                                           .label = "vector", .where = where, .n_where = 1,
                                           .host_in = 1, .compute = compute}};
TFSDK_UNIT_KERNELS(random_uniform, kernels);
