/* conv.c - see conv.h. */
#include "conv.h"
#include "winograd.h"

#include <string.h>

#define BUFFER_BYTES (256 << 10) /* of image rows that a piece works on */
#define BLOCK_BYTES  (256 << 10) /* of packed filter that stays in the cache with them */
#define BLOCK_K      448         /* most k's of a block */
#define PIECE_WORK   1e6         /* multiply-adds worth a piece */
#define SUMS_BYTES   (8 << 20)   /* of partial sums of the filter's gradient */

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static const char *at(const void *p, int64_t elements, size_t size) {
  return (const char *)p + elements * (int64_t)size;
}
static int64_t round_up(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/* Pixels of src from the first tap of position 0 to the last tap of position count - 1. */
static int64_t reach(const cpu_conv_axis *a, int64_t count) {
  return (count - 1) * a->stride + (a->taps - 1) * a->step + 1;
}
static int inside(const cpu_conv_axis *a) {
  return a->first >= 0 && a->first + reach(a, a->out) <= a->in;
}

typedef struct plan {
  const cpu_conv *v;
  const cpu_kernels *kr;
  size_t size;
  int64_t k;                  /* taps times channels */
  int direct;                 /* no padding, all channels: read where it is */
  int64_t rows, row_pieces;   /* rows of positions of a piece; pieces of an image */
  int64_t col_pieces, panels; /* of the output channels */
  int64_t buffer;             /* bytes of one */
  char *packed, *buffers;
} plan;

static plan make_plan(const cpu_conv *v) {
  plan p = {.v = v, .kr = cpu_kernels_of(v->dtype), .size = tfsdk_dtype_size(v->dtype)};
  int64_t line = reach(&v->w, v->w.out) * v->channels * (int64_t)p.size, pieces;
  double work;
  p.k = v->h.taps * v->w.taps * v->channels;
  p.direct = inside(&v->h) && inside(&v->w) && v->channels == v->src_pixel;
  p.panels = cpu_pack_panels(p.kr, v->n);
  p.col_pieces = 1;
  work = (double)v->batch * (double)(v->h.out * v->w.out) * (double)p.k * (double)v->n;
  /* as many rows as the buffer holds, fewer if that leaves too few pieces */
  p.rows = 1;
  while (p.rows < v->h.out && reach(&v->h, p.rows + 1) * line <= BUFFER_BYTES) p.rows++;
  p.row_pieces = cpu_even_pieces(v->h.out, p.rows);
  pieces = v->batch * p.row_pieces;
  while (pieces * p.col_pieces < 16 && work / (double)(pieces * p.col_pieces) > PIECE_WORK) {
    if (p.row_pieces * 2 <= v->h.out && (p.row_pieces < 4 || p.col_pieces * 2 > p.panels))
      p.row_pieces *= 2;
    else if (p.col_pieces * 2 <= p.panels)
      p.col_pieces *= 2;
    else
      break;
    pieces = v->batch * p.row_pieces;
  }
  p.rows = cpu_even_pieces(v->h.out, p.row_pieces);
  p.buffer = p.direct ? 0 : round_up(reach(&v->h, p.rows) * line);
  return p;
}

/* The sources of some rows of positions of one image: `rows` points at the first tap of the first
 * of them, lines are `line` elements apart and pixels `channels`. Copied into `buffer` unless the
 * plan is direct. */
typedef struct source {
  const char *rows;
  int64_t line;
} source;

static void copy_line(const plan *p, const char *from, char *to, int64_t pixels) {
  const cpu_conv *v = p->v;
  const size_t pixel = (size_t)v->channels * p->size;
  int64_t left = min64(max64(-v->w.first, 0), pixels); /* of padding */
  int64_t x = v->w.first + left, n = max64(min64(pixels - left, v->w.in - x), 0);
  memset(to, 0, (size_t)left * pixel);
  to += (size_t)left * pixel;
  if (v->channels == v->src_pixel) {
    if (n > 0) memcpy(to, from + (size_t)x * pixel, (size_t)n * pixel);
  } else {
    for (int64_t i = 0; i < n; i++)
      memcpy(to + (size_t)i * pixel, at(from, (x + i) * v->src_pixel, p->size), pixel);
  }
  memset(to + (size_t)n * pixel, 0, (size_t)(pixels - left - n) * pixel);
}

static source open_rows(const plan *p, int64_t image, int64_t i0, int64_t i1, char *buffer) {
  const cpu_conv *v = p->v;
  const char *src = at(v->src, image * v->h.in * v->w.in * v->src_pixel, p->size);
  int64_t y = i0 * v->h.stride + v->h.first, lines = reach(&v->h, i1 - i0);
  int64_t pixels = reach(&v->w, v->w.out);
  source s;
  if (p->direct) {
    s.line = v->w.in * v->src_pixel;
    s.rows = at(src, y * s.line + v->w.first * v->src_pixel, p->size);
    return s;
  }
  s.rows = buffer;
  s.line = pixels * v->channels;
  for (int64_t l = 0; l < lines; l++, y++) {
    char *to = buffer + (size_t)(l * s.line) * p->size;
    if (y < 0 || y >= v->h.in)
      memset(to, 0, (size_t)s.line * p->size);
    else
      copy_line(p, at(src, y * v->w.in * v->src_pixel, p->size), to, pixels);
  }
  return s;
}

/* -------------------------------------------------------------------------------------- forward */

/* A run of k's that one tile can take: `segs` times `k`, `seg` elements apart in the source. */
typedef struct block {
  int64_t k0; /* row of the packed filter */
  int64_t offset, segs, k, seg;
} block;

/* The block that begins at k0. Taps of a row are adjacent when their step is one pixel. */
static block block_at(const plan *p, int64_t line, int64_t k0) {
  const cpu_conv *v = p->v;
  const int64_t row = v->w.taps * v->channels, s = k0 / row, in_row = k0 % row;
  const int64_t unit = v->w.step == 1 ? row : v->channels; /* adjacent elements */
  block b = {.k0 = k0, .segs = 1};
  b.offset = s * v->h.step * line;
  if (v->w.step == 1)
    b.offset += in_row;
  else
    b.offset += in_row / v->channels * v->w.step * v->channels + in_row % v->channels;
  if (unit > BLOCK_K) { /* part of a unit */
    int64_t pieces = cpu_even_pieces(unit, BLOCK_K), within = in_row % unit, i = 0;
    while (cpu_even_begin(unit, pieces, i + 1) <= within) i++;
    b.k = cpu_even_begin(unit, pieces, i + 1) - within;
    return b;
  }
  b.k = unit;
  if (v->w.step == 1) {
    b.seg = v->h.step * line;
    b.segs = min64(BLOCK_K / unit, v->h.taps - s);
  } else {
    b.seg = v->w.step * v->channels;
    b.segs = min64(BLOCK_K / unit, v->w.taps - in_row / v->channels);
  }
  return b;
}

static void pack_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const cpu_conv *v = p->v;
  for (int64_t u = begin; u < end; u++) {
    int64_t tap = u / p->panels, panel = u % p->panels;
    const char *f = at(v->filter, tap / v->w.taps * v->f_h + tap % v->w.taps * v->f_w, p->size);
    cpu_pack_panel(p->kr, p->size, f, v->f_c, v->f_o, v->channels, v->n, panel, p->k,
                   tap * v->channels, p->packed);
  }
}

