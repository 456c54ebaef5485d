/* Computing a group: see group.h. */
#include "group.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TILE       2048 /* elements: with what is computed from them they fit the first-level cache */
#define VIEWS      64   /* operands of a group whose views are kept from tile to tile */
#define ROOM       65536 /* bytes of scratch, on the stack */
#define SHARE_WORK 32768 /* element operations below which threads do not pay */

typedef struct tile_run {
  tfsdk_run base; /* first */
  const tfsdk__member *member;
} tile_run;

/* ----------------------------------------------------------- what a kernel may ask for in a tile */

static tfsdk_status *refuse(tfsdk_run *r, const char *what) {
  return TFSDK_FAIL(r, INTERNAL, "an element-wise kernel asks for %s", what);
}
static tfsdk_status *tile_alloc(tfsdk_run *r, uint32_t i, uint32_t rank, const int64_t *dim) {
  (void)rank;
  (void)dim;
  return i == 0 ? NULL : refuse(r, "a second output");
}
static tfsdk_status *tile_strings(tfsdk_run *r, uint32_t i, uint32_t rank, const int64_t *dim,
                                  uint64_t bytes) {
  (void)i;
  (void)rank;
  (void)dim;
  (void)bytes;
  return refuse(r, "strings");
}
static tfsdk_status *tile_forward(tfsdk_run *r, uint32_t i, uint32_t o) {
  if (r->in[i].byte_size != r->out[o].byte_size) return refuse(r, "a tensor of another size");
  memmove(r->out[o].data, r->in[i].data, r->out[o].byte_size);
  return NULL;
}
static tfsdk_status *tile_forward_attr(tfsdk_run *r, const tfsdk_attrval *a, uint32_t o) {
  (void)a;
  (void)o;
  return refuse(r, "an attribute's tensor");
}
static tfsdk_status *tile_workspace(tfsdk_run *r, size_t bytes, void **out) {
  (void)bytes;
  *out = NULL;
  return refuse(r, "a workspace");
}
static void tile_par_for(tfsdk_run *r, int64_t n, int64_t grain, tfsdk_range_fn *fn, void *user) {
  (void)r;
  (void)grain;
  if (n > 0) fn(user, 0, n);
}
static tfsdk_status *tile_rng(tfsdk_run *r, uint64_t blocks, uint32_t key[2], uint64_t *counter) {
  (void)blocks;
  (void)key;
  (void)counter;
  return refuse(r, "random numbers");
}
static int32_t tile_no(tfsdk_run *r) {
  (void)r;
  return 0;
}
static tfsdk_status *tile_var(tfsdk_run *r, uint32_t i, tfsdk_view *out) {
  (void)i;
  (void)out;
  return refuse(r, "a variable");
}
static tfsdk_status *tile_var2(tfsdk_run *r, uint32_t i, uint32_t o) {
  (void)i;
  (void)o;
  return refuse(r, "a variable");
}
static int32_t tile_var_no(tfsdk_run *r, uint32_t i) {
  (void)r;
  (void)i;
  return 0;
}
static tfsdk_status *tile_handle(tfsdk_run *r, const char *name, int32_t dtype,
                                 const tfsdk_shape *shape, uint32_t o) {
  (void)name;
  (void)dtype;
  (void)shape;
  (void)o;
  return refuse(r, "a variable");
}
static void tile_print(tfsdk_run *r, const char *line) {
  (void)r;
  (void)line;
}
static const char *tile_name(tfsdk_run *r) { return ((tile_run *)r)->member->name; }
static void tile_finish(tfsdk_run *r, int64_t begin, int64_t end) {
  (void)r;
  (void)begin;
  (void)end;
}
static const void *tile_supply(tfsdk_run *r, int64_t begin, int64_t end, void *room) {
  (void)r;
  (void)begin;
  (void)end;
  return room;
}

static const tfsdk_run_api tile_api = {sizeof(tfsdk_run_api),
                                       0,
                                       tile_alloc,
                                       tile_strings,
                                       tile_forward,
                                       tile_forward_attr,
                                       tile_workspace,
                                       tile_par_for,
                                       tile_rng,
                                       tile_no,
                                       tile_var,
                                       tile_var,
                                       tile_var2,
                                       tile_var2,
                                       tile_var_no,
                                       tile_handle,
                                       tile_print,
                                       tile_name,
                                       tile_finish,
                                       tile_supply};

