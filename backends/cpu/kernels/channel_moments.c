/* ChannelMoments for float32: one pass, sums of d = x - (the channel's first element) and of d^2.
 * Within a channel the first element is as near to the mean as any, so that nothing cancels
 * that matters. Rows are cut into parts by their number alone, and the parts added in their order:
 * the same bits for any number of threads. */
#include "channel_sums.h"

typedef struct job {
  const float *x;
  int64_t rows, n, parts;
  double *sums; /* [parts][2][n] */
  float *room;  /* [parts][2][n] */
} job;

CPU_CHANNEL_SUMS(moments, const V u = x - k, v = u * u;)

static void some_parts(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  for (int64_t p = begin; p < end; p++) {
    const int64_t r0 = j->rows * p / j->parts, r1 = j->rows * (p + 1) / j->parts;
    const float *x = j->x + r0 * j->n;
    double *sum = j->sums + p * 2 * j->n;
    memset(sum, 0, (size_t)(2 * j->n) * sizeof *sum);
    moments(x, x, j->x, r1 - r0, j->n, j->room + p * 2 * j->n, sum, sum + j->n);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  float *mean = (float *)r->out[0].data, *variance = (float *)r->out[1].data;
  job j = {.x = (const float *)x->data, .n = x->dim[x->rank - 1]};
  size_t room_n;
  void *room;
  (void)state;
  j.rows = j.n > 0 ? x->n_elem / j.n : 0;
  j.parts = cpu_channel_parts(j.rows, j.n);
  room_n = (size_t)(j.parts * 2 * j.n + 1);
  TFSDK_TRY(r->api->workspace(r, room_n * (sizeof(double) + sizeof(float)), &room));
  j.sums = (double *)room;
  j.room = (float *)(j.sums + room_n);
  r->api->par_for(r, j.parts, 1, some_parts, &j);
  for (int64_t p = 1; p < j.parts; p++)
    for (int64_t i = 0; i < 2 * j.n; i++) j.sums[i] += j.sums[p * 2 * j.n + i];
  for (int64_t i = 0; i < j.n; i++) {
    double d = j.sums[i] / (double)j.rows, v = j.sums[j.n + i] / (double)j.rows - d * d;
    mean[i] = (float)((j.rows > 0 ? (double)j.x[i] : 0) + d);
    variance[i] = (float)(v < 0 ? 0 : v);
  }
  return NULL;
}

static const int32_t types[] = {TFSDK_FLOAT32, 0};
static const tfsdk_where where[] = {{"T", types}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("ChannelMoments", "cpu", 100),
                                           .label = "vector", .where = where, .n_where = 1,
                                           .compute = compute}};
TFSDK_UNIT_KERNELS(channel_moments, kernels);
