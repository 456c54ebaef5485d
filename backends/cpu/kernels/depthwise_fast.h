/* depthwise_fast.h - one output channel for each input channel, windows of up to 3 by 3 taps: the job
 * of a depthwise convolution, and its rows by the loops of depthwise.h.
 */
#ifndef TFSDK_CPU_DEPTHWISE_FAST_H
#define TFSDK_CPU_DEPTHWISE_FAST_H

#include "common.h"
#include "depthwise.h"

#include <tfsdk/window.h>

#define FLOAT_POSITIONS 128 /* whose products are summed in float, if a row is not longer */

typedef struct job {
  const float *x, *filter, *dy;
  float *out;
  int64_t batch, c, m; /* input channels, outputs for each */
  tfsdk_span h, w;
  int64_t parts, n; /* n: elements of the filter */
  double *sums;     /* [parts][taps][c * m] */
  float *rows;      /* [parts][taps][c * m]: of one row */
  tfsdk_run *r;
  const cpu_depthwise_set *set; /* NULL: not the fast case */
} job;

CPU_CLONES static void add_to_double(double *y, float *a, int64_t n) {
  _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) {
    y[i] += (double)a[i];
    a[i] = 0;
  }
}

/* Along one axis: positions `phase`, phase + every, ... of the result look at the source at
 *     first + i * stride + t * step,  i = 0, 1, ...,  through taps t * tap_step from `tap` on. */
typedef struct slide {
  int64_t phase, every, count; /* positions of the result */
  int64_t in, first, stride, step;
  int64_t tap, tap_step, taps;
} slide;

static slide slide_forward(const tfsdk_span *s) {
  slide a = {0, 1, s->out, s->in, -s->before, s->stride, s->dilation, 0, 1, s->window};
  return a;
}
/* The gradient of the image: its positions of one phase of the stride. See kernels/conv2d.c. */
static slide slide_backward(const tfsdk_span *s, int64_t phase) {
  slide a = {.phase = phase, .every = s->stride, .in = s->out, .stride = 1, .step = 1, .tap = -1};
  int64_t highest = -1, second = -1;
  a.count = phase < s->in ? (s->in - phase + s->stride - 1) / s->stride : 0;
  for (int64_t t = s->window - 1; t >= 0; t--) {
    if ((phase + s->before - t * s->dilation) % s->stride != 0) continue;
    if (a.taps == 0) highest = t;
    if (a.taps == 1) second = t;
    a.taps++;
  }
  if (a.taps == 0) return a;
  a.tap = highest;
  a.tap_step = a.taps > 1 ? second - highest : -1;
  a.first = (phase + s->before - highest * s->dilation) / s->stride;
  if (a.taps > 1) a.step = (highest - second) * s->dilation / s->stride;
  return a;
}
/* The taps t0 <= t < t1 of position i that lie inside. */
static void inside(const slide *a, int64_t i, int64_t *t0, int64_t *t1) {
  const int64_t at = a->first + i * a->stride;
  *t0 = at < 0 ? cpu_min((-at + a->step - 1) / a->step, a->taps) : 0;
  *t1 = a->in <= at ? 0 : cpu_min((a->in - at + a->step - 1) / a->step, a->taps);
  if (*t1 < *t0) *t1 = *t0;
}

#define CHUNK 4096 /* elements of a row that pass by together: they stay in the first-level cache */

/* Some rows of taps h0..h1 of one row of the result, `line` at the source's row of tap h0. */
typedef void slide_fn(const job *j, const cpu_depthwise *d, int64_t rows, int64_t columns,
                      int64_t tap, int64_t position);
