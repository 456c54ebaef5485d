/* MaxPool and MaxPoolGrad for channels-last images. */
#include "pool_rows.h"

#define T       float
#define I       int32_t
#define NAME(x) x##_f32
#include "max_pool_typed.h"

#define T       double
#define I       int64_t
#define NAME(x) x##_f64
#include "max_pool_typed.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_shape in = tfsdk_shape_of_view(&r->in[0]);
  pool_rows p;
  (void)state;
  TFSDK_TRY(pool_open(r, &in, &p));
  p.x = r->in[0].data;
  p.row = r->out[0].dtype == TFSDK_FLOAT32 ? max_f32 : max_f64;
  return pool_run(r, &p);
}

/* The gradient. A row of dx is met by a few rows of windows. Which taps have won in these is found
 * when the first row needs it, and kept in a ring for the next rows. */
typedef struct grad_job {
  pool_rows p; /* first */
  const char *dy;
  char *dx, *rings;
  int64_t size, ring; /* rows of windows that a ring holds */
  int wide;
} grad_job;

/* Windows that cover position i: first <= o < end. */
static void covering(const tfsdk_span *s, int64_t i, int64_t *first, int64_t *end) {
  const int64_t at = i + s->before;
  *first = at < s->window ? 0 : (at - s->window) / s->stride + 1;
  *end = cpu_min(at / s->stride + 1, s->out);
}

static void grad_range(void *user, int64_t begin, int64_t end) {
  const grad_job *j = (const grad_job *)user;
  const pool_rows *p = &j->p;
  const int64_t c = p->channels, line = p->w.out * c * j->size;
  char *ring = j->rings + (int64_t)cpu_pool_slot() * j->ring * line;
  int64_t known_end = -1; /* rows of windows before it are in the ring, as far as it reaches */
  for (int64_t i = begin; i < end; i++) {
    const int64_t n = i / p->h.in, y = i % p->h.in;
    int64_t o0, o1, q0, q1;
    char *dx = j->dx + i * p->w.in * c * j->size;
    covering(&p->h, y, &o0, &o1);
    if (i == begin || y == 0) known_end = o0;
    for (; known_end < o1; known_end++)
      (j->wide ? winners_f64 : winners_f32)(p, n, known_end, ring + known_end % j->ring * line);
    for (int64_t x = 0; x < p->w.in; x++, dx += c * j->size) {
      int first = 1;
      covering(&p->w, x, &q0, &q1);
      for (int64_t o = o0; o < o1; o++)
        for (int64_t q = q0; q < q1; q++, first = 0) {
          const int64_t tap =
              (y + p->h.before - o * p->h.stride) * p->w.window + x + p->w.before - q * p->w.stride;
          (j->wide ? hand_down_f64
                   : hand_down_f32)(j->dy + ((n * p->h.out + o) * p->w.out + q) * c * j->size,
                                    ring + o % j->ring * line + q * c * j->size, tap, first, dx, c);
        }
      if (first) memset(dx, 0, (size_t)(c * j->size));
    }
  }
}

static void apart_range(void *user, int64_t begin, int64_t end) {
  const grad_job *j = (const grad_job *)user;
  for (int64_t i = begin; i < end; i++)
    (j->wide ? apart_f64 : apart_f32)(&j->p, i / j->p.h.out, i % j->p.h.out);
}
/* Whether there are pixels between or behind the windows. */
static int gaps(const tfsdk_span *s) {
  return s->stride != s->window || s->out * s->stride - s->before < s->in;
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  tfsdk_shape in = tfsdk_shape_of_view(&r->in[0]);
  grad_job j;
  void *rings;
  int64_t line;
  (void)state;
  memset(&j, 0, sizeof j);
  TFSDK_TRY(pool_open(r, &in, &j.p));
  if (r->out[0].n_elem == 0) return NULL;
  j.p.x = r->in[0].data;
  j.dy = (const char *)r->in[2].data;
  j.dx = (char *)r->out[0].data;
  j.wide = r->out[0].dtype == TFSDK_FLOAT64;
  j.size = j.wide ? 8 : 4;
  if (j.p.h.stride >= j.p.h.window && j.p.w.stride >= j.p.w.window && j.p.h.out > 0) {
    j.p.dy = j.dy;
    j.p.cuts = gaps(&j.p.h) || gaps(&j.p.w);
    r->api->par_for(r, j.p.batch * j.p.h.out,
                    cpu_row_grain(j.p.w.in * j.p.channels * j.p.h.stride, POOL_PIECE), apart_range,
                    &j);
    return NULL;
  }
  j.ring = (j.p.h.window - 1) / j.p.h.stride + 1;
  line = j.p.w.out * j.p.channels * j.size;
  TFSDK_TRY(r->api->workspace(r, (size_t)(cpu_run_threads(r) * j.ring * line), &rings));
  j.rings = (char *)rings;
  /* whole windows: what two pieces need is found twice */
  r->api->par_for(r, j.p.batch * j.p.h.in,
                  cpu_max(cpu_row_grain(j.p.w.in * j.p.channels, POOL_PIECE), 4 * j.ring),
                  grad_range, &j);
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("MaxPool", "vector", compute), .supports = pool_supports},
    {CPU_KERNEL("MaxPoolGrad", "vector", compute_grad), .supports = pool_supports}};
TFSDK_UNIT_KERNELS(max_pool, kernels);
