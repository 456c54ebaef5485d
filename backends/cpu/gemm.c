/* gemm.c - drivers of the matrix product: cutting, packing, threads.
 *
 * The columns are packed once, in panels. A piece of work is some tiles of rows by all panels: for
 * a block of k's its rows stay in the second-level cache, while the panels pass by; what the next
 * block or piece will read is fetched meanwhile. So rows are finished in the cache. Products of few
 * rows are cut by columns, and each piece packs its own.
 */
#include "keep.h"

#include <string.h>

#define PANEL_BYTES                                                                                \
  (CPU_GEMM_KC * 128)          /* most bytes of one packed panel of a block: two vectors of 64 */
#define PACKED_BYTES (8 << 20) /* most bytes that are packed at a time */
#define BLOCK_BYTES  (1 << 20) /* that the second-level cache holds */
#define BLOCK_PANELS 4         /* that stay there while rows pass by */
#define PIECE_WORK   1e6       /* multiply-adds worth a piece of their own: about 20 microseconds */
#define MOST_PIECES  64
#define MOST_COLS    32
#define PACK_GRAIN   16384 /* elements of packed columns worth a piece */
#define PIECE_TILES  8     /* of rows */
#define ALIAS_BYTES  4096  /* rows this far apart compete for the same few lines of the cache */
#define TURNED_COLS  64    /* most columns of a turned product */
#define KEPT_ROWS    512   /* most rows of a product that keeps its packed columns: */
#define KEPT_LEAST   65536 /* there packing counts, and so does the memory from so many elements on */
#define COLUMN_TILES 12    /* most tiles of rows of a product that is cut by columns, and */
#define PIECE_PANELS 8     /* panels of a piece then */
#define LINE         64    /* bytes of a cache line */

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static const char *at(const void *p, int64_t elements, size_t size) {
  return (const char *)p + elements * (int64_t)size;
}
static int64_t k_blocks(int64_t k) { return cpu_even_pieces(k, CPU_GEMM_KC); }

/* Memory that will be read soon, in runs of `bytes` that are `step` apart. */
typedef struct fetch {
  const char *run;
  int64_t step, bytes, runs, line;
  int64_t share; /* lines at a time */
} fetch;

static fetch fetch_begin(const void *from, int64_t step, int64_t bytes, int64_t runs,
                         int64_t times) {
  fetch f = {.run = (const char *)from, .step = step, .bytes = bytes, .runs = runs};
  f.share = runs * (bytes / LINE + 1) / (times > 0 ? times : 1) + 1;
  return f;
}
static void fetch_some(fetch *f) {
  for (int64_t i = 0; i < f->share && f->runs > 0; i++) {
    __builtin_prefetch(f->run + f->line, 0, 2);
    f->line += LINE;
    if (f->line > f->bytes) {
      f->line = 0;
      f->run += f->step;
      f->runs--;
    }
  }
}

static int64_t room_elements(const cpu_kernels *kr) { return kr->rows * (CPU_GEMM_KC + 16); }

/* Points the tile at a from row i and column k0 on. */
static void take_rows(const cpu_gemm *g, size_t size, int64_t i, int64_t k0, int64_t k,
                      cpu_tile *t) {
  t->a = at(g->a, i * g->a_row + k0 * g->a_col, size);
  t->a_row = g->a_row;
  t->a_col = g->a_col;
  t->a_seg = 0;
  t->k = k;
  t->segs = 1;
  t->copy = NULL;
  t->next = NULL;
}

typedef char bytes16 __attribute__((vector_size(16), aligned(1), may_alias));

/* Short runs, mostly of 24 to 48 bytes: whole vectors, the last of which overlaps. */
static void copy_run(char *to, const char *from, int64_t bytes) {
  if (bytes < 16 || bytes > 48) {
    memcpy(to, from, (size_t)bytes);
    return;
  }
  *(bytes16 *)to = *(const bytes16 *)from;
  if (bytes > 32) *(bytes16 *)(to + 16) = *(const bytes16 *)(from + 16);
  *(bytes16 *)(to + bytes - 16) = *(const bytes16 *)(from + bytes - 16);
}

/* Copies the tiles' rows into `room`, where their addresses would fight for the cache: whole rows a
 * power of two apart, or one short run from each page. */