static void slide_row(const job *j, const slide *h, const slide *w, int64_t h0, int64_t h1,
                      const float *line, slide_fn *fn) {
  cpu_depthwise d = {.row = h->step * w->in * j->c,
                     .column = w->step * j->c,
                     .step = w->stride * j->c,
                     .f_row = h->tap_step * j->w.window * j->c,
                     .f_column = w->tap_step * j->c,
                     .channels = j->c};
  const int64_t most = cpu_max(CHUNK / j->c, 8);
  for (int64_t i = 0; i < w->count;) {
    int64_t t0, t1, u0, u1, n = 1;
    inside(w, i, &t0, &t1);
    /* as many as have the same taps */
    if (w->taps > 0 && t0 == 0 && t1 == w->taps) {
      const int64_t last = w->in - 1 - (w->taps - 1) * w->step - w->first;
      n = cpu_min(cpu_min(last / w->stride - i + 1, w->count - i), most);
    } else {
      while (i + n < w->count && n < most) {
        inside(w, i + n, &u0, &u1);
        if (u0 != t0 || u1 != t1) break;
        n++;
      }
    }
    d.x = line + (w->first + i * w->stride + t0 * w->step) * j->c;
    d.count = n;
    fn(j, &d, h1 - h0, t1 - t0,
       ((h->tap + h0 * h->tap_step) * j->w.window + w->tap + t0 * w->tap_step) * j->c, i);
    i += n;
  }
}

typedef struct target {
  job j; /* first */
  float *y;
  int64_t y_step;
} target;
static void put_sums(const job *j, const cpu_depthwise *d, int64_t rows, int64_t columns,
                     int64_t tap, int64_t position) {
  const target *t = (const target *)j;
  float *y = t->y + position * t->y_step;
  if (rows > 0 && columns > 0)
    j->set->sum[rows - 1][columns - 1](d, j->filter + tap, y, t->y_step);
  else
    for (int64_t o = 0; o < d->count; o++)
      memset(y + o * t->y_step, 0, (size_t)d->channels * sizeof *y);
}

static void forward_fast(const job *j, int64_t i) {
  const slide h = slide_forward(&j->h), w = slide_forward(&j->w);
  const int64_t row = i % j->h.out, width = j->w.in * j->c;
  target t = {*j, j->out + i * j->w.out * j->c, j->c};
  int64_t h0, h1;
  inside(&h, row, &h0, &h1);
  slide_row(&t.j, &h, &w, h0, h1,
            j->x + i / j->h.out * j->h.in * width +
                (h.first + row * h.stride + h0 * h.step) * width,
            put_sums);
}

static void input_fast(const job *j, int64_t i) {
  const int64_t row = i % j->h.in, width = j->w.out * j->c;
  const slide h = slide_backward(&j->h, row % j->h.stride);
  target t = {*j, NULL, j->w.stride * j->c};
  int64_t h0, h1;
  inside(&h, row / j->h.stride, &h0, &h1);
  for (int64_t phase = 0; phase < j->w.stride; phase++) {
    const slide w = slide_backward(&j->w, phase);
    t.y = j->out + (i * j->w.in + phase) * j->c;
    slide_row(&t.j, &h, &w, h0, h1,
              j->dy + i / j->h.in * j->h.out * width +
                  (h.first + row / j->h.stride + h0 * h.step) * width,
              put_sums);
  }
}

static void add_grad(const job *j, const cpu_depthwise *d, int64_t rows, int64_t columns,
                     int64_t tap, int64_t position) {
  const target *t = (const target *)j;
  if (rows > 0 && columns > 0)
    j->set->grad[rows - 1][columns - 1](d, j->dy + position * j->c, j->c, t->y + tap);
}

static void filter_fast(const job *j, int64_t i, float *sums) {
  const slide h = slide_forward(&j->h), w = slide_forward(&j->w);
  const int64_t row = i % j->h.out, width = j->w.in * j->c;
  target t = {*j, sums, 0};
  int64_t h0, h1;
  t.j.dy = j->dy + i * j->w.out * j->c;
  inside(&h, row, &h0, &h1);
  slide_row(&t.j, &h, &w, h0, h1,
            j->x + i / j->h.out * j->h.in * width +
                (h.first + row * h.stride + h0 * h.step) * width,
            add_grad);
}

#endif
