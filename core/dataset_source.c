/* Datasets that stand on nothing: tensors in memory, and functions of the program. */
#include "dataset.h"

/* ---------------------------------------------------------------------------- slices of tensors */

typedef struct tensors {
  tfsdk_dataset base;
  int64_t n_rows;
  tfsdk_tensor **tensor; /* on the host */
} tensors;

typedef struct tensors_link {
  tfsdk__link base;
  int64_t row;
} tensors_link;

static void tensors_release(tfsdk_dataset *d) {
  tensors *t = (tensors *)d;
  for (uint32_t i = 0; t->tensor != NULL && i < d->n; i++) tfsdk_tensor_release(t->tensor[i]);
  tfsdk__free(d->rt, t->tensor);
}

static tfsdk_status *tensors_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  tensors_link *it = (tensors_link *)l;
  *out_end = it->row == ((tensors *)l->d)->n_rows;
  if (!*out_end) out[0].row = it->row++;
  return NULL;
}

static tfsdk_status *tensors_skip(tfsdk__link *l, int64_t n, int64_t *out_skipped) {
  tensors_link *it = (tensors_link *)l;
  int64_t left = ((tensors *)l->d)->n_rows - it->row;
  *out_skipped = n < left ? n : left;
  it->row += *out_skipped;
  return NULL;
}

static tfsdk_status *tensors_rewind(tfsdk__link *l) {
  ((tensors_link *)l)->row = 0;
  return NULL;
}

static const tfsdk__dataset_kind tensors_kind = {.name = "from_tensors",
                                                 .dataset_bytes = sizeof(tensors),
                                                 .link_bytes = sizeof(tensors_link),
                                                 .release = tensors_release,
                                                 .next = tensors_next,
                                                 .rewind = tensors_rewind,
                                                 .skip = tensors_skip};

static const char *label(const tfsdk_dataset *d, uint32_t i, char *room, size_t n) {
  if (d->name[i][0] != 0)
    snprintf(room, n, "'%s'", d->name[i]);
  else
    snprintf(room, n, "%u", i);
  return room;
}

static tfsdk_status *take_tensor(tensors *t, uint32_t i, tfsdk_tensor *x) {
  tfsdk_runtime *rt = t->base.rt;
  char room[100], first[100];
  TFSDK_REQUIRE(rt, x != NULL && x->rt == rt,
                "from_tensors: component %s is no tensor of this runtime",
                label(&t->base, i, room, sizeof room));
  TFSDK_REQUIRE(rt, x->cell == NULL, "from_tensors: component %s is a variable; read it first",
                label(&t->base, i, room, sizeof room));
  TFSDK_REQUIRE(rt, x->rank > 0,
                "from_tensors: component %s is a scalar; slices are taken along axis 0",
                label(&t->base, i, room, sizeof room));
  if (i == 0) t->n_rows = x->dim[0];
  TFSDK_REQUIRE(rt, x->dim[0] == t->n_rows,
                "from_tensors: component %s has %lld rows, component %s has %lld",
                label(&t->base, i, room, sizeof room), (long long)x->dim[0],
                label(&t->base, 0, first, sizeof first), (long long)t->n_rows);
  return tfsdk__tensor_on(x, tfsdk__device_host(rt), &t->tensor[i]);
}

tfsdk_status *tfsdk_dataset_from_tensors(tfsdk_runtime *rt, const char *const *names,
                                         tfsdk_tensor *const *list, size_t n, tfsdk_dataset **out) {
  tfsdk_dataset *d = NULL;
  *out = NULL;
  TFSDK_REQUIRE(rt, n <= UINT16_MAX, "from_tensors: %zu components are too many", n);
  TFSDK_TRY(tfsdk__dataset_source(rt, &tensors_kind, (uint32_t)n, names, &d));
  tensors *t = (tensors *)d;
  d->rows = d;
  d->width = 1;
  t->tensor = tfsdk__zalloc(rt, n * sizeof *t->tensor);
  tfsdk_status *s = t->tensor ? NULL : TFSDK__NOMEM(rt);
  for (uint32_t i = 0; s == NULL && i < n; i++) s = take_tensor(t, i, list[i]);
  if (s != NULL) {
    tfsdk_dataset_release(d);
    return s;
  }
  *out = d;
  return NULL;
}

static tfsdk_status *gather_strings(const tfsdk_tensor *from, const int64_t *row, int64_t n,
                                    uint32_t rank, const int64_t *dim, tfsdk_tensor **out) {
  int64_t per = 1;
  const uint64_t *src = from->data;
  uint64_t bytes = 0, at = 0;
  for (uint32_t i = 1; i < from->rank; i++) per *= from->dim[i];
  for (int64_t r = 0; r < n; r++) bytes += src[(row[r] + 1) * per] - src[row[r] * per];
  TFSDK_TRY(tfsdk__tensor_alloc_strings(from->rt, rank, dim, bytes, out));
  uint64_t *offset = (*out)->data;
  const char *src_text = (const char *)(src + from->n_elem + 1);
  char *text = (char *)(offset + (*out)->n_elem + 1);
  for (int64_t r = 0; r < n; r++) { /* the strings of a row lie together */
    const uint64_t *o = src + row[r] * per;
    for (int64_t k = 0; k < per; k++) *offset++ = at + (o[k] - o[0]);
    memcpy(text + at, src_text + o[0], o[per] - o[0]);
    at += o[per] - o[0];
  }
  *offset = at;
  return NULL;
}

