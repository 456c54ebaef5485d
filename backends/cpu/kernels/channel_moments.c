/* ChannelMoments for float32: one pass, sums of d = x - (the channel's first element) and of d^2.
 * Within a channel the first element is as near to the mean as any, so that nothing cancels
 * that matters. Rows are cut into parts by their number alone, and the parts added in their order:
 * the same bits for any number of threads. */
#include "common.h"

#define WIDE       16    /* columns that stay in registers */
#define BLOCK      64    /* rows */
#define PIECE      16384 /* elements worth a part */
#define MOST_PARTS 64

typedef struct job {
  const float *x;
  int64_t rows, n, parts;
  double *sums; /* [parts][2][n] */
} job;

/* Sums of d and d^2 of up to BLOCK rows and of WIDE columns, two rows at a time. */
static inline void block_sums(const float *x, const float *k, int64_t rows, int64_t n, float *s,
                              float *q) {
  float s1[WIDE] = {0}, q1[WIDE] = {0};
  int64_t r = 0;
  for (int i = 0; i < WIDE; i++) s[i] = q[i] = 0;
  for (; r + 2 <= rows; r += 2) {
    const float *a = x + r * n, *b = a + n;
    for (int i = 0; i < WIDE; i++) {
      const float d = a[i] - k[i], e = b[i] - k[i];
      s[i] += d;
      q[i] += d * d;
      s1[i] += e;
      q1[i] += e * e;
    }
  }
  for (; r < rows; r++)
    for (int i = 0; i < WIDE; i++) {
      const float d = x[r * n + i] - k[i];
      s[i] += d;
      q[i] += d * d;
    }
  for (int i = 0; i < WIDE; i++) s[i] += s1[i], q[i] += q1[i];
}

/* Blocks are summed in float, and their sums in double: what is lost is that of BLOCK / 2 sums. */
CPU_CLONES static void moments(const float *x, const float *first, int64_t rows, int64_t n,
                               double *sum, double *square) {
  for (int64_t j = 0; j < n; j++) sum[j] = square[j] = 0;
  for (int64_t r = 0; r < rows; r += BLOCK) {
    const int64_t m = rows - r < BLOCK ? rows - r : BLOCK;
    const float *at = x + r * n;
    int64_t j = 0;
    for (; j + WIDE <= n; j += WIDE) {
      float s[WIDE], q[WIDE];
      block_sums(at + j, first + j, m, n, s, q);
      for (int i = 0; i < WIDE; i++) {
        sum[j + i] += (double)s[i];
        square[j + i] += (double)q[i];
      }
    }
    for (; j < n; j++)
      for (int64_t i = 0; i < m; i++) {
        double d = (double)(at[i * n + j] - first[j]);
        sum[j] += d;
        square[j] += d * d;
      }
  }
}

static void some_parts(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  for (int64_t p = begin; p < end; p++) {
    const int64_t r0 = j->rows * p / j->parts, r1 = j->rows * (p + 1) / j->parts;
    double *sum = j->sums + p * 2 * j->n;
    moments(j->x + r0 * j->n, j->x, r1 - r0, j->n, sum, sum + j->n);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  float *mean = (float *)r->out[0].data, *variance = (float *)r->out[1].data;
  job j = {.x = (const float *)x->data, .n = x->dim[x->rank - 1]};
  void *room;
  (void)state;
  j.rows = j.n > 0 ? x->n_elem / j.n : 0;
  j.parts = cpu_max(cpu_min(cpu_min(x->n_elem / PIECE, MOST_PARTS), j.rows), 1);
  TFSDK_TRY(r->api->workspace(r, (size_t)(j.parts * 2 * j.n + 1) * sizeof(double), &room));
  j.sums = (double *)room;
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