/* -------------------------------------------------------------------------------------- one tile */

typedef struct tile {
  const tfsdk__group *g;
  char *room;
  char *supply; /* where element `supply_from` of what the group supplies goes */
  int64_t supply_from;
  int64_t row, rows, col, cols;
  int64_t full_dim[2];
  tfsdk_view *view; /* the members' operands as the tile before had them; NULL: they are too many */
  int64_t seen_rows, seen_cols; /* its extents */
} tile;

/* Where a view begins in this tile, if that is not the same in each. */
static inline void move_view(const tile *t, const tfsdk__operand *o, tfsdk_view *v) {
  const tfsdk__group *g = t->g;
  if (o->kind == TFSDK__OPERAND_WHOLE)
    v->data = (char *)g->data[o->at] + (t->row * g->cols + t->col) * o->size;
  else if (o->kind == TFSDK__OPERAND_SUPPLY)
    v->data = t->supply + (t->row * g->cols + t->col - t->supply_from) * o->size;
  else if (t->rows == 1 && o->kind == TFSDK__OPERAND_ROW)
    v->data = (char *)g->data[o->at] + t->col * o->size;
  else if (t->rows == 1 && o->kind == TFSDK__OPERAND_COLUMN)
    v->data = (char *)g->data[o->at] + t->row * o->size;
}

static void view_of(const tile *t, const tfsdk__operand *o, tfsdk_view *v) {
  static const int64_t none = 1;
  const bool spread =
      t->rows > 1 && (o->kind == TFSDK__OPERAND_ROW || o->kind == TFSDK__OPERAND_COLUMN);
  int64_t n = t->rows * t->cols;
  v->dtype = o->dtype;
  v->flags = 0;
  v->stamp = 0;
  v->rank = t->rows == 1 ? 1 : 2;
  v->dim = t->rows == 1 ? t->full_dim + 1 : t->full_dim;
  switch (spread ? TFSDK__OPERAND_SCRATCH : o->kind) {
  case TFSDK__OPERAND_WHOLE:
    v->data = (char *)t->g->data[o->at] + (t->row * t->g->cols + t->col) * o->size;
    break;
  case TFSDK__OPERAND_SCRATCH:
    v->data = t->room + (size_t)(spread ? o->spread : o->at) * t->g->scratch_bytes;
    break;
  case TFSDK__OPERAND_SUPPLY:
    v->data = t->supply + (t->row * t->g->cols + t->col - t->supply_from) * o->size;
    break;
  case TFSDK__OPERAND_ROW: v->data = (char *)t->g->data[o->at] + t->col * o->size; break;
  case TFSDK__OPERAND_SHAPE:
    v->data = NULL;
    v->flags = TFSDK_VIEW_SHAPE_ONLY;
    break;
  default: /* SCALAR, and COLUMN of one row */
    v->data = (char *)t->g->data[o->at] + (o->kind == TFSDK__OPERAND_COLUMN ? t->row * o->size : 0);
    v->rank = 0;
    v->dim = &none;
    n = 1;
  }
  v->n_elem = n;
  v->byte_size = (uint64_t)n * o->size;
}

/* Rows are repeated; each element of a column fills its row. */
static void spread_row(const tile *t, const tfsdk__operand *o) {
  size_t row = (size_t)(t->cols * o->size), all = (size_t)t->rows * row;
  char *to = t->room + (size_t)o->spread * t->g->scratch_bytes;
  memcpy(to, (char *)t->g->data[o->at] + t->col * o->size, row);
  for (size_t done = row; done < all; done *= 2)
    memcpy(to + done, to, done < all - done ? done : all - done);
}
#define SPREAD_COLUMN(type)                                                                        \
  for (int64_t r = 0; r < t->rows; r++) {                                                          \
    type *row = (type *)(void *)to + r * t->cols, v = ((const type *)from)[r];                     \
    for (int64_t i = 0; i < t->cols; i++) row[i] = v;                                              \
  }                                                                                                \
  break
