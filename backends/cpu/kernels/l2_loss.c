/* L2Loss: half the sum of squares, in double. */
#include "common.h"

#define STRETCH 16384

typedef struct job {
  const float *x;
  int64_t n;
  double *sums; /* one for each stretch */
} job;

CPU_CLONES static double squares(const float *x, int64_t n) {
  double lane[16] = {0}, s = 0;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int j = 0; j < 16; j++) lane[j] += (double)x[i + j] * (double)x[i + j];
  for (; i < n; i++) s += (double)x[i] * (double)x[i];
  for (int j = 0; j < 16; j++) s += lane[j];
  return s;
}

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  for (int64_t i = begin; i < end; i++)
    j->sums[i] = squares(j->x + i * STRETCH, cpu_min(STRETCH, j->n - i * STRETCH));
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  job j = {.x = (const float *)r->in[0].data, .n = r->in[0].n_elem};
  const int64_t stretches = (j.n + STRETCH - 1) / STRETCH;
  double sum = 0;
  void *room;
  (void)state;
  TFSDK_TRY(r->api->workspace(r, (size_t)(stretches + 1) * sizeof(double), &room));
  j.sums = (double *)room;
  r->api->par_for(r, stretches, 1, range, &j);
  for (int64_t i = 0; i < stretches; i++) sum += j.sums[i];
  *(float *)r->out[0].data = (float)(sum / 2);
  return NULL;
}

static const int32_t types[] = {TFSDK_FLOAT32, 0};
static const tfsdk_where where[] = {{"T", types}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("L2Loss", "cpu", 100),
                                           .label = "vector", .where = where, .n_where = 1,
                                           .compute = compute}};
TFSDK_UNIT_KERNELS(l2_loss, kernels);
