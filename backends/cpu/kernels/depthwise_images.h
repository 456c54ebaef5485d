/* depthwise_images.h - the gradient of the filter from small images of many channels, a block of
 * channels at a time.
 *
 * When pixels are a multiple of 2 KB apart, those that a window meets compete for the same few lines
 * of the first-level cache. So some channels of a whole image are copied together, with their border
 * of zeros, where all windows are whole and the sums stay in registers.
 */
#ifndef TFSDK_CPU_DEPTHWISE_IMAGES_H
#define TFSDK_CPU_DEPTHWISE_IMAGES_H

#include "depthwise_fast.h"
#include "gemm.h"

#define IMAGE_BYTES 65536 /* of a block with its border: little of the second-level cache */
#define IMAGE_LEAST 16    /* channels of a block */
#define IMAGE_MOST  128
#define IMAGE_APART 2048 /* bytes */

typedef struct images {
  const job *j;
  slide h, w;
  const float *src;   /* that is copied: [batch][h.in][w.in][c] */
  int64_t rows, cols; /* of a copy */
  int64_t taps, block, blocks;
  int64_t room_floats;
  float *rooms; /* one for each thread */
} images;

static int64_t slide_reach(const slide *a) {
  return (a->count - 1) * a->stride + (a->taps - 1) * a->step + 1;
}

/* 0 when the job is better done row by row. */
static int images_begin(images *m, const job *j, const slide *h, const slide *w, const float *src) {
  int64_t area;
  if (j->set == NULL || j->c * (int64_t)sizeof(float) % IMAGE_APART != 0 || h->every != 1 ||
      w->every != 1 || h->taps == 0 || w->taps == 0 || h->count == 0 || w->count == 0)
    return 0;
  *m = (images){.j = j, .h = *h, .w = *w, .src = src};
  m->rows = slide_reach(h);
  m->cols = slide_reach(w);
  area = m->rows * m->cols * (int64_t)sizeof(float);
  if (area * IMAGE_LEAST > IMAGE_BYTES) return 0;
  m->block = IMAGE_LEAST; /* a power of two: it divides the channels */
  while (m->block * 2 * area <= IMAGE_BYTES && m->block * 2 <= IMAGE_MOST) m->block *= 2;
  m->blocks = j->c / m->block;
  return 1;
}

/* A room holds the filter or the sums of its gradient, as float and as double, and a copy. */
static tfsdk_status *images_rooms(images *m, tfsdk_run *r) {
  void *room;
  m->taps = m->h.taps * m->w.taps;
  m->room_floats = (m->rows * m->cols + 3 * m->taps) * m->block;
  TFSDK_TRY(
      r->api->workspace(r, (size_t)m->room_floats * sizeof(float) * cpu_run_threads(r), &room));
  m->rooms = (float *)room;
  return NULL;
}

typedef float line16 __attribute__((vector_size(64), aligned(4), may_alias));

/* Channels c0.. of one image to [rows][cols][block]. */
CPU_CLONES static void copy_image(const images *m, int64_t image, int64_t c0, float *to) {
  const int64_t n = m->block, c = m->j->c, width = m->w.in * c;
  const float *src = m->src + image * m->h.in * width + c0;
  const int64_t left = cpu_min(cpu_max(-m->w.first, 0), m->cols);
  const int64_t right = cpu_max(cpu_min(m->w.in - m->w.first, m->cols), left);
  for (int64_t y = 0; y < m->rows; y++, to += m->cols * n) {
    const int64_t at = m->h.first + y;
    const float *from = src + at * width + (m->w.first + left) * c;
    if (at < 0 || at >= m->h.in) {
      memset(to, 0, (size_t)(m->cols * n) * sizeof *to);
      continue;
    }
    memset(to, 0, (size_t)(left * n) * sizeof *to);
    for (int64_t x = left; x < right; x++, from += c)
      for (int64_t i = 0; i < n; i += 16) *(line16 *)(to + x * n + i) = *(const line16 *)(from + i);
    memset(to + right * n, 0, (size_t)((m->cols - right) * n) * sizeof *to);
  }
}

/* Where row i of the result looks, in a copy. */
static cpu_depthwise image_row(const images *m, const float *copy, int64_t i) {
  const int64_t n = m->block;
  cpu_depthwise d = {.x = copy + i * m->h.stride * m->cols * n,
                     .row = m->h.step * m->cols * n,
                     .column = m->w.step * n,
                     .step = m->w.stride * n,
                     .f_row = m->w.taps * n,
                     .f_column = n,
                     .count = m->w.count,
                     .channels = n};
  return d;
}

static float *tap_of(const images *m, float *filter, int64_t s, int64_t t) {
  return filter +
         ((m->h.tap + s * m->h.tap_step) * m->j->w.window + m->w.tap + t * m->w.tap_step) * m->j->c;
}

/* Of `pixels` neighbours, whose channels come in short runs that no hardware foresees. */
static void prefetch_pixels(const images *m, const float *from, int64_t pixels) {
  for (int64_t x = 0; x < pixels; x++, from += m->j->c)
    for (int64_t i = 0; i < m->block; i += 16) __builtin_prefetch(from + i, 0, 2);
}

/* Blocks of the filter's gradient. */
static void images_filter_range(void *user, int64_t begin, int64_t end) {
  const images *m = (const images *)user;
  const job *j = m->j;
  const int64_t n = m->block, sums = m->taps * n, rows = j->batch * m->h.count;
  float *sum = m->rooms + (int64_t)cpu_pool_slot() * m->room_floats, *copy = sum + 3 * sums;
  double *total = (double *)(void *)(sum + sums); /* n is even */
  for (int64_t u = begin; u < end; u++) {
    int64_t positions = 0;
    memset(sum, 0, (size_t)sums * sizeof *sum);
    memset(total, 0, (size_t)sums * sizeof *total);
    for (int64_t row = 0; row < rows; row++) {
      const int64_t i = row % m->h.count;
      if (i == 0) copy_image(m, row / m->h.count, u * n, copy);
      if (row + 1 < rows)
        prefetch_pixels(m, j->dy + (row + 1) * m->w.count * j->c + u * n, m->w.count);
      if (row / m->h.count + 1 < j->batch)
        for (int64_t y = i * m->h.in / m->h.count; y < (i + 1) * m->h.in / m->h.count; y++)
          prefetch_pixels(
              m, m->src + ((row / m->h.count + 1) * m->h.in + y) * m->w.in * j->c + u * n, m->w.in);
      const cpu_depthwise d = image_row(m, copy, i);
      j->set->grad[m->h.taps - 1][m->w.taps - 1](&d, j->dy + row * m->w.count * j->c + u * n, j->c,
                                                 sum);
      positions += m->w.count;
      if (positions + m->w.count > FLOAT_POSITIONS || row + 1 == rows) {
        add_to_double(total, sum, sums);
        positions = 0;
      }
    }
    for (int64_t s = 0; s < m->h.taps; s++)
      for (int64_t t = 0; t < m->w.taps; t++)
        for (int64_t c = 0; c < n; c++)
          tap_of(m, j->out, s, t)[u * n + c] = (float)total[(s * m->w.taps + t) * n + c];
  }
}

#endif