static void spread_column(const tile *t, const tfsdk__operand *o) {
  char *to = t->room + (size_t)o->spread * t->g->scratch_bytes;
  const void *from = (char *)t->g->data[o->at] + t->row * o->size;
  switch (o->size) {
  case 1: SPREAD_COLUMN(uint8_t);
  case 2: SPREAD_COLUMN(uint16_t);
  case 4: SPREAD_COLUMN(uint32_t);
  default: SPREAD_COLUMN(uint64_t);
  }
}

static void spread(const tile *t, uint8_t kind) {
  for (uint32_t i = 0; t->rows > 1 && i < t->g->n_spread; i++) {
    const tfsdk__operand *o = &t->g->spread[i];
    if (o->kind != kind) continue;
    if (kind == TFSDK__OPERAND_ROW)
      spread_row(t, o);
    else
      spread_column(t, o);
  }
}

static void keep_error(const tfsdk__group *g, tfsdk_status *s, const tfsdk__member *m) {
  tfsdk_status *none = NULL;
  tfsdk__status_add(s, "op", "%s", m->op->name);
  tfsdk__status_add(s, "node", "%s", m->name);
  if (!atomic_compare_exchange_strong(g->error, &none, s)) tfsdk_status_release(s);
}

#ifdef __SSE2__
static void stream(char *to, const char *from, size_t n) {
  size_t head = (uintptr_t)to % 16 ? 16 - (uintptr_t)to % 16 : 0;
  if (head > n) head = n;
  memcpy(to, from, head);
  to += head, from += head, n -= head;
  for (; n >= 64; n -= 64, to += 64, from += 64)
    for (int i = 0; i < 4; i++)
      _mm_stream_si128((__m128i *)(void *)to + i,
                       _mm_loadu_si128((const __m128i *)(const void *)from + i));
  memcpy(to, from, n);
}
static void stream_done(void) { _mm_sfence(); }
#else
static void stream(char *to, const char *from, size_t n) { memcpy(to, from, n); }
static void stream_done(void) {}
#endif

/* The k-th share of what the next tile reads from memory is asked for while this one is computed. */
static void prefetch(const tile *t, uint32_t k) {
  const tfsdk__group *g = t->g;
  int64_t next = t->row * g->cols + t->col + t->rows * t->cols, n = t->rows * t->cols;
  if (next + n > g->rows * g->cols) return;
  int64_t begin = next + n * k / g->n_members, end = next + n * (k + 1) / g->n_members;
  for (uint32_t i = 0; i < g->n_fetch; i++) {
    const tfsdk__operand *o = &g->fetch[i];
    const char *p = (char *)g->data[o->at] + begin * o->size;
    for (const char *last = p + (end - begin) * o->size; p < last; p += 64)
      __builtin_prefetch(p, 0, 2);
  }
}

static void compute_tile(tile *t) {
  const tfsdk__group *g = t->g;
  tfsdk_view room[TFSDK__GROUP_INPUTS + 1], *view = t->view ? t->view : room;
  const bool same = t->view != NULL && t->rows == t->seen_rows && t->cols == t->seen_cols;
  tile_run r;
  r.base.api = &tile_api;
  r.base.n_out = 1;
  r.base.stream = NULL;
  t->full_dim[0] = t->rows;
  t->full_dim[1] = t->cols;
  t->seen_rows = t->rows;
  t->seen_cols = t->cols;
  for (uint32_t k = 0; k < g->n_members; k++) {
    const tfsdk__member *m = &g->member[k];
    tfsdk_view *out = view + m->n_in;
    r.base.in = view;
    r.base.out = out;
    r.base.host = m->host;
    r.base.op = m->op;
    r.base.n_in = m->n_in;
    r.base.attr = m->attr;
    r.base.device = m->device;
    r.member = m;
    if (g->n_fetch > 0) prefetch(t, k);
    for (uint32_t i = 0; i <= m->n_in; i++) {
      const tfsdk__operand *o = i < m->n_in ? &m->in[i] : &m->out;
      if (same)
        move_view(t, o, &view[i]);
      else
        view_of(t, o, &view[i]);
    }
    tfsdk_status *s = m->kernel->compute(m->state, &r.base);
    if (s != NULL) keep_error(g, s, m);
    if (m->stream != 0)
      stream((char *)g->data[m->stream - 1] + (t->row * g->cols + t->col) * m->out.size, out->data,
             out->byte_size);
    if (t->view != NULL) view = out + 1;
  }
}

