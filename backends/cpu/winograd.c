/* winograd.c - see winograd.h.
 *
 * A block of tiles is transformed (36 matrices of tiles by channels), multiplied by the transformed
 * filter (36 matrices of channels by outputs), transformed back and written; all of it stays in the
 * second-level cache of one core. Of the filter as many outputs are done at a time as keep its
 * transform in the last-level cache.
 *
 * For the gradient of the filter the tiles are summed over: a block of them is transformed by all
 * threads, then the 36 products are added to 36 sums by all threads.
 */
#include "winograd.h"

#include <string.h>
#define POINTS        36
#define GROUP         16          /* channels on both sides are multiples of it */
#define PANEL         32          /* most outputs of a panel */
#define FILTER_BYTES  (10 << 20)  /* of the transformed filter at a time */
#define BLOCK_BYTES   (640 << 10) /* of one thread's block */
#define SHARED_BYTES  (6 << 20)   /* of a block of the filter's gradient */
#define SHARED_FROM   (160 * 160) /* channels times outputs from which threads share a block */
#define CUTS          2           /* of one point's product */
#define MOST_TILES    192
#define MOST_SHARED   1024
#define PIECE_CHANNEL 2048 /* tiles times channels to transform that are worth a piece */

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
/* Rows and points whose addresses do not fight for the same lines of the cache. */
static int64_t row_of(int64_t channels) { return channels % 64 == 0 ? channels + GROUP : channels; }
static int64_t step_of(int64_t n) { return (n / GROUP) % 2 == 0 ? n + GROUP : n; }

typedef struct plan {
  const cpu_conv *v;
  const cpu_winograd_set *set;
  const cpu_kernels *kr;
  int pair;                     /* 0: 3 taps, 1: 5 */
  int64_t m;                    /* outputs of a tile on each axis */
  int64_t tile_rows, tile_cols; /* of an image */
  int64_t tiles, blocks;        /* in all */
  int64_t block;                /* most tiles of a block */
  int64_t chunk, n0, n;         /* output channels: most at a time; the present ones */
  int64_t in_row, in_step;      /* of the transformed input: from tile to tile, point to point */
  int64_t out_row, out_step;    /* of the products, or the transformed gradient */
  int64_t filter_row, filter_step;
  int64_t t0, t1;           /* filter's gradient: the present block */
  const float *zeros;       /* a pixel outside of the image */
  float *filter, *in, *out; /* in, out: of thread 0 where each has its own */
  float *outside;           /* for pixels that are not wanted, one for each thread */
  int shared;
  float *df;
} plan;

static int64_t tiles_of(const cpu_conv *v) {
  const int64_t m = v->h.taps == 3 ? 4 : 2;
  return v->batch * cpu_even_pieces(v->h.out, m) * cpu_even_pieces(v->w.out, m);
}

static int fits(const cpu_conv *v) {
  return v->dtype == TFSDK_FLOAT32 && (v->h.taps == 3 || v->h.taps == 5) &&
         v->h.taps == v->w.taps && v->h.stride == 1 && v->w.stride == 1 && v->h.step == 1 &&
         v->w.step == 1 && v->channels % GROUP == 0 && v->n % GROUP == 0;
}

/* Costs in cycles of a core with vectors of 16, measured; vectors of other lengths shift both. */
static double direct_cost(const cpu_conv *v) {
  return (double)v->batch * (double)(v->h.out * v->w.out) * (double)(v->h.taps * v->w.taps) *
         (double)v->channels * (double)v->n / 16 * 1.08;
}
static double winograd_cost(const cpu_conv *v) {
  const double tiles = (double)tiles_of(v), c = (double)v->channels, n = (double)v->n;
  return tiles * (POINTS * c * n / 16 * 1.2 + (c + n) * 16) + POINTS * c * n * 0.8;
}

int cpu_winograd_takes(const cpu_conv *v) {
  return fits(v) && (v->f_o == 1 || v->f_c == 1) && winograd_cost(v) < 0.85 * direct_cost(v);
}
int cpu_winograd_takes_filter(const cpu_conv *v) {
  return fits(v) && v->f_o == 1 && winograd_cost(v) < 0.85 * direct_cost(v);
}

