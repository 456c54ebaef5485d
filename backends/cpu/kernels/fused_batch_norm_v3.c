/* FusedBatchNorm, V2 and V3, and their gradients, for float32 with channels last.
 *
 * Moments come from one pass: sums of d = x - (the channel's first element) and of d^2.
 * Within a channel the first element is as near to the mean as any, so that nothing cancels that
 * matters. Formulas: see batch normalisation among the ops.
 */
#include "channel_sums.h"

#include <math.h>
#include <stdatomic.h>

#define SUPPLY 8192 /* elements of dy that are asked for at once */

typedef struct job {
  const float *x, *dy;
  tfsdk_run *supplier;          /* who computes dy as it is read, or NULL */
  _Atomic(const float *) where; /* it has put dy: in dx, or elsewhere */
  float *y;
  int64_t rows, n; /* n: channels */
  int64_t parts;
  double *sums;            /* [parts][2][n] */
  float *room;             /* [parts][2][n] */
  float *mean, *a, *b, *c; /* for each channel; mean: what is subtracted */
} job;

/* Sums of d and d^2; of dy and dy (x - mean). */
CPU_CHANNEL_SUMS(moments, const V u = x - k, v = u * u;)
CPU_CHANNEL_SUMS(products, const V u = dy, v = dy * (x - k);)

CPU_CLONES static void normalise(const float *x, float *y, int64_t rows, int64_t n,
                                 const float *mean, const float *a, const float *b) {
  for (int64_t r = 0; r < rows; r++, x += n, y += n) {
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean[i]) * a[i] + b[i];
  }
}

CPU_CLONES static void denormalise(const float *x, const float *dy, float *dx, int64_t rows,
                                   int64_t n, const float *mean, const float *a, const float *b,
                                   const float *c) {
  for (int64_t r = 0; r < rows; r++, x += n, dy += n, dx += n) {
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) dx[i] =
        (dy[i] - b[i] - (x[i] - mean[i]) * c[i]) * a[i];
  }
}

/* Blocks of rows of dy are computed into dx, and added up while they are in the cache. */
static void supplied_products(job *j, int64_t r0, int64_t r1, float *room, double *sum) {
  const int64_t each = cpu_max(SUPPLY / j->n / CPU_CHANNEL_BLOCK, 1) * CPU_CHANNEL_BLOCK;
  for (int64_t r = r0; r < r1; r += each) {
    const int64_t end = cpu_min(r + each, r1), at = r * j->n;
    const float *dy =
        (const float *)j->supplier->api->supply(j->supplier, at, end * j->n, j->y + at);
    atomic_store_explicit(&j->where, dy - at, memory_order_relaxed); /* always the same */
    products(j->x + at, dy, j->mean, end - r, j->n, room, sum, sum + j->n);
  }
}

static void sums_range(void *user, int64_t begin, int64_t end) {
  job *j = (job *)user;
  for (int64_t p = begin; p < end; p++) {
    const int64_t r0 = j->rows * p / j->parts, r1 = j->rows * (p + 1) / j->parts;
    const float *x = j->x + r0 * j->n;
    double *sum = j->sums + p * 2 * j->n;
    float *room = j->room + p * 2 * j->n;
    memset(sum, 0, (size_t)(2 * j->n) * sizeof *sum);
    if (j->supplier != NULL)
      supplied_products(j, r0, r1, room, sum);
    else if (j->dy == NULL)
      moments(x, x, j->mean, r1 - r0, j->n, room, sum, sum + j->n);
    else
      products(x, j->dy + r0 * j->n, j->mean, r1 - r0, j->n, room, sum, sum + j->n);
  }
}
static void apply_range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t at = begin * j->n;
  if (j->dy == NULL)
    normalise(j->x + at, j->y + at, end - begin, j->n, j->mean, j->a, j->b);
  else
    denormalise(j->x + at, j->dy + at, j->y + at, end - begin, j->n, j->mean, j->a, j->b, j->c);
}

/* Room for the vectors and the sums; joins the sums into part 0. */
static tfsdk_status *prepare(tfsdk_run *r, const tfsdk_view *x, job *j) {
  void *room;
  size_t n;
  memset(j, 0, sizeof *j);
  j->n = x->dim[x->rank - 1];
  j->rows = j->n > 0 ? x->n_elem / j->n : 0;
  j->x = (const float *)x->data;
  j->parts = cpu_channel_parts(j->rows, j->n);
  n = (size_t)j->n;
  TFSDK_TRY(r->api->workspace(
      r, (size_t)j->parts * 2 * n * (sizeof(double) + sizeof(float)) + 4 * n * sizeof(float),
      &room));
  j->sums = (double *)room;
  j->room = (float *)(j->sums + (size_t)j->parts * 2 * n);
  j->mean = j->room + (size_t)j->parts * 2 * n;
  j->a = j->mean + n, j->b = j->a + n, j->c = j->b + n;
  return NULL;
}
static void sum_up(tfsdk_run *r, job *j) {
  r->api->par_for(r, j->parts, 1, sums_range, j);
  for (int64_t p = 1; p < j->parts; p++)
    for (int64_t i = 0; i < 2 * j->n; i++) j->sums[i] += j->sums[p * 2 * j->n + i];
}
static void apply(tfsdk_run *r, job *j) {
  r->api->par_for(r, j->rows, cpu_row_grain(j->n, CPU_CHANNEL_PIECE), apply_range, j);
}