/* Rows and columns in pieces of at most a tile; `supply`: where the first supplied element goes. */
static void compute_supply(const tfsdk__group *g, int64_t row, int64_t end_row, int64_t col,
                           int64_t end_col, char *supply) {
  _Alignas(64) char room[ROOM];
  tfsdk_view view[VIEWS];
  tile t;
  t.view = g->n_views <= VIEWS ? view : NULL;
  t.seen_rows = t.seen_cols = 0;
  t.g = g;
  t.room = room;
  t.supply = supply;
  t.supply_from = row * g->cols + col;
  int64_t cols = end_col - col;
  if (cols <= 0) return;
  int64_t step = cols >= g->tile ? 1 : g->tile / cols;
  t.row = row;
  t.rows = end_row - row < step ? end_row - row : step;
  t.col = col;
  t.cols = cols;
  spread(&t, TFSDK__OPERAND_ROW); /* once: every tile begins at the same column */
  for (; row < end_row; row += step) {
    t.row = row;
    t.rows = end_row - row < step ? end_row - row : step;
    if (step > 1 || cols <= g->tile) {
      spread(&t, TFSDK__OPERAND_COLUMN);
      compute_tile(&t);
    } else {
      for (int64_t c = col; c < end_col; c += g->tile) {
        t.col = c;
        t.cols = end_col - c < g->tile ? end_col - c : g->tile;
        compute_tile(&t);
      }
    }
  }
  if (g->streams) stream_done();
}

static void compute_range(const tfsdk__group *g, int64_t row, int64_t end_row, int64_t col,
                          int64_t end_col) {
  compute_supply(g, row, end_row, col, end_col, NULL);
}

const void *tfsdk__group_supply(const tfsdk__group *g, int64_t begin, int64_t end, void *room) {
  const tfsdk__operand *o = g->supply;
  char *to = room;
  int64_t at = begin;
  while (at < end) { /* the rest of a row, whole rows, the beginning of a row */
    int64_t row = at / g->cols, col = at % g->cols, next, rows = 1, cols = g->cols - col;
    if (col == 0 && end - at >= g->cols) rows = (end - at) / g->cols;
    if (cols > end - at) cols = end - at;
    next = at + rows * cols;
    compute_supply(g, row, row + rows, col, col + cols, to + (at - begin) * o->size);
    at = next;
  }
  return o->kind == TFSDK__OPERAND_SUPPLY ? room : (char *)g->data[o->at] + begin * o->size;
}

void tfsdk__group_rows(const tfsdk__group *g, int64_t begin, int64_t end) {
  if (g->rows == 1)
    compute_range(g, 0, 1, begin * g->row_length, end * g->row_length);
  else
    compute_range(g, begin, end, 0, g->cols);
}

static void some_elements(void *user, int64_t begin, int64_t end) {
  compute_range(user, 0, 1, begin, end);
}
static void some_rows(void *user, int64_t begin, int64_t end) {
  const tfsdk__group *g = user;
  compute_range(g, begin, end, 0, g->cols);
}

static void run_ready(const tfsdk__group *g);

void tfsdk__group_run(const tfsdk__group *g, tfsdk__device *d) {
  if (g->ready != NULL) {
    run_ready(g);
    return;
  }
  int64_t n = g->rows == 1 ? g->cols : g->rows, each = g->rows == 1 ? 1 : g->cols;
  int64_t grain = SHARE_WORK / (g->n_members * (each > 0 ? each : 1));
  tfsdk_range_fn *fn = g->rows == 1 ? some_elements : some_rows;
  if (grain < 1) grain = 1;
  if (g->rows == 1) grain = (grain + 63) / 64 * 64;
  if (n > grain && d->driver != NULL && d->driver->def.par_for != NULL)
    d->driver->def.par_for(d->dev, n, grain, fn, (void *)(uintptr_t)g);
  else
    fn((void *)(uintptr_t)g, 0, n);
}

/* ---------------------------------------------------------------------------- groups of one tile */

/* Calls that differ in their data alone share what a kernel is given otherwise: a long chain of
 * small tensors streams some 70 bytes a member from memory. */
typedef struct shared_call {
  struct shared_call *next; /* an earlier one */
  tile_run run;
  tfsdk_view view[TFSDK__GROUP_INPUTS + 1]; /* inputs, output */
} shared_call;