static plan make_plan(const cpu_conv *v) {
  plan p = {.v = v, .set = cpu_winograd_f32(), .kr = cpu_kernels_f32()};
  int64_t chunks;
  p.pair = v->h.taps == 5;
  p.m = p.pair ? 2 : 4;
  p.tile_rows = cpu_even_pieces(v->h.out, p.m);
  p.tile_cols = cpu_even_pieces(v->w.out, p.m);
  p.tiles = v->batch * p.tile_rows * p.tile_cols;
  chunks = cpu_even_pieces(v->n, max64(FILTER_BYTES / (POINTS * 4 * v->channels) / 32, 1) * 32);
  p.chunk = round_up(cpu_even_pieces(v->n, chunks), 32);
  if (p.chunk > v->n) p.chunk = v->n;
  p.in_row = row_of(v->channels);
  p.out_row = row_of(p.chunk);
  return p;
}

/* How many tiles a block has: as many as `bytes` hold, so that there are pieces for all threads. */
static void cut_tiles(plan *p, int64_t bytes, int64_t least, int64_t most, int64_t pieces) {
  int64_t block = bytes / (POINTS * 4 * (p->in_row + p->out_row));
  block = max64(min64(block, most), least);
  block = max64(min64(block, p->tiles / pieces), p->kr->rows);
  if (block > p->tile_cols) block -= block % p->tile_cols; /* whole rows of an image */
  p->blocks = cpu_even_pieces(p->tiles, block);
  p->block = cpu_even_pieces(p->tiles, p->blocks);
  p->in_step = step_of(p->block * p->in_row);
  p->out_step = step_of(p->block * p->out_row);
}

/* --------------------------------------------------------------------------------- tiles' pixels */

typedef struct place {
  int64_t image, row, col; /* of the tile */
} place;

static place place_of(const plan *p, int64_t tile) {
  place at;
  at.col = tile % p->tile_cols;
  at.row = tile / p->tile_cols % p->tile_rows;
  at.image = tile / p->tile_cols / p->tile_rows;
  return at;
}

/* The 36 pixels that a tile reads. */
static void pixels_in(const plan *p, const place *at, const float **pixel) {
  const cpu_conv *v = p->v;
  const int64_t y0 = at->row * p->m + v->h.first, x0 = at->col * p->m + v->w.first;
  const float *image = (const float *)v->src + at->image * v->h.in * v->w.in * v->src_pixel;
  for (int64_t i = 0; i < 6; i++, pixel += 6) {
    const int64_t y = y0 + i;
    if (y < 0 || y >= v->h.in) {
      for (int64_t j = 0; j < 6; j++) pixel[j] = p->zeros;
    } else {
      const float *line = image + (y * v->w.in + x0) * v->src_pixel;
      for (int64_t j = 0; j < 6; j++)
        pixel[j] = x0 + j >= 0 && x0 + j < v->w.in ? line + j * v->src_pixel : p->zeros;
    }
  }
}

/* The 16 or 4 pixels of dst that a tile covers; `outside` where there is none. */
static void pixels_out(const plan *p, const place *at, float *outside, float **pixel) {
  const cpu_conv *v = p->v;
  const int64_t y0 = at->row * p->m, x0 = at->col * p->m;
  float *first =
      (float *)v->dst + at->image * v->dst_image + y0 * v->dst_row + x0 * v->dst_pixel + p->n0;
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->m; j++)
      *pixel++ = y0 + i < v->h.out && x0 + j < v->w.out ? first + i * v->dst_row + j * v->dst_pixel
                                                        : outside;
}

/* ------------------------------------------------------------------------- forward: the filter */