tfsdk_status *tfsdk__dataset_gather(tfsdk_dataset *rows, uint32_t c, const int64_t *row, int64_t n,
                                    tfsdk_tensor **out) {
  const tfsdk_tensor *from = ((tensors *)rows)->tensor[c];
  int64_t dim[TFSDK_MAX_RANK];
  uint32_t rank = n < 0 ? from->rank - 1u : from->rank;
  const int64_t *shape = from->dim + 1;
  if (n >= 0) { /* the source's shape with another first extent */
    memcpy(dim, from->dim, rank * sizeof *dim);
    dim[0] = n;
    shape = dim;
  } else {
    n = 1;
  }
  if (from->dtype == TFSDK_STRING) return gather_strings(from, row, n, rank, shape, out);
  TFSDK_TRY(tfsdk__tensor_alloc(tfsdk__device_host(rows->rt), from->dtype, rank, shape, out));
  uint64_t bytes = from->dim[0] ? from->byte_size / (uint64_t)from->dim[0] : 0;
  char *to = (*out)->data;
  if (bytes == 0) return NULL;
  for (int64_t i = 0, k; i < n; i = k) { /* neighbours are copied together */
    for (k = i + 1; k < n && row[k] == row[k - 1] + 1;) k++;
    memcpy(to + (uint64_t)i * bytes, (const char *)from->data + (uint64_t)row[i] * bytes,
           (uint64_t)(k - i) * bytes);
  }
  return NULL;
}

/* ----------------------------------------------------------------------------------- generators */

typedef struct generator {
  tfsdk_dataset base;
  tfsdk_generator g;
  bool owns_user;
} generator;

typedef struct generator_link {
  tfsdk__link base;
  void *state;
  bool started;
} generator_link;

static void generator_release(tfsdk_dataset *d) {
  generator *g = (generator *)d;
  if (g->owns_user && g->g.release != NULL) g->g.release(g->g.user);
}

static tfsdk_status *generator_open(tfsdk__link *l) {
  generator_link *it = (generator_link *)l;
  const tfsdk_generator *g = &((generator *)l->d)->g;
  if (g->start != NULL) TFSDK_TRY(g->start(g->user, &it->state));
  it->started = true;
  return NULL;
}

static void generator_close(tfsdk__link *l) {
  generator_link *it = (generator_link *)l;
  const tfsdk_generator *g = &((generator *)l->d)->g;
  if (it->started && g->finish != NULL) g->finish(g->user, it->state);
  it->started = false;
  it->state = NULL;
}

static tfsdk_status *generator_rewind(tfsdk__link *l) {
  generator_close(l);
  return generator_open(l);
}

static tfsdk_status *generator_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  generator_link *it = (generator_link *)l;
  const tfsdk_generator *g = &((generator *)l->d)->g;
  tfsdk_tensor *few[16] = {0};
  tfsdk_tensor **list = g->n <= 16 ? few : tfsdk__zalloc(l->rt, g->n * sizeof *list);
  int32_t end = 0;
  if (list == NULL) return TFSDK__NOMEM(l->rt);
  tfsdk_status *s = g->next(g->user, it->state, list, &end);
  for (uint32_t i = 0; s == NULL && end == 0 && i < g->n; i++)
    if (list[i] == NULL || list[i]->rt != l->rt)
      s = TFSDK_FAIL(l->rt, INVALID_ARGUMENT,
                     "a generator gave no tensor of this runtime for component %u", i);
  for (uint32_t i = 0; i < g->n; i++) {
    if (s == NULL && end == 0)
      out[i].tensor = list[i];
    else
      tfsdk_tensor_release(list[i]);
  }
  if (list != few) tfsdk__free(l->rt, list);
  *out_end = end != 0;
  return s;
}

static const tfsdk__dataset_kind generator_kind = {.name = "from_generator",
                                                   .dataset_bytes = sizeof(generator),
                                                   .link_bytes = sizeof(generator_link),
                                                   .release = generator_release,
                                                   .open = generator_open,
                                                   .next = generator_next,
                                                   .rewind = generator_rewind,
                                                   .close = generator_close};

tfsdk_status *tfsdk_dataset_from_generator(tfsdk_runtime *rt, const tfsdk_generator *g,
                                           tfsdk_dataset **out) {
  tfsdk_generator copy;
  tfsdk_dataset *d = NULL;
  *out = NULL;
  TFSDK_TRY(tfsdk__take(&copy, sizeof copy, g, g->struct_size, "tfsdk_generator"));
  TFSDK_REQUIRE(rt, copy.next != NULL, "from_generator: there is no function `next`");
  TFSDK_TRY(tfsdk__dataset_source(rt, &generator_kind, copy.n, copy.names, &d));
  generator *own = (generator *)d;
  own->g = copy;
  own->g.names = NULL; /* the caller's */
  own->owns_user = true;
  *out = d;
  return NULL;
}