typedef struct ready_call {
  tfsdk_status *(*compute)(void *state, tfsdk_run *r);
  void *state;
  const tfsdk__member *member;
  shared_call *shared;
  tfsdk_attrs attr;
} ready_call;

typedef struct tfsdk__ready {
  tile t;
  ready_call *call; /* by member */
  shared_call *shared;
  uint32_t n_views;
  void **data;      /* by view: the members' inputs and outputs, one after another */
  void **seen;      /* by tensor: where `data` shows it */
  uint32_t *tensor; /* by view: the tensor; UINT32_MAX: none */
} ready;

static bool same_view(const tfsdk_view *a, const tfsdk_view *b) {
  return a->dim == b->dim && a->n_elem == b->n_elem && a->byte_size == b->byte_size &&
         a->dtype == b->dtype && a->rank == b->rank && a->flags == b->flags;
}

/* The call of a kernel on these views, made if there is none yet. Only the last few are looked at:
 * members of one kind follow each other. */
static shared_call *share_call(tfsdk_runtime *rt, ready *r, const tfsdk__member *m,
                               const tfsdk_view *view) {
  int looked_at = 0;
  for (shared_call *c = r->shared; c != NULL && looked_at < 16; c = c->next, looked_at++) {
    bool same = c->run.base.op == m->op && c->run.base.host == m->host &&
                c->run.base.device == m->device && c->run.base.n_in == m->n_in;
    for (uint32_t i = 0; same && i <= m->n_in; i++) same = same_view(&c->view[i], &view[i]);
    if (same) return c;
  }
  shared_call *c = tfsdk__zalloc(rt, sizeof *c);
  if (c == NULL) return NULL;
  c->next = r->shared;
  r->shared = c;
  memcpy(c->view, view, (m->n_in + 1) * sizeof *view);
  c->run.base = (tfsdk_run){.host = m->host,
                            .api = &tile_api,
                            .op = m->op,
                            .n_in = m->n_in,
                            .n_out = 1,
                            .in = c->view,
                            .out = &c->view[m->n_in],
                            .device = m->device};
  return c;
}

tfsdk_status *tfsdk__group_prepare(tfsdk_runtime *rt, tfsdk__group *g) {
  uint32_t views = 0, scratch = 0, at = 0;
  if (g->rows * g->cols > g->tile) return NULL;
  for (uint32_t k = 0; k < g->n_members; k++) views += g->member[k].n_in + 1;
  for (uint32_t k = 0; k < g->n_members; k++)
    for (uint32_t i = 0; i <= g->member[k].n_in; i++) {
      const tfsdk__operand *o = i < g->member[k].n_in ? &g->member[k].in[i] : &g->member[k].out;
      if (o->kind == TFSDK__OPERAND_SCRATCH && o->at + 1u > scratch) scratch = o->at + 1u;
      if (o->spread + 1u > scratch && g->n_spread > 0) scratch = o->spread + 1u;
    }
  ready *r = tfsdk__zalloc(rt, sizeof *r + g->n_members * sizeof *r->call +
                                   views * (sizeof *r->data + sizeof *r->tensor) +
                                   (g->n_tensors + 1) * sizeof *r->seen);
  if (r == NULL) return TFSDK__NOMEM(rt);
  g->ready = r;
  r->call = (ready_call *)(void *)(r + 1);
  r->data = (void **)(void *)(r->call + g->n_members);
  r->seen = r->data + views;
  r->tensor = (uint32_t *)(void *)(r->seen + g->n_tensors + 1);
  r->n_views = views;
  r->t.g = g;
  r->t.room = tfsdk__alloc(rt, (size_t)scratch * g->scratch_bytes + 1);
  if (r->t.room == NULL) return TFSDK__NOMEM(rt);
  r->t.rows = g->rows;
  r->t.cols = g->cols;
  r->t.full_dim[0] = g->rows;
  r->t.full_dim[1] = g->cols;
  for (uint32_t k = 0; k < g->n_members; k++) {
    const tfsdk__member *m = &g->member[k];
    tfsdk_view view[TFSDK__GROUP_INPUTS + 1];
    for (uint32_t i = 0; i <= m->n_in; i++, at++) {
      const tfsdk__operand *o = i < m->n_in ? &m->in[i] : &m->out;
      bool spread_out =
          g->rows > 1 && (o->kind == TFSDK__OPERAND_ROW || o->kind == TFSDK__OPERAND_COLUMN);
      view_of(&r->t, o, &view[i]);
      r->data[at] = view[i].data;
      r->tensor[at] =
          o->kind == TFSDK__OPERAND_SCRATCH || o->kind == TFSDK__OPERAND_SHAPE || spread_out
              ? UINT32_MAX
              : o->at;
    }
    shared_call *c = share_call(rt, r, m, view);
    if (c == NULL) return TFSDK__NOMEM(rt);
    r->call[k] = (ready_call){m->kernel->compute, m->state, m, c, m->attr};
  }
  return NULL;
}