static void gather_rows(const cpu_gemm *g, size_t size, cpu_tile *t, const int64_t *rows,
                        int64_t tiles, int64_t k, char *room, int64_t room_tile) {
  const int64_t bytes = (int64_t)size;
  if (g->a_col == 1 && (g->a_row * bytes) % ALIAS_BYTES == 0) {
    for (int64_t i = 0; i < tiles; i++, room += room_tile) {
      const int64_t step = k + 16;
      for (int64_t r = 0; r < rows[i]; r++)
        memcpy(room + r * step * bytes, (const char *)t[i].a + r * g->a_row * bytes,
               (size_t)(k * bytes));
      t[i].a = room;
      t[i].a_row = step;
    }
  } else if (g->a_row == 1 && g->a_col * bytes >= 1024) {
    const char *a = (const char *)t[0].a;
    for (int64_t j = 0; j < k; j++) {
      const char *from = a + j * g->a_col * bytes;
      for (int64_t i = 0; i < tiles; i++) {
        copy_run(room + i * room_tile + j * rows[i] * bytes, from, rows[i] * bytes);
        from += rows[i] * bytes;
      }
    }
    for (int64_t i = 0; i < tiles; i++) {
      t[i].a = room + i * room_tile;
      t[i].a_col = rows[i];
    }
  }
}

/* ----------------------------------------------------------------------------------- one thread */

static void zero_rows(const cpu_gemm *g, size_t size) {
  for (int64_t i = 0; i < g->m; i++)
    memset((char *)g->c + (size_t)(i * g->c_row) * size, 0, (size_t)g->n * size);
}

/* How the tiles of a panel read its columns. Those that lie side by side are copied by the first tile
 * while it reads them, which costs less than packing; for two tiles not even that pays. */
typedef struct panel {
  const char *b, *next; /* next: the panel that comes after it, or NULL */
  char *packed;
  int64_t b_row, width, next_step;
  int32_t cols, in_place, copies;
} panel;

static panel panel_begin(const cpu_gemm *g, const cpu_kernels *kr, size_t size, int64_t tiles,
                         int64_t from, const char *b, int64_t k, const char *next, char *packed) {
  const int64_t wide = 2 * kr->vector;
  panel p = {.b = b, .packed = packed, .b_row = g->b_row};
  p.width = g->n - from > kr->vector ? wide : kr->vector;
  p.cols = (int32_t)min64(g->n - from, p.width);
  p.in_place = g->b_col == 1 && p.cols == p.width;
  p.copies = p.in_place && p.width == wide && tiles > 2;
  if (g->b_col == 1) p.next = next;
  p.next_step = g->b_row * (int64_t)size;
  if (!p.in_place) cpu_pack(size, b, g->b_row, g->b_col, k, p.cols, p.width, packed);
  return p;
}

/* For the i-th tile, in their order. */
static void panel_tile(const panel *p, int64_t i, cpu_tile *t) {
  const int in_place = p->in_place && (i == 0 || !p->copies);
  t->cols = p->cols;
  t->b = in_place ? p->b : p->packed;
  t->b_row = in_place ? p->b_row : p->width;
  t->copy = i == 0 && p->copies ? p->packed : NULL;
  t->next = i < 2 && p->next != NULL ? p->next + i * LINE : NULL;
  t->next_step = p->next_step;
}

void cpu_gemm_serial(const cpu_gemm *g) {
  const size_t size = tfsdk_dtype_size(g->dtype);
  const cpu_kernels *kr = cpu_kernels_of(g->dtype);
  const int64_t width = 2 * kr->vector, tiles = cpu_even_pieces(g->m, kr->rows);
  const int64_t blocks = k_blocks(g->k);
  CPU_ALIGNED(64) char packed[PANEL_BYTES];
  if (g->m == 0 || g->n == 0) return;
  if (g->k == 0 && !g->add) zero_rows(g, size);
  for (int64_t j = 0; j < g->n; j += width)
    for (int64_t block = 0; block < blocks; block++) {
      const int64_t k0 = cpu_even_begin(g->k, blocks, block);
      const int64_t k = cpu_even_begin(g->k, blocks, block + 1) - k0;
      const char *b = at(g->b, k0 * g->b_row + j * g->b_col, size);
      const char *next = block + 1 < blocks ? at(b, k * g->b_row, size) : NULL;
      const panel p = panel_begin(g, kr, size, tiles, j, b, k, next, packed);
      cpu_tile t = {.c_row = g->c_row, .add = g->add || k0 > 0};
      for (int64_t i = 0; i < tiles; i++) {
        const int64_t row = cpu_even_begin(g->m, tiles, i);
        const int64_t rows = cpu_even_begin(g->m, tiles, i + 1) - row;
        take_rows(g, size, row, k0, k, &t);
        panel_tile(&p, i, &t);
        t.c = (char *)g->c + (size_t)(row * g->c_row + j) * size;
        cpu_tile_run(kr, &t, rows);
      }
    }
}