/* Unit u: a panel of outputs by 16 channels, so that neighbours are written together. */
static void filter_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const cpu_conv *v = p->v;
  const int64_t groups = v->channels / GROUP, wide = 2 * p->kr->vector, taps = v->h.taps;
  CPU_ALIGNED(64) float turned[25 * GROUP * PANEL];
  for (int64_t u = begin; u < end; u++) {
    const int64_t o = u / groups * wide, c0 = u % groups * GROUP;
    const int64_t width = p->n - o > p->kr->vector ? wide : p->kr->vector;
    const float *g = (const float *)v->filter + (p->n0 + o) * v->f_o + c0 * v->f_c;
    float *to = p->filter + o * v->channels + c0 * width;
    int64_t row = v->f_h, column = v->f_w, next = v->f_c;
    if (v->f_o != 1) {
      row = taps * GROUP * width, column = GROUP * width, next = width;
      for (int64_t t = 0; t < taps * taps; t++)
        cpu_turn(4, g + t / taps * v->f_h + t % taps * v->f_w, v->f_o, GROUP, width, width,
                 turned + t * column);
      g = turned;
    }
    for (int64_t c = 0; c < GROUP; c++)
      for (int64_t j = 0; j < width; j += p->set->vector)
        p->set->filter[p->pair](g + c * next + j, row, column, to + c * width + j, p->filter_step);
  }
}

/* -------------------------------------------------------------------------------- forward: tiles */

/* The product of `tiles` rows at one point, columns q0..q1. */
static void multiply(const plan *p, int64_t point, const float *in, float *out, int64_t tiles,
                     int64_t q0, int64_t q1) {
  const int64_t wide = 2 * p->kr->vector, pieces = cpu_even_pieces(tiles, p->kr->rows);
  cpu_tile t = {
      .a_row = p->in_row, .a_col = 1, .k = p->v->channels, .segs = 1, .c_row = p->out_row};
  for (int64_t q = q0; q < q1; q += wide) {
    t.cols = (int32_t)min64(p->n - q, wide);
    t.b_row = t.cols > p->kr->vector ? wide : p->kr->vector;
    t.b = p->filter + point * p->filter_step + q * p->v->channels;
    for (int64_t i = 0; i < pieces; i++) {
      const int64_t row = cpu_even_begin(tiles, pieces, i);
      const int64_t rows = cpu_even_begin(tiles, pieces, i + 1) - row;
      t.a = in + point * p->in_step + row * p->in_row;
      t.c = out + point * p->out_step + row * p->out_row + q;
      cpu_tile_run(p->kr, &t, rows);
    }
  }
}

/* Tells of the pixels of tiles t0..t1, which are done. */
static void tell(const plan *p, int64_t t0, int64_t t1) {
  const cpu_conv *v = p->v;
  while (t0 < t1) {
    const place at = place_of(p, t0);
    const int64_t cols = min64(p->tile_cols - at.col, t1 - t0), x0 = at.col * p->m;
    const int64_t x1 = min64((at.col + cols) * p->m, v->w.out);
    const int64_t y0 = at.row * p->m, y1 = min64(y0 + p->m, v->h.out);
    const int64_t row = at.image * v->h.out;
    if (cols == p->tile_cols)
      v->finish->api->finish(v->finish, (row + y0) * v->w.out, (row + y1) * v->w.out);
    else
      for (int64_t y = y0; y < y1; y++)
        v->finish->api->finish(v->finish, (row + y) * v->w.out + x0, (row + y) * v->w.out + x1);
    t0 += cols;
  }
}

/* Tiles t0..t1 to their points and back. */
static void spread(const plan *p, int64_t t0, int64_t t1, float *in) {
  const float *from[POINTS];
  for (int64_t t = t0; t < t1; t++, in += p->in_row) {
    const place at = place_of(p, t);
    pixels_in(p, &at, from);
    p->set->input(from, p->v->channels, in, p->in_step);
  }
}
static void gather(const plan *p, int64_t t0, int64_t t1, const float *out, float *outside) {
  float *to[16];
  for (int64_t t = t0; t < t1; t++, out += p->out_row) {
    const place at = place_of(p, t);
    pixels_out(p, &at, outside, to);
    p->set->output[p->pair](out, p->out_step, p->n, to);
  }
  if (p->v->finish != NULL && p->n0 + p->n == p->v->n) tell(p, t0, t1);
}