void tfsdk__group_unprepare(tfsdk_runtime *rt, tfsdk__group *g) {
  if (g->ready == NULL) return;
  for (shared_call *c = g->ready->shared, *next; c != NULL; c = next) {
    next = c->next;
    tfsdk__free(rt, c);
  }
  tfsdk__free(rt, g->ready->t.room);
  tfsdk__free(rt, g->ready);
}

static void run_ready(const tfsdk__group *g) {
  ready *r = g->ready;
  bool moved = false;
  for (uint32_t i = 0; i < g->n_tensors; i++) moved = moved || r->seen[i] != g->data[i];
  if (moved) {
    for (uint32_t i = 0; i < r->n_views; i++)
      if (r->tensor[i] != UINT32_MAX) r->data[i] = g->data[r->tensor[i]];
    memcpy(r->seen, g->data, g->n_tensors * sizeof *r->seen);
  }
  spread(&r->t, TFSDK__OPERAND_ROW);
  spread(&r->t, TFSDK__OPERAND_COLUMN);
  void **data = r->data;
  for (uint32_t k = 0; k < g->n_members; k++) {
    const ready_call *c = &r->call[k];
    shared_call *to = c->shared;
    to->run.member = c->member;
    to->run.base.attr = c->attr;
    for (uint32_t i = 0; i <= to->run.base.n_in; i++) to->view[i].data = *data++;
    tfsdk_status *s = c->compute(c->state, &to->run.base);
    if (s != NULL) keep_error(g, s, c->member);
  }
}

void tfsdk__group_size(tfsdk__group *g, uint32_t n_scratch, uint32_t size) {
  int64_t elements = TILE;
  if (n_scratch > 0 && elements * (int64_t)(n_scratch * size) > ROOM)
    elements = ROOM / (int64_t)(n_scratch * size);
  if (elements > 64) elements -= elements % 64;
  g->tile = elements;
  g->scratch_bytes = (uint32_t)elements * size;
}

int tfsdk__operand_kind(const tfsdk_shape *domain, const tfsdk_shape *operand, int64_t *out_cols) {
  int32_t lead = domain->rank - operand->rank, first = 0, last = domain->rank;
  int64_t n = tfsdk_shape_elements(operand), inner = 1;
  *out_cols = 0;
  if (n == tfsdk_shape_elements(domain) && lead <= 0) return TFSDK__OPERAND_WHOLE;
  if (n == 1) return TFSDK__OPERAND_SCALAR;
  if (lead < 0) return 0;
#define EXTENT(i) ((i) < lead ? 1 : operand->dim[(i)-lead])
  /* equal in first..last, 1 before (ROW) or behind (COLUMN) */
  while (first < domain->rank && EXTENT(first) == 1) first++;
  while (last > first && EXTENT(last - 1) == 1) last--;
  for (int32_t i = first; i < last; i++)
    if (EXTENT(i) != domain->dim[i]) return 0;
#undef EXTENT
  bool before = true, behind = true; /* nothing but extents of 1 there in the domain, too */
  for (int32_t i = 0; i < first; i++) before = before && domain->dim[i] == 1;
  for (int32_t i = last; i < domain->rank; i++) {
    behind = behind && domain->dim[i] == 1;
    inner *= domain->dim[i];
  }
  if (before && behind) return TFSDK__OPERAND_WHOLE;
  if (behind) {
    *out_cols = n;
    return TFSDK__OPERAND_ROW;
  }
  if (before) {
    *out_cols = inner;
    return TFSDK__OPERAND_COLUMN;
  }
  return 0;
}