/* ---------------------------------------------------------------------------------- all threads */

typedef struct plan {
  const cpu_gemm *g;
  const cpu_kernels *kr;
  size_t size;
  int64_t panels, tiles;          /* of all columns, of all rows */
  int64_t row_pieces, col_pieces; /* how they are cut for the threads */
  int64_t blocks;                 /* of the whole k, whatever its parts */
  int64_t b0, b1, k0, k;          /* the part that is packed: blocks b0..b1, k's from k0 on */
  char *packed, *rooms;           /* rooms: one of room_bytes for each thread */
  int64_t room_bytes;
  tfsdk_run *finish;      /* who is told of finished rows here, or NULL */
  int fetches;            /* a does not lie in the cache */
  const cpu_gemm *turned; /* the product asked for, of which g is the transpose; or NULL */
} plan;

static void pack_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  const cpu_gemm *g = p->g;
  for (int64_t i = begin; i < end; i++)
    cpu_pack_panel(p->kr, p->size, at(g->b, p->k0 * g->b_row, p->size), g->b_row, g->b_col, p->k,
                   g->n, i, p->k, 0, p->packed);
}

/* Rows r0..r1, columns k0..k0 + k of a. */
static fetch fetch_rows(const plan *p, int64_t r0, int64_t r1, int64_t k0, int64_t k,
                        int64_t times) {
  const cpu_gemm *g = p->g;
  const int64_t size = (int64_t)p->size;
  const char *a = at(g->a, r0 * g->a_row + k0 * g->a_col, p->size);
  if (g->a_col == 1) return fetch_begin(a, g->a_row * size, k * size - 1, r1 - r0, times);
  return fetch_begin(a, g->a_col * size, (r1 - r0) * size - 1, k, times);
}

/* Columns begin..end of a block of c's rows [rows][n] to rows of the turned product. */
static void turn_block(const plan *p, const char *block, int64_t row, int64_t rows, int64_t begin,
                       int64_t end) {
  const cpu_gemm *g = p->turned;
  for (int64_t j = begin; j < end; j++) {
    char *to = (char *)g->c + (size_t)(j * g->c_row + row) * p->size;
    if (p->size == 4) {
      const float *from = (const float *)block + j;
      float *out = (float *)to;
      for (int64_t i = 0; i < rows; i++) out[i] = g->add ? out[i] + from[i * g->m] : from[i * g->m];
    } else {
      const double *from = (const double *)block + j;
      double *out = (double *)to;
      for (int64_t i = 0; i < rows; i++) out[i] = g->add ? out[i] + from[i * g->m] : from[i * g->m];
    }
  }
}