static const float *vector(const tfsdk_view *v) { return (const float *)v->data; }

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const int training = tfsdk_attr_int(&r->attr, "is_training") != 0;
  const double epsilon = tfsdk_attr_float(&r->attr, "epsilon");
  /* FusedBatchNorm of old has no such attribute */
  const double share = tfsdk_attr_find(&r->attr, "exponential_avg_factor")
                           ? tfsdk_attr_float(&r->attr, "exponential_avg_factor")
                           : 1.0;
  const float *scale = vector(&r->in[1]), *offset = vector(&r->in[2]);
  float *out_mean = (float *)r->out[1].data, *out_variance = (float *)r->out[2].data;
  float *saved_mean = (float *)r->out[3].data, *saved_variance = (float *)r->out[4].data;
  job j;
  double rows;
  (void)state;
  TFSDK_TRY(prepare(r, &r->in[0], &j));
  j.y = (float *)r->out[0].data;
  rows = (double)j.rows;
  if (training) {
    for (int64_t i = 0; i < j.n; i++) j.mean[i] = j.rows > 0 ? j.x[i] : 0;
    sum_up(r, &j);
  }
  for (int64_t i = 0; i < j.n; i++) {
    double mean, variance; /* numbers that a float holds */
    if (training) {
      double d = j.sums[i] / rows, bessel = j.rows > 1 ? rows / (rows - 1) : 1;
      double square = j.sums[j.n + i] / rows - d * d;
      mean = (double)(float)((double)j.mean[i] + d);
      variance = square < 0 ? 0 : (double)(float)square;
      if (share == 1) {
        out_mean[i] = (float)mean;
        out_variance[i] = (float)(variance * bessel);
      } else {
        double m = (double)vector(&r->in[3])[i], v = (double)vector(&r->in[4])[i];
        out_mean[i] = j.rows == 0 ? (float)m : (float)((1 - share) * m + share * mean);
        out_variance[i] =
            j.rows == 0 ? (float)v : (float)((1 - share) * v + share * variance * bessel);
      }
    } else {
      mean = (double)vector(&r->in[3])[i];
      variance = (double)vector(&r->in[4])[i];
      out_mean[i] = (float)mean;
      out_variance[i] = (float)variance;
    }
    saved_mean[i] = (float)mean;
    saved_variance[i] = (float)variance;
    j.mean[i] = (float)mean;
    j.a[i] = (float)((double)scale[i] / sqrt(variance + epsilon));
    j.b[i] = offset[i];
  }
  apply(r, &j);
  return NULL;
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  const int training = tfsdk_attr_int(&r->attr, "is_training") != 0;
  const double epsilon = tfsdk_attr_float(&r->attr, "epsilon");
  const float *scale = vector(&r->in[2]), *mean = vector(&r->in[3]), *variance = vector(&r->in[4]);
  float *d_scale = (float *)r->out[1].data, *d_offset = (float *)r->out[2].data;
  job j;
  (void)state;
  TFSDK_TRY(prepare(r, &r->in[1], &j));
  j.dy = (const float *)r->in[0].data;
  j.y = (float *)r->out[0].data;
  j.supplier = r->in[0].flags & TFSDK_VIEW_SUPPLIED ? r : NULL;
  for (int64_t i = 0; i < j.n; i++) j.mean[i] = mean[i];
  if (j.rows > 0)
    sum_up(r, &j);
  else
    memset(j.sums, 0, (size_t)(2 * j.n) * sizeof(double));
  if (j.supplier != NULL) j.dy = atomic_load_explicit(&j.where, memory_order_relaxed);
  for (int64_t i = 0; i < j.n; i++) {
    double root = 1 / sqrt((double)variance[i] + epsilon), rows = (double)j.rows;
    double sum = j.sums[i], product = j.sums[j.n + i] * root;
    d_offset[i] = (float)sum;
    d_scale[i] = (float)product;
    j.a[i] = (float)((double)scale[i] * root);
    j.b[i] = training ? (float)(sum / rows) : 0;
    j.c[i] = training ? (float)(root * product / rows) : 0;
  }
  apply(r, &j);
  return NULL;
}

static tfsdk_status *supports(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  if (strncmp(tfsdk_attr_string(&b->attr, "data_format"), "NC", 2) == 0)
    CPU_CANNOT("only with channels last");
  *yes = 1;
  return NULL;
}

static const int32_t f32[] = {TFSDK_FLOAT32, 0};
static const tfsdk_where one_type[] = {{"T", f32}}, two_types[] = {{"T", f32}, {"U", f32}};
#define RECORD(op, where_, n, traits_, fn)                                                         \
  {                                                                                                \
    TFSDK_KERNEL_HEAD(op, "cpu", 100), .label = "vector", .where = where_, .n_where = n,           \
                                       .traits = traits_, .supports = supports, .compute = fn      \
  }
static const tfsdk_kerneldef kernels[] = {
    RECORD("FusedBatchNormV3", two_types, 2, 0, compute),
    RECORD("FusedBatchNormGradV3", two_types, 2, TFSDK_KERNEL_SUPPLIED, compute_grad),
    RECORD("FusedBatchNormV2", two_types, 2, 0, compute),
    RECORD("FusedBatchNormGradV2", two_types, 2, TFSDK_KERNEL_SUPPLIED, compute_grad),
    RECORD("FusedBatchNorm", one_type, 1, 0, compute),
    RECORD("FusedBatchNormGrad", one_type, 1, TFSDK_KERNEL_SUPPLIED, compute_grad)};
TFSDK_UNIT_KERNELS(fused_batch_norm_v3, kernels);