static void forward_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const cpu_conv *v = p->v;
  char *buffer = p->buffers + (size_t)cpu_pool_slot() * (size_t)p->buffer;
  const int64_t tiles = cpu_even_pieces(v->w.out, p->kr->rows);
  for (int64_t piece = begin; piece < end; piece++) {
    const int64_t col = piece % p->col_pieces, rest = piece / p->col_pieces;
    const int64_t image = rest / p->row_pieces, part = rest % p->row_pieces;
    const int64_t i0 = cpu_even_begin(v->h.out, p->row_pieces, part);
    const int64_t i1 = cpu_even_begin(v->h.out, p->row_pieces, part + 1);
    const int64_t p0 = cpu_even_begin(p->panels, p->col_pieces, col);
    const int64_t p1 = cpu_even_begin(p->panels, p->col_pieces, col + 1);
    const source src = open_rows(p, image, i0, i1, buffer);
    char *dst = (char *)v->dst + (size_t)(image * v->dst_image) * p->size;
    for (int64_t k0 = 0; k0 < p->k;) {
      const block b = block_at(p, src.line, k0);
      const int64_t panel = b.k * b.segs * 2 * p->kr->vector * (int64_t)p->size;
      const int64_t together = max64(BLOCK_BYTES / panel, 1);
      for (int64_t q = p0; q < p1; q += together)
        for (int64_t i = i0; i < i1; i++)
          for (int64_t j = 0; j < tiles; j++) {
            const int64_t x = cpu_even_begin(v->w.out, tiles, j);
            const int64_t rows = cpu_even_begin(v->w.out, tiles, j + 1) - x;
            cpu_tile t = {.a_row = v->w.stride * v->channels,
                          .a_col = 1,
                          .a_seg = b.seg,
                          .k = b.k,
                          .segs = b.segs,
                          .c_row = v->dst_pixel,
                          .add = k0 > 0};
            t.a = at(src.rows, (i - i0) * v->h.stride * src.line + x * t.a_row + b.offset, p->size);
            cpu_tiles_packed(p->kr, p->size, &t, rows, v->n, q, min64(q + together, p1), p->packed,
                             p->k, b.k0,
                             dst + (size_t)(i * v->dst_row + x * v->dst_pixel) * p->size);
          }
      k0 += b.k * b.segs;
    }
    if (v->finish != NULL && p->col_pieces == 1)
      v->finish->api->finish(v->finish, (image * v->h.out + i0) * v->w.out,
                             (image * v->h.out + i1) * v->w.out);
  }
}

