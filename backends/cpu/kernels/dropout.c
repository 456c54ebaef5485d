/* Dropout and DropoutGrad in float32. The mask is that of the op's own kernel, bit for bit: element
 * i is kept if its random word is at least rate * 2^32. Mask and result are written in one pass
 * where they have the same shape.
 */
#include "philox_words.h"

#include <tfsdk/elementwise.h>

typedef struct job {
  uint32_t key[2];
  uint64_t counter, threshold;
  const float *x;
  float *y;
  uint8_t *mask;
  int64_t n; /* elements of the mask */
  float scale;
  tfsdk_walk walk; /* over y, x and mask, where the mask is stretched */
} job;

CPU_CLONES static void draw(const job *j, uint64_t counter, int64_t at, int64_t n) {
  const uint32_t least = (uint32_t)j->threshold;
  uint32_t w[CPU_PHILOX_WORDS];
  for (int64_t i = 0; i < n; i += CPU_PHILOX_WORDS, counter += CPU_PHILOX_BLOCKS) {
    const int64_t m = n - i < CPU_PHILOX_WORDS ? n - i : CPU_PHILOX_WORDS;
    uint8_t *mask = j->mask + at + i;
    cpu_philox_words(j->key, counter, w);
    for (int64_t k = 0; k < m; k++) mask[k] = w[k] >= least;
    if (j->y == NULL) continue;
    const float *x = j->x + at + i, scale = j->scale;
    float *y = j->y + at + i;
    _Pragma("GCC ivdep") for (int64_t k = 0; k < m; k++) {
      const float v = x[k] * scale;
      y[k] = w[k] >= least ? v : 0.0f;
    }
  }
}

CPU_CLONES static void scale_by(const float *x, const uint8_t *mask, int64_t step, float scale,
                                float *y, int64_t n) {
  if (step == 0) {
    for (int64_t i = 0; i < n; i++) y[i] = mask[0] ? x[i] * scale : 0.0f;
  } else {
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) {
      const float v = x[i] * scale;
      y[i] = mask[i] ? v : 0.0f;
    }
  }
}

static void draw_range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t at = begin * CPU_PHILOX_WORDS;
  draw(j, j->counter + (uint64_t)(begin * CPU_PHILOX_BLOCKS), at,
       cpu_min(end * CPU_PHILOX_WORDS, j->n) - at);
}

static void same_range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  scale_by(j->x + begin, j->mask + begin, 1, j->scale, j->y + begin, end - begin);
}

/* y = x * scale where the mask is set. */
static void apply(tfsdk_run *r, const tfsdk_view *x, const tfsdk_view *mask, const tfsdk_view *y,
                  job *j) {
  const tfsdk_view in[2] = {*x, *mask};
  if (x->n_elem == mask->n_elem) {
    if (x->n_elem > 0) r->api->par_for(r, x->n_elem, CPU_GRAIN_COPY, same_range, j);
    return;
  }
  for (tfsdk_walk_begin(&j->walk, in, 2, y); j->walk.rows > 0; tfsdk_walk_next(&j->walk))
    scale_by(j->x + j->walk.at[0], j->mask + j->walk.at[1], j->walk.step[1], j->scale,
             j->y + j->walk.out, j->walk.n);
}

static tfsdk_status *open_job(tfsdk_run *r, uint32_t rate_at, job *j, double *rate) {
  memset(j, 0, sizeof *j);
  *rate = tfsdk_view_number(&r->in[rate_at], 0);
  TFSDK_REQUIRE(r, *rate >= 0 && *rate <= 1, "'rate' is %g, but it must lie in 0..1", *rate);
  j->scale = *rate < 1 ? (float)(1 / (1 - *rate)) : 0;
  j->threshold = (uint64_t)(*rate * 0x1p32 + 0.5);
  j->x = (const float *)r->in[0].data;
  j->y = (float *)r->out[0].data;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *mask = &r->out[1];
  double rate;
  job j;
  (void)state;
  TFSDK_TRY(open_job(r, 1, &j, &rate));
  j.mask = (uint8_t *)mask->data;
  j.n = mask->n_elem;
  if (j.n > 0) TFSDK_TRY(r->api->rng(r, (uint64_t)((j.n + 3) / 4), j.key, &j.counter));
  if (j.threshold == 0 || j.threshold > UINT32_MAX) { /* all or nothing */
    if (j.n > 0) memset(j.mask, j.threshold == 0, (size_t)j.n);
    if (rate == 0 && x->byte_size > 0)
      memcpy(j.y, j.x, (size_t)x->byte_size);
    else
      apply(r, x, mask, &r->out[0], &j);
    return NULL;
  }
  if (j.n != x->n_elem) j.y = NULL; /* the mask first */
  if (j.n > 0)
    r->api->par_for(r, (j.n + CPU_PHILOX_WORDS - 1) / CPU_PHILOX_WORDS,
                    CPU_GRAIN_HEAVY / CPU_PHILOX_WORDS * 2, draw_range, &j);
  if (j.n != x->n_elem) {
    j.y = (float *)r->out[0].data;
    apply(r, x, mask, &r->out[0], &j);
  }
  return NULL;
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  double rate;
  job j;
  (void)state;
  TFSDK_TRY(open_job(r, 2, &j, &rate));
  j.mask = (uint8_t *)r->in[1].data;
  apply(r, &r->in[0], &r->in[1], &r->out[0], &j);
  return NULL;
}

static const int32_t types[] = {TFSDK_FLOAT32, 0};
static const tfsdk_where where[] = {{"T", types}};
#define RECORD(op, host, fn)                                                                       \
  {                                                                                                \
    TFSDK_KERNEL_HEAD(op, "cpu", 100), .label = "vector", .where = where, .n_where = 1,            \
                                       .host_in = host, .compute = fn                              \
  }
static const tfsdk_kerneldef kernels[] = {RECORD("Dropout", 6, compute),
                                          RECORD("DropoutGrad", 4, compute_grad)};
TFSDK_UNIT_KERNELS(dropout, kernels);