static void run_piece(const plan *p, int64_t ri, int64_t ci, char *room) {
  const cpu_gemm *g = p->g;
  const int64_t t0 = cpu_even_begin(p->tiles, p->row_pieces, ri);
  const int64_t t1 = cpu_even_begin(p->tiles, p->row_pieces, ri + 1);
  const int64_t p0 = cpu_even_begin(p->panels, p->col_pieces, ci);
  const int64_t p1 = cpu_even_begin(p->panels, p->col_pieces, ci + 1);
  const int64_t row0 = cpu_even_begin(g->m, p->tiles, t0);
  const int64_t row1 = cpu_even_begin(g->m, p->tiles, t1);
  const int64_t room_tile = room_elements(p->kr) * (int64_t)p->size;
  char *block_c = room + PIECE_TILES * room_tile;
  const int64_t tiles = t1 - t0;
  int64_t first[PIECE_TILES], rows[PIECE_TILES];
  cpu_tile t[PIECE_TILES];
  for (int64_t i = 0; i < tiles; i++) {
    first[i] = cpu_even_begin(g->m, p->tiles, t0 + i);
    rows[i] = cpu_even_begin(g->m, p->tiles, t0 + i + 1) - first[i];
  }
  for (int64_t b = p->b0; b < p->b1; b++) {
    const int64_t k0 = cpu_even_begin(g->k, p->blocks, b);
    const int64_t k = cpu_even_begin(g->k, p->blocks, b + 1) - k0;
    const int64_t visits = tiles * cpu_even_pieces(p1 - p0, BLOCK_PANELS);
    fetch next = {.runs = 0};
    if (p->fetches && b + 1 < p->b1)
      next = fetch_rows(p, row0, row1, k0 + k, cpu_even_begin(g->k, p->blocks, b + 2) - k0 - k,
                        visits);
    else if (p->fetches && row1 < g->m)
      next = fetch_rows(p, row1, min64(row1 + row1 - row0, g->m), p->k0,
                        cpu_even_begin(g->k, p->blocks, p->b0 + 1) - p->k0, visits);
    for (int64_t i = 0; i < tiles; i++) {
      take_rows(g, p->size, first[i], k0, k, &t[i]);
      t[i].c_row = p->turned ? g->n : g->c_row;
      t[i].add = b > 0 || (g->add && p->turned == NULL);
    }
    if (p1 - p0 > 1) gather_rows(g, p->size, t, rows, tiles, k, room, room_tile);
    for (int64_t q = p0; q < p1; q += BLOCK_PANELS)
      for (int64_t i = 0; i < tiles; i++) {
        char *c = p->turned ? block_c + (size_t)((first[i] - row0) * g->n) * p->size
                            : (char *)g->c + (size_t)(first[i] * g->c_row) * p->size;
        fetch_some(&next);
        cpu_tiles_packed(p->kr, p->size, &t[i], rows[i], g->n, q, min64(q + BLOCK_PANELS, p1),
                         p->packed, p->k, k0 - p->k0, c);
      }
  }
  if (p->turned)
    turn_block(p, block_c, row0, row1 - row0, p0 * 2 * p->kr->vector,
               min64(p1 * 2 * p->kr->vector, g->n));
  else if (p->finish != NULL && p->b1 == p->blocks)
    p->finish->api->finish(p->finish, g->finish_from + row0, g->finish_from + row1);
}

static void pieces_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  char *room = p->rooms + (int64_t)cpu_pool_slot() * p->room_bytes;
  for (int64_t i = begin; i < end; i++) run_piece(p, i % p->row_pieces, i / p->row_pieces, room);
}

/* Tells of all rows, for whom no piece could. */
typedef struct telling {
  tfsdk_run *r;
  int64_t from;
} telling;
static void told_range(void *user, int64_t begin, int64_t end) {
  const telling *t = (const telling *)user;
  t->r->api->finish(t->r, t->from + begin, t->from + end);
}
void cpu_finish_rows(tfsdk_run *r, int64_t from, int64_t rows, int64_t n) {
  telling t = {r, from};
  r->api->par_for(r, rows, 1 + 16384 / (n + 1), told_range, &t);
}

/* Every element is summed in the same order whatever the cut. Whole rows are finished in the cache,
 * but each piece of rows reads all packed columns: fewer pieces when those are many. */
static void cut(plan *p, double work, uint32_t threads) {
  const int64_t want =
      min64((int64_t)(work / (work < 16 * PIECE_WORK ? PIECE_WORK / 3 : PIECE_WORK)) + 1,
            work < 16 * PIECE_WORK ? 16 : MOST_PIECES);
  const int64_t packed = p->g->n * p->k * (int64_t)p->size;
  const int64_t least = packed <= BLOCK_BYTES / 2   ? (work < 20 * PIECE_WORK ? 4 : 1)
                        : packed <= 4 * BLOCK_BYTES ? 2
                                                    : 4;
  p->row_pieces = cpu_even_pieces(p->tiles, PIECE_TILES);
  if (p->row_pieces < want) {
    const int64_t finest = cpu_even_pieces(p->tiles, least);
    p->row_pieces = min64(want, finest > p->row_pieces ? finest : p->row_pieces);
  }
  p->col_pieces = 1;
  if (p->row_pieces < 4 * threads && p->row_pieces < want)
    p->col_pieces =
        min64(cpu_even_pieces(want < MOST_COLS ? want : MOST_COLS, p->row_pieces), p->panels);
}