static int64_t packed_bytes(const plan *p) {
  return round_up(p->k * cpu_pack_width(p->kr, p->v->n) * (int64_t)p->size);
}

size_t cpu_conv_scratch(const cpu_conv *v, uint32_t threads) {
  plan p;
  if (cpu_winograd_takes(v)) return cpu_winograd_scratch(v, threads);
  p = make_plan(v);
  return (size_t)(packed_bytes(&p) + p.buffer * threads);
}

void cpu_conv_run(tfsdk_run *r, const cpu_conv *v, uint32_t threads, void *scratch) {
  plan p;
  int64_t pieces;
  double work;
  if (cpu_winograd_takes(v)) {
    cpu_winograd_run(r, v, threads, scratch);
    return;
  }
  p = make_plan(v);
  pieces = v->batch * p.row_pieces * p.col_pieces;
  work = (double)v->batch * (double)(v->h.out * v->w.out) * (double)p.k * (double)v->n;
  p.packed = (char *)scratch;
  p.buffers = (char *)scratch + packed_bytes(&p);
  r->api->par_for(r, p.panels * v->h.taps * v->w.taps, 1 + 65536 / (v->channels * 2 * p.kr->vector),
                  pack_range, &p);
  r->api->par_for(r, pieces, 1 + (int64_t)(PIECE_WORK / (work / (double)pieces + 1)), forward_range,
                  &p);
  if (v->finish != NULL && p.col_pieces > 1)
    cpu_finish_rows(r, 0, v->batch * v->h.out * v->w.out, v->n);
}

/* ------------------------------------------------------------------------- gradient of the filter
 */

/* df[r, o] = sum over positions of src[.., r] * dst[.., o], r running over (tap row, tap, channel).
 * The positions are cut into `sums` parts with partial sums of their own, the rows into `cuts`
 * parts; both by sizes alone. */