/* Each thread its own blocks. */
static void blocks_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const int64_t own = POINTS * (p->in_step + p->out_step);
  float *in = p->in + (int64_t)cpu_pool_slot() * own, *out = in + POINTS * p->in_step;
  for (int64_t b = begin; b < end; b++) {
    const int64_t t0 = cpu_even_begin(p->tiles, p->blocks, b);
    const int64_t t1 = cpu_even_begin(p->tiles, p->blocks, b + 1);
    spread(p, t0, t1, in);
    for (int64_t point = 0; point < POINTS; point++) multiply(p, point, in, out, t1 - t0, 0, p->n);
    gather(p, t0, t1, out, p->outside + (int64_t)cpu_pool_slot() * p->chunk);
  }
}

/* One block by all threads. */
static void spread_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  spread(p, p->t0 + begin, p->t0 + end, p->in + begin * p->in_row);
}
static void multiply_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const int64_t wide = 2 * p->kr->vector, panels = cpu_even_pieces(p->n, wide);
  for (int64_t u = begin; u < end; u++)
    multiply(p, u / CUTS, p->in, p->out, p->t1 - p->t0, panels * (u % CUTS) / CUTS * wide,
             min64(panels * (u % CUTS + 1) / CUTS * wide, p->n));
}
/* By rows of tiles, for the sake of whoever is told. */
static void gather_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const int64_t first = p->t0 + begin * p->tile_cols;
  const int64_t last = min64(p->t0 + end * p->tile_cols, p->t1);
  gather(p, first, last, p->out + begin * p->tile_cols * p->out_row,
         p->outside + (int64_t)cpu_pool_slot() * p->chunk);
}

static plan forward_plan(const cpu_conv *v) {
  plan p = make_plan(v);
  p.shared = v->channels * p.chunk >= SHARED_FROM;
  if (p.shared)
    cut_tiles(&p, SHARED_BYTES, 48, MOST_SHARED, 1);
  else
    cut_tiles(&p, BLOCK_BYTES, 2 * p.kr->rows, MOST_TILES, 8);
  p.filter_step = step_of(v->channels * round_up(p.chunk, 2 * p.kr->vector));
  return p;
}

size_t cpu_winograd_scratch(const cpu_conv *v, uint32_t threads) {
  const plan p = forward_plan(v);
  const int64_t own = POINTS * (p.in_step + p.out_step);
  return (size_t)(round_up(v->channels, 64) + POINTS * p.filter_step + p.chunk * threads +
                  own * (p.shared ? 1 : threads)) *
         4;
}

void cpu_winograd_run(tfsdk_run *r, const cpu_conv *v, uint32_t threads, void *scratch) {
  plan p = forward_plan(v);
  memset(scratch, 0, (size_t)v->channels * 4);
  p.zeros = (const float *)scratch;
  p.outside = (float *)scratch + round_up(v->channels, 64);
  p.filter = p.outside + p.chunk * threads;
  p.in = p.filter + POINTS * p.filter_step;
  p.out = p.in + POINTS * p.in_step; /* of threads with blocks of their own: each behind its `in` */
  for (p.n0 = 0; p.n0 < v->n; p.n0 += p.chunk) {
    p.n = min64(p.chunk, v->n - p.n0);
    r->api->par_for(r, cpu_pack_panels(p.kr, p.n) * (v->channels / GROUP), 4, filter_range, &p);
    if (!p.shared) {
      r->api->par_for(r, p.blocks, 1, blocks_range, &p);
      continue;
    }
    for (int64_t b = 0; b < p.blocks; b++) {
      p.t0 = cpu_even_begin(p.tiles, p.blocks, b);
      p.t1 = cpu_even_begin(p.tiles, p.blocks, b + 1);
      if (p.n0 == 0 || p.blocks > 1) /* a single block's input is there already */
        r->api->par_for(r, p.t1 - p.t0, 1 + PIECE_CHANNEL / v->channels, spread_range, &p);
      r->api->par_for(r, POINTS * CUTS, 1, multiply_range, &p);
      r->api->par_for(r, cpu_even_pieces(p.t1 - p.t0, p.tile_cols),
                      1 + PIECE_CHANNEL / (p.n * p.tile_cols), gather_range, &p);
    }
  }
}

/* -------------------------------------------------------------------- the gradient of the filter */