/* `kept`: the packed columns, or room for them that outlives this product; NULL: nowhere. `filled`:
 * they are there already. */
static tfsdk_status *run_packed(tfsdk_run *r, const cpu_gemm *g, const cpu_gemm *turned, void *kept,
                                int filled) {
  plan p = {.g = g, .kr = cpu_kernels_of(g->dtype), .size = tfsdk_dtype_size(g->dtype)};
  const cpu_gemm *asked = turned ? turned : g;
  const double work = (double)g->m * (double)g->n * (double)g->k;
  const uint32_t threads = cpu_run_threads(r);
  int64_t width = cpu_pack_width(p.kr, g->n), part, grain, packed_bytes;
  void *scratch;
  p.turned = turned;
  p.panels = cpu_pack_panels(p.kr, g->n);
  p.tiles = cpu_even_pieces(g->m, p.kr->rows);
  p.blocks = k_blocks(g->k);
  part = PACKED_BYTES / (width * (int64_t)p.size) / CPU_GEMM_KC;
  if (part < 1) part = 1;
  if (part > p.blocks || turned || kept) part = p.blocks;
  p.k = min64(part * CPU_GEMM_KC, g->k);
  cut(&p, work, threads);
  p.fetches =
      g->k * (int64_t)p.size > 512 && (double)g->m * (double)g->k * (double)p.size > BLOCK_BYTES;
  if (asked->finish && !turned && p.col_pieces == 1) p.finish = r;
  packed_bytes = kept ? 0 : (p.k * width * (int64_t)p.size + 4095) / 4096 * 4096;
  p.room_bytes =
      PIECE_TILES * (room_elements(p.kr) + (turned ? p.kr->rows * g->n : 0)) * (int64_t)p.size;
  TFSDK_TRY(
      r->api->workspace(r, (size_t)(packed_bytes + p.room_bytes * (int64_t)threads), &scratch));
  p.packed = (char *)(kept ? kept : scratch);
  p.rooms = (char *)scratch + packed_bytes;
  grain = (int64_t)(PIECE_WORK / 3 / (work / (double)(p.row_pieces * p.col_pieces) + 1)) + 1;
  for (; p.b0 < p.blocks; p.b0 = p.b1) {
    p.b1 = min64(p.b0 + part, p.blocks);
    p.k0 = cpu_even_begin(g->k, p.blocks, p.b0);
    p.k = cpu_even_begin(g->k, p.blocks, p.b1) - p.k0;
    if (!filled)
      r->api->par_for(r, p.panels, 1 + PACK_GRAIN / (p.k * 2 * p.kr->vector), pack_range, &p);
    r->api->par_for(r, p.row_pieces * p.col_pieces, grain, pieces_range, &p);
  }
  if (asked->finish && p.finish == NULL) cpu_finish_rows(r, asked->finish_from, asked->m, asked->n);
  return NULL;
}

/* Few rows: each piece takes some panels of columns and packs them itself. */