typedef struct filter_plan {
  plan base;
  int64_t
      rows; /* of df that are adjacent in the source: taps of a row times channels, or channels */
  int64_t groups; /* how many such there are */
  int64_t tiles;  /* of rows of a group */
  int64_t sums, cuts;
  int64_t d_width; /* packed width of dst's channels; 0: read where it is */
  int64_t df_bytes, d_bytes;
  char *sum, *packed_d;
  void *df;
} filter_plan;

static filter_plan make_filter_plan(const cpu_conv *v) {
  filter_plan f = {.base = make_plan(v)};
  const plan *p = &f.base;
  const int64_t items = v->batch * p->row_pieces;
  double work = (double)v->batch * (double)(v->h.out * v->w.out) * (double)p->k * (double)v->n;
  f.rows = v->w.step == 1 ? v->w.taps * v->channels : v->channels;
  f.groups = p->k / f.rows;
  f.tiles = cpu_even_pieces(f.rows, p->kr->rows);
  f.df_bytes = round_up(p->k * v->n * (int64_t)p->size);
  f.sums = f.cuts = 1;
  while (f.sums * f.cuts < 16 && work / (double)(f.sums * f.cuts) > PIECE_WORK) {
    if (f.sums * 2 <= items && f.sums * 2 * f.df_bytes <= SUMS_BYTES)
      f.sums *= 2;
    else if (f.cuts * 2 <= f.groups * f.tiles / 2)
      f.cuts *= 2;
    else
      break;
  }
  if (v->n % p->kr->vector != 0 || v->n * (int64_t)p->size % 2048 == 0 || v->n != v->dst_pixel) {
    f.d_width = cpu_pack_width(p->kr, v->n);
    f.d_bytes = round_up(p->rows * v->w.out * f.d_width * (int64_t)p->size);
  }
  return f;
}

/* Adds the positions of rows i0..i1 of one image to rows of `df`. */
static void add_rows(const filter_plan *f, int64_t image, int64_t i0, int64_t i1, int64_t t0,
                     int64_t t1, int first, char *df, char *buffer, char *packed) {
  const plan *p = &f->base;
  const cpu_conv *v = p->v;
  const int64_t positions = (i1 - i0) * v->w.out, wide = 2 * p->kr->vector;
  const source src = open_rows(p, image, i0, i1, buffer);
  const char *d = at(v->dst, image * v->dst_image + i0 * v->dst_row, p->size);
  cpu_tile t = {.a_row = 1,
                .a_col = v->w.stride * v->channels,
                .a_seg = v->h.stride * src.line,
                .k = v->w.out,
                .segs = i1 - i0,
                .c_row = v->f_c,
                .add = !first};
  if (f->d_width)
    for (int64_t q = 0; q < p->panels; q++)
      cpu_pack_panel(p->kr, p->size, d, v->dst_pixel, 1, positions, v->n, q, positions, 0, packed);
  for (int64_t q = 0; q < p->panels; q++)
    for (int64_t i = t0; i < t1; i++) {
      const int64_t group = i / f->tiles, row = cpu_even_begin(f->rows, f->tiles, i % f->tiles);
      const int64_t rows = cpu_even_begin(f->rows, f->tiles, i % f->tiles + 1) - row;
      const int64_t s = v->w.step == 1 ? group : group / v->w.taps;
      const int64_t u = v->w.step == 1 ? 0 : group % v->w.taps;
      char *c = df + (size_t)((group * f->rows + row) * v->f_c) * p->size;
      t.a = at(src.rows, s * v->h.step * src.line + u * v->w.step * v->channels + row, p->size);
      if (f->d_width) {
        cpu_tiles_packed(p->kr, p->size, &t, rows, v->n, q, q + 1, packed, positions, 0, c);
      } else {
        t.cols = (int32_t)min64(v->n - q * wide, wide);
        t.b = at(d, q * wide, p->size);
        t.b_row = v->dst_pixel;
        t.c = c + (size_t)(q * wide) * p->size;
        cpu_tile_run(p->kr, &t, rows);
      }
    }
}