static void upstream_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const float *from[16];
  float *pixel[16];
  if (p->n0 == 0 || p->blocks > 1) spread_range(user, begin, end);
  for (int64_t i = begin; i < end; i++) {
    const place at = place_of(p, p->t0 + i);
    /* the pixels are read only: what lies outside is zeros */
    pixels_out(p, &at, NULL, pixel);
    for (int64_t j = 0; j < p->m * p->m; j++) from[j] = pixel[j] != NULL ? pixel[j] : p->zeros;
    p->set->upstream[p->pair](from, p->n, p->out + i * p->out_row, p->out_step);
  }
}

/* Unit u: point u / cuts, some of the rows (input channels). */
static void sums_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const int64_t wide = 2 * p->kr->vector, pieces = cpu_even_pieces(p->v->channels, p->kr->rows);
  cpu_tile t = {.a_row = 1,
                .a_col = p->in_row,
                .k = p->t1 - p->t0,
                .segs = 1,
                .b_row = p->out_row,
                .c_row = p->filter_row,
                .add = p->t0 > 0};
  for (int64_t u = begin; u < end; u++) {
    const int64_t point = u / CUTS, cut = u % CUTS;
    for (int64_t q = 0; q < p->n; q += wide)
      for (int64_t i = pieces * cut / CUTS; i < pieces * (cut + 1) / CUTS; i++) {
        const int64_t row = cpu_even_begin(p->v->channels, pieces, i);
        const int64_t rows = cpu_even_begin(p->v->channels, pieces, i + 1) - row;
        t.cols = (int32_t)min64(p->n - q, wide);
        t.a = p->in + point * p->in_step + row;
        t.b = p->out + point * p->out_step + q;
        t.c = p->filter + point * p->filter_step + row * p->filter_row + q;
        cpu_tile_run(p->kr, &t, rows);
      }
  }
}

static void taps_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const cpu_conv *v = p->v;
  for (int64_t c = begin; c < end; c++)
    for (int64_t j = 0; j < p->n; j += p->set->vector)
      p->set->filter_grad[p->pair](p->filter + c * p->filter_row + j, p->filter_step,
                                   p->df + c * v->f_c + p->n0 + j, v->f_h, v->f_w);
}

static plan filter_plan(const cpu_conv *v) {
  plan p = make_plan(v);
  cut_tiles(&p, SHARED_BYTES, 48, MOST_SHARED, 1);
  p.filter_row = p.chunk;
  p.filter_step = step_of(v->channels * p.chunk);
  return p;
}

/* Behind the last pixel a tile kernel may read a vector too many. */
#define SLACK 64

size_t cpu_winograd_filter_scratch(const cpu_conv *v, uint32_t threads) {
  const plan p = filter_plan(v);
  (void)threads;
  return (size_t)(round_up(max64(v->channels, v->n), 64) +
                  POINTS * (p.filter_step + p.in_step + p.out_step) + SLACK) *
         4;
}

void cpu_winograd_filter_run(tfsdk_run *r, const cpu_conv *v, uint32_t threads, float *df,
                             void *scratch) {
  plan p = filter_plan(v);
  const int64_t zeros = max64(v->channels, v->n);
  (void)threads;
  memset(scratch, 0, (size_t)zeros * 4);
  p.zeros = (const float *)scratch;
  p.filter = (float *)scratch + round_up(zeros, 64);
  p.in = p.filter + POINTS * p.filter_step;
  p.out = p.in + POINTS * p.in_step;
  p.df = df;
  for (p.n0 = 0; p.n0 < v->n; p.n0 += p.chunk) {
    p.n = min64(p.chunk, v->n - p.n0);
    for (int64_t b = 0; b < p.blocks; b++) {
      p.t0 = cpu_even_begin(p.tiles, p.blocks, b);
      p.t1 = cpu_even_begin(p.tiles, p.blocks, b + 1);
      r->api->par_for(r, p.t1 - p.t0, 1 + PIECE_CHANNEL / (v->channels + p.n), upstream_range, &p);
      r->api->par_for(r, POINTS * CUTS, 1, sums_range, &p);
    }
    r->api->par_for(r, v->channels, 1 + 4096 / p.n, taps_range, &p);
  }
}