static void column_piece(const plan *p, int64_t piece, char *room) {
  const cpu_gemm *g = p->g;
  const int64_t p0 = cpu_even_begin(p->panels, p->col_pieces, piece);
  const int64_t p1 = cpu_even_begin(p->panels, p->col_pieces, piece + 1);
  const int64_t room_tile = room_elements(p->kr) * (int64_t)p->size, wide = 2 * p->kr->vector;
  int64_t first[COLUMN_TILES], rows[COLUMN_TILES];
  cpu_tile t[COLUMN_TILES];
  CPU_ALIGNED(64) char packed[PANEL_BYTES];
  for (int64_t i = 0; i < p->tiles; i++) {
    first[i] = cpu_even_begin(g->m, p->tiles, i);
    rows[i] = cpu_even_begin(g->m, p->tiles, i + 1) - first[i];
  }
  for (int64_t block = 0; block < p->blocks; block++) {
    const int64_t k0 = cpu_even_begin(g->k, p->blocks, block);
    const int64_t k = cpu_even_begin(g->k, p->blocks, block + 1) - k0;
    const char *b = at(g->b, k0 * g->b_row, p->size);
    for (int64_t i = 0; i < p->tiles; i++) {
      take_rows(g, p->size, first[i], k0, k, &t[i]);
      t[i].c_row = g->c_row;
      t[i].add = block > 0 || g->add;
    }
    if (p1 - p0 > 1) gather_rows(g, p->size, t, rows, p->tiles, k, room, room_tile);
    for (int64_t q = p0; q < p1; q++) {
      const char *next = q + 1 < p1 ? at(b, (q + 1) * wide * g->b_col, p->size)
                         : block + 1 < p->blocks
                             ? at(b, k * g->b_row + p0 * wide * g->b_col, p->size)
                             : NULL;
      const panel columns = panel_begin(g, p->kr, p->size, p->tiles, q * wide,
                                        at(b, q * wide * g->b_col, p->size), k, next, packed);
      for (int64_t i = 0; i < p->tiles; i++) {
        panel_tile(&columns, i, &t[i]);
        t[i].c = (char *)g->c + (size_t)(first[i] * g->c_row + q * wide) * p->size;
        cpu_tile_run(p->kr, &t[i], rows[i]);
      }
    }
  }
}
static void columns_range(void *user, int64_t begin, int64_t end) {
  const plan *p = (const plan *)user;
  char *room = p->rooms + (int64_t)cpu_pool_slot() * p->room_bytes;
  for (int64_t i = begin; i < end; i++) column_piece(p, i, room);
}

static tfsdk_status *run_columns(tfsdk_run *r, const cpu_gemm *g, double work) {
  plan p = {.g = g, .kr = cpu_kernels_of(g->dtype), .size = tfsdk_dtype_size(g->dtype)};
  const int64_t threads = cpu_run_threads(r), most = (int64_t)(work / (PIECE_WORK / 4)) + 1;
  void *rooms;
  p.panels = cpu_pack_panels(p.kr, g->n);
  p.tiles = cpu_even_pieces(g->m, p.kr->rows);
  p.blocks = k_blocks(g->k);
  p.col_pieces = min64(p.panels, 2 * threads);
  if (p.panels > PIECE_PANELS * p.col_pieces)
    p.col_pieces = cpu_even_pieces(cpu_even_pieces(p.panels, PIECE_PANELS), threads) * threads;
  p.col_pieces = min64(p.col_pieces, most);
  p.room_bytes = p.tiles * room_elements(p.kr) * (int64_t)p.size;
  TFSDK_TRY(r->api->workspace(r, (size_t)(p.room_bytes * threads), &rooms));
  p.rooms = (char *)rooms;
  r->api->par_for(r, p.col_pieces, 1, columns_range, &p);
  return NULL;
}

/* One row or column at a time, both operands along k: sums of products. */
CPU_CLONES static float dot_f32(const float *a, const float *b, int64_t n) {
  float lane[16] = {0}, sum = 0;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int j = 0; j < 16; j++) lane[j] += a[i + j] * b[i + j];
  for (; i < n; i++) sum += a[i] * b[i];
  for (int j = 0; j < 16; j++) sum += lane[j];
  return sum;
}
CPU_CLONES static double dot_f64(const double *a, const double *b, int64_t n) {
  double lane[8] = {0}, sum = 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; j++) lane[j] += a[i + j] * b[i + j];
  for (; i < n; i++) sum += a[i] * b[i];
  for (int j = 0; j < 8; j++) sum += lane[j];
  return sum;
}

static void dots_range(void *user, int64_t begin, int64_t end) {
  const cpu_gemm *g = (const cpu_gemm *)user;
  for (int64_t i = begin; i < end; i++) {
    int64_t row = i / g->n, col = i % g->n, o = row * g->c_row + col;
    if (g->dtype == TFSDK_FLOAT32) {
      float s =
          dot_f32((const float *)g->a + row * g->a_row, (const float *)g->b + col * g->b_col, g->k);
      ((float *)g->c)[o] = g->add ? ((float *)g->c)[o] + s : s;
    } else {
      double s = dot_f64((const double *)g->a + row * g->a_row,
                         (const double *)g->b + col * g->b_col, g->k);
      ((double *)g->c)[o] = g->add ? ((double *)g->c)[o] + s : s;
    }
  }
}