static void filter_range(void *user, int64_t begin, int64_t end) {
  const filter_plan *f = (const filter_plan *)user;
  const plan *p = &f->base;
  const cpu_conv *v = p->v;
  const size_t slot = cpu_pool_slot();
  const int64_t items = v->batch * p->row_pieces;
  for (int64_t piece = begin; piece < end; piece++) {
    const int64_t sum = piece / f->cuts, cut = piece % f->cuts;
    const int64_t t0 = cpu_even_begin(f->groups * f->tiles, f->cuts, cut);
    const int64_t t1 = cpu_even_begin(f->groups * f->tiles, f->cuts, cut + 1);
    const int64_t first = cpu_even_begin(items, f->sums, sum);
    char *df = f->sums == 1 ? (char *)f->df : f->sum + (size_t)(sum * f->df_bytes);
    for (int64_t item = first; item < cpu_even_begin(items, f->sums, sum + 1); item++) {
      const int64_t part = item % p->row_pieces;
      add_rows(f, item / p->row_pieces, cpu_even_begin(v->h.out, p->row_pieces, part),
               cpu_even_begin(v->h.out, p->row_pieces, part + 1), t0, t1, item == first, df,
               p->buffers + slot * (size_t)p->buffer, f->packed_d + slot * (size_t)f->d_bytes);
    }
  }
}

CPU_CLONES static void add_f32(float *to, const float *from, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] += from[i];
}
CPU_CLONES static void add_f64(double *to, const double *from, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] += from[i];
}

/* Elements of df from its partial sums, in their order. With groups df's rows are parts of longer
 * ones. */
static void sums_range(void *user, int64_t begin, int64_t end) {
  const filter_plan *f = (const filter_plan *)user;
  const plan *p = &f->base;
  const cpu_conv *v = p->v;
  for (int64_t row = begin; row < end; row++) {
    char *to = (char *)f->df + (size_t)(row * v->f_c) * p->size;
    for (int64_t s = 0; s < f->sums; s++) {
      const char *from = f->sum + (size_t)(s * f->df_bytes) + (size_t)(row * v->n) * p->size;
      if (s == 0)
        memcpy(to, from, (size_t)v->n * p->size);
      else if (p->size == 4)
        add_f32((float *)to, (const float *)from, v->n);
      else
        add_f64((double *)to, (const double *)from, v->n);
    }
  }
}

size_t cpu_conv_filter_scratch(const cpu_conv *v, uint32_t threads) {
  filter_plan f;
  if (cpu_winograd_takes_filter(v)) return cpu_winograd_filter_scratch(v, threads);
  f = make_filter_plan(v);
  return (size_t)((f.sums > 1 ? f.sums * f.df_bytes : 0) + (f.base.buffer + f.d_bytes) * threads);
}

void cpu_conv_filter_run(tfsdk_run *r, const cpu_conv *v, uint32_t threads, void *df,
                         void *scratch) {
  cpu_conv parts = *v;
  filter_plan f;
  if (cpu_winograd_takes_filter(v)) {
    cpu_winograd_filter_run(r, v, threads, (float *)df, scratch);
    return;
  }
  f = make_filter_plan(v);
  f.df = df;
  f.sum = (char *)scratch;
  f.base.buffers = f.sum + (f.sums > 1 ? f.sums * f.df_bytes : 0);
  f.packed_d = f.base.buffers + f.base.buffer * threads;
  if (f.sums > 1) parts.f_c = v->n; /* partial sums are dense */
  f.base.v = &parts;
  r->api->par_for(r, f.sums * f.cuts, 1, filter_range, &f);
  if (f.sums > 1) {
    f.base.v = v;
    r->api->par_for(r, f.base.k, 1 + 65536 / (v->n * f.sums), sums_range, &f);
  }
}