static cpu_gemm transpose_of(const cpu_gemm *g) {
  cpu_gemm t = *g;
  t.m = g->n, t.n = g->m;
  t.a = g->b, t.a_row = g->b_col, t.a_col = g->b_row;
  t.b = g->a, t.b_row = g->a_col, t.b_col = g->a_row;
  return t;
}

/* By one of the other drivers; which depends on the sizes alone. */
static tfsdk_status *run_unkept(tfsdk_run *r, const cpu_gemm *g) {
  const cpu_kernels *kr = cpu_kernels_of(g->dtype);
  const int64_t tiles = cpu_even_pieces(g->m, kr->rows), panels = cpu_pack_panels(kr, g->n);
  if (g->b_row == 1 && g->b_col != 1 && g->m <= TURNED_COLS && g->n >= 4 * g->m && g->k >= g->m &&
      cpu_pack_width(kr, g->m) * 4 <= g->m * 5) {
    /* the wide matrix lies along k: it is read where it is as the rows of the transposed product
     * (unless turning the result moves more than packing it would) */
    const cpu_gemm t = transpose_of(g);
    return run_packed(r, &t, g, NULL, 0);
  }
  if (g->b_col == 1 && panels >= 8 && tiles <= COLUMN_TILES)
    TFSDK_TRY(run_columns(r, g, (double)g->m * (double)g->n * (double)g->k));
  else if (!cpu_gemm_library(r, g))
    return run_packed(r, g, NULL, NULL, 0);
  if (g->finish) cpu_finish_rows(r, g->finish_from, g->m, g->n);
  return NULL;
}

/* With columns that stay packed, where that counts. */
static tfsdk_status *run_large(tfsdk_run *r, const cpu_gemm *g) {
  const size_t bytes =
      (size_t)(g->k * cpu_pack_width(cpu_kernels_of(g->dtype), g->n)) * tfsdk_dtype_size(g->dtype);
  cpu_keep *keep = r->device != NULL ? ((const tfsdk_dev *)r->device)->keep : NULL;
  void *kept = NULL;
  tfsdk_status *s;
  int must_fill;
  /* (not where another way sums in another order: the library, which may take it when we have no
   * vectors of our own, and a turned product that is added) */
  if (keep != NULL && !g->add && g->b_stamp != 0 && g->m <= KEPT_ROWS &&
      g->n * g->k >= KEPT_LEAST && cpu_isa() != CPU_ISA_GENERIC)
    kept = cpu_keep_begin(keep, g, bytes, &must_fill);
  if (kept == NULL) return run_unkept(r, g);
  s = run_packed(r, g, NULL, kept, !must_fill);
  cpu_keep_end(keep, kept, s == NULL);
  return s;
}

tfsdk_status *cpu_gemm_run(tfsdk_run *r, const cpu_gemm *whole) {
  cpu_gemm g = *whole;
  const double work = (double)g.m * (double)g.n * (double)g.k;
  if (g.m == 1) g.a_row = g.k; /* strides that are never taken need not look odd */
  if (g.n == 1) g.b_col = g.b_row == 1 ? g.k : 1;
  if (g.a_col == 1 && g.b_row == 1 && (g.m <= 2 || g.n == 1) && g.k >= 16) {
    r->api->par_for(r, g.m * g.n, (int64_t)(PIECE_WORK / 8 / (double)g.k) + 1, dots_range, &g);
  } else if (g.n == 1 && g.a_row == 1 && g.c_row == 1) { /* the transposed product has one row */
    g = transpose_of(&g);
    g.a_row = g.k, g.c_row = g.n;
    if (work < PIECE_WORK)
      cpu_gemm_serial(&g);
    else
      TFSDK_TRY(run_columns(r, &g, work));
  } else if (work < PIECE_WORK) {
    cpu_gemm_serial(&g);
  } else {
    return run_large(r, &g);
  }
  if (whole->finish) cpu_finish_rows(r, whole->finish_from, whole->m, whole->n);
  return NULL;
}
