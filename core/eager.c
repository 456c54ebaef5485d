/* Define-by-run: ops run when they are emitted, and active tapes record them.
 *
 * What a call needs besides its data - the checked attributes, the output types, the kernel - is
 * kept in a table by (op, attributes, input types, device), so that a repeated call finds it with
 * one look-up. */
#include "internal.h"

#define CACHE_LIMIT 4096

typedef struct tfsdk__eager_entry {
  struct tfsdk__eager_entry *next; /* same bucket */
  uint64_t hash;
  uint32_t n_in, n_given;
  int32_t in_dtype[16];
  tfsdk_attrval *given; /* as the caller wrote them */
  tfsdk__device *device;
  tfsdk__opcall call;
  tfsdk__bound bound;
  bool busy; /* a kernel of it is running: a nested call makes its own */
} entry;

static void entry_release(tfsdk_runtime *rt, entry *e) {
  for (uint32_t i = 0; i < e->n_given; i++) {
    tfsdk__free(rt, (void *)(uintptr_t)e->given[i].name);
    tfsdk__attr_release(rt, &e->given[i]);
  }
  tfsdk__free(rt, e->given);
  tfsdk__bound_deinit(&e->bound);
  tfsdk__opcall_deinit(rt, &e->call);
  tfsdk__free(rt, e);
}

static void flush_cache(tfsdk_runtime *rt) {
  tfsdk__eager *g = rt->eager;
  for (size_t i = 0; i < g->cache_cap; i++)
    for (entry **at = &g->cache[i]; *at != NULL;) {
      entry *e = *at;
      if (e->busy) {
        at = &e->next;
        continue;
      }
      *at = e->next;
      entry_release(rt, e);
      g->cache_n--;
    }
}

static uint64_t given_hash(const tfsdk_attrval *a, uint64_t h) {
  bool array = a->kind == TFSDK_ATTR_SHAPE || a->kind == TFSDK_ATTR_LIST_INT ||
               a->kind == TFSDK_ATTR_LIST_DTYPE || a->kind == TFSDK_ATTR_LIST_BOOL;
  h = tfsdk__hash(a->name, strlen(a->name), h);
  if (array) return tfsdk__hash(a->v.ints, a->n == TFSDK_UNKNOWN_RANK ? 0 : a->n * 8, h);
  if (a->kind == TFSDK_ATTR_STRING) return tfsdk__hash(a->v.s, strlen(a->v.s), h);
  if (a->kind == TFSDK_ATTR_INT || a->kind == TFSDK_ATTR_BOOL || a->kind == TFSDK_ATTR_DTYPE ||
      a->kind == TFSDK_ATTR_FLOAT)
    return tfsdk__hash(&a->v, sizeof a->v, h);
  return h + a->n;
}

static entry *cache_find(tfsdk__eager *g, tfsdk__op *op, uint64_t hash, const int32_t *dtype,
                         uint32_t n_in, const tfsdk_attrval *attr, size_t n_attr,
                         tfsdk__device *d) {
  entry *e = g->cache_cap ? g->cache[hash & (g->cache_cap - 1)] : NULL;
  for (; e != NULL; e = e->next) {
    if (e->hash != hash || e->call.op != op || e->n_in != n_in || e->n_given != n_attr ||
        e->device != d || e->busy || memcmp(e->in_dtype, dtype, n_in * sizeof *dtype) != 0)
      continue;
    bool same = true;
    for (size_t i = 0; same && i < n_attr; i++)
      same =
          strcmp(e->given[i].name, attr[i].name) == 0 && tfsdk__attr_equal(&e->given[i], &attr[i]);
    if (same) return e;
  }
  return NULL;
}

static tfsdk_status *cache_add(tfsdk_runtime *rt, entry *e) {
  tfsdk__eager *g = rt->eager;
  if (g->cache == NULL) {
    g->cache = tfsdk__zalloc(rt, 1024 * sizeof *g->cache);
    if (g->cache == NULL) return TFSDK__NOMEM(rt);
    g->cache_cap = 1024;
  }
  if (g->cache_n >= CACHE_LIMIT) flush_cache(rt);
  e->next = g->cache[e->hash & (g->cache_cap - 1)];
  g->cache[e->hash & (g->cache_cap - 1)] = e;
  g->cache_n++;
  return NULL;
}

static tfsdk_status *make_entry(tfsdk_runtime *rt, tfsdk__op *op, const int32_t *dtype,
                                uint32_t n_in, const tfsdk_attrval *attr, size_t n_attr,
                                tfsdk__device *d, entry **out) {
  entry *e = tfsdk__zalloc(rt, sizeof *e);
  if (e == NULL) return TFSDK__NOMEM(rt);
  e->device = d;
  e->n_in = n_in;
  tfsdk_status *s = tfsdk__opcall_resolve(rt, op, dtype, n_in, attr, n_attr, &e->call);
  if (s == NULL) {
    int32_t *padded = tfsdk__zalloc(rt, (e->call.n_in + 1) * sizeof *padded);
    if (padded == NULL)
      s = TFSDK__NOMEM(rt);
    else {
      if (n_in > 0) memcpy(padded, dtype, n_in * sizeof *padded);
      s = tfsdk__bind(rt, op, e->call.attrs, padded, e->call.n_in, e->call.out_dtype, e->call.n_out,
                      NULL, d, true, NULL, &e->bound);
      tfsdk__free(rt, padded);
    }
  }
  if (s != NULL) {
    entry_release(rt, e);
    return s;
  }
  if (e->bound.fell_back) {
    char line[200];
    snprintf(line, sizeof line, "%s has no kernel for %s of these types; it runs on %s", d->name,
             op->def.name, e->bound.device->name);
    tfsdk_runtime_log(rt, TFSDK_LOG_INFO, line);
  }
  *out = e;
  return NULL;
}

/* Remembers an entry, unless it is of a kind that never comes again (tensor attributes). */
static tfsdk_status *remember(tfsdk_runtime *rt, entry *e, uint64_t hash, const int32_t *dtype,
                              const tfsdk_attrval *attr, size_t n_attr, bool *kept) {
  *kept = false;
  if (e->n_in > 16) return NULL;
  for (size_t i = 0; i < n_attr; i++)
    if (attr[i].kind == TFSDK_ATTR_TENSOR) return NULL;
  e->hash = hash;
  memcpy(e->in_dtype, dtype, e->n_in * sizeof *dtype);
  e->given = tfsdk__zalloc(rt, (n_attr + 1) * sizeof *e->given);
  if (e->given == NULL) return TFSDK__NOMEM(rt);
  for (size_t i = 0; i < n_attr; i++) {
    TFSDK_TRY(tfsdk__attr_copy(rt, &attr[i], &e->given[i]));
    e->n_given++;
    e->given[i].name = tfsdk__strdup(rt, attr[i].name);
    if (e->given[i].name == NULL) return TFSDK__NOMEM(rt);
  }
  TFSDK_TRY(cache_add(rt, e));
  *kept = true;
  return NULL;
}

static tfsdk_status *stream_of(tfsdk_runtime *rt, const tfsdk__attrlist *attrs,
                               tfsdk__stream_state **out) {
  tfsdk__eager *g = rt->eager;
  tfsdk__random_site site;
  uint32_t key[2];
  TFSDK_TRY(tfsdk__random_site_of(rt, &g->ctx.scopes, attrs, &site));
  tfsdk__random_key(&site, rt->has_seed, rt->seed, g->salt, key);
  for (size_t i = 0; i < g->streams.n; i++)
    if (g->streams.data[i]->key[0] == key[0] && g->streams.data[i]->key[1] == key[1]) {
      *out = g->streams.data[i];
      return NULL;
    }
  if (!site.given) { /* it will not come again: no need to remember its counter */
    g->once.key[0] = key[0];
    g->once.key[1] = key[1];
    g->once.counter = 0;
    *out = &g->once;
    return NULL;
  }
  tfsdk__stream_state *s = TFSDK__GROW(rt, &g->streams, 1) ? tfsdk__zalloc(rt, sizeof *s) : NULL;
  if (s == NULL) return TFSDK__NOMEM(rt);
  s->key[0] = key[0];
  s->key[1] = key[1];
  g->streams.data[g->streams.n++] = s;
  *out = s;
  return NULL;
}

tfsdk_status *tfsdk__eager_device(tfsdk_runtime *rt, tfsdk__device **out) {
  const tfsdk__scopes *s = &rt->eager->ctx.scopes;
  const char *name = s->device.n ? s->device.data[s->device.n - 1] : NULL;
  if (name == NULL) {
    *out = tfsdk__device_host(rt);
    return NULL;
  }
  return tfsdk__device_find(rt, name, out);
}

static tfsdk_status *call_entry(tfsdk_runtime *rt, entry *e, tfsdk_tensor *const *in, size_t n_in,
                                tfsdk_tensor **out) {
  tfsdk_tensor *room[16], **padded = room;
  tfsdk__stream_state *random = NULL;
  tfsdk__execution x = {
      &e->bound, e->call.attrs,     NULL, in, e->call.n_in, e->call.n_out, e->call.out_dtype,
      NULL,      &rt->eager->cells, 0};
  if (e->call.n_in > n_in) {
    if (e->call.n_in > 16 && (padded = tfsdk__alloc(rt, e->call.n_in * sizeof *padded)) == NULL)
      return TFSDK__NOMEM(rt);
    for (uint32_t i = 0; i < e->call.n_in; i++) padded[i] = i < n_in ? in[i] : NULL;
    x.in = padded;
  }
  tfsdk_status *s = NULL;
  if (e->call.op->def.flags & TFSDK_OP_RANDOM) s = stream_of(rt, e->call.attrs, &random);
  x.random = random;
  if (s == NULL) {
    e->busy = true;
    s = tfsdk__execute(rt, &x, out);
    e->busy = false;
  }
  for (size_t i = 0; s == NULL && i < rt->eager->tapes.n; i++)
    tfsdk__tape_record(rt->eager->tapes.data[i], e->call.op, e->call.attrs, x.in, e->call.n_in, out,
                       e->call.n_out, &s);
  if (s != NULL)
    for (uint32_t o = 0; o < e->call.n_out; o++) {
      tfsdk_tensor_release(out[o]);
      out[o] = NULL;
    }
  if (padded != room) tfsdk__free(rt, padded);
  return s;
}

static tfsdk_status *eager_call(tfsdk_runtime *rt, tfsdk__op *op, tfsdk_tensor *const *in,
                                size_t n_in, const tfsdk_attrval *attr, size_t n_attr,
                                tfsdk_tensor **out, size_t cap, size_t *out_n) {
  int32_t room[16], *dtype = room;
  tfsdk_tensor *result_room[8], **result = result_room;
  tfsdk__device *d;
  bool kept = true;
  TFSDK_TRY(tfsdk__eager_device(rt, &d));
  if (n_in > 16 && (dtype = tfsdk__alloc(rt, n_in * sizeof *dtype)) == NULL)
    return TFSDK__NOMEM(rt);
  for (size_t i = 0; i < n_in; i++) dtype[i] = in[i] ? in[i]->dtype : 0;
  uint64_t hash = tfsdk__hash(dtype, n_in * sizeof *dtype, op->index + 1);
  for (size_t i = 0; i < n_attr; i++) hash = given_hash(&attr[i], hash);
  entry *e =
      n_in <= 16 ? cache_find(rt->eager, op, hash, dtype, (uint32_t)n_in, attr, n_attr, d) : NULL;
  tfsdk_status *s = NULL;
  if (e == NULL) {
    s = make_entry(rt, op, dtype, (uint32_t)n_in, attr, n_attr, d, &e);
    if (s == NULL && (s = remember(rt, e, hash, dtype, attr, n_attr, &kept)) != NULL)
      entry_release(rt, e);
  }
  if (dtype != room) tfsdk__free(rt, dtype);
  if (s != NULL) return s;
  uint32_t n_out = e->call.n_out;
  if (n_out > 8 && (result = tfsdk__alloc(rt, n_out * sizeof *result)) == NULL)
    s = TFSDK__NOMEM(rt);
  if (s == NULL) s = call_entry(rt, e, in, n_in, result);
  if (s == NULL) {
    for (uint32_t i = 0; i < n_out; i++) {
      if (i < cap)
        out[i] = result[i];
      else
        tfsdk_tensor_release(result[i]);
    }
    if (out_n != NULL) *out_n = n_out;
  }
  if (n_out > 8) tfsdk__free(rt, result);
  if (!kept) entry_release(rt, e);
  return s;
}

/* What the filter makes lives as long as the call. */
static tfsdk_status *filtered_call(tfsdk_runtime *rt, const tfsdk_emit_filter *filter,
                                   tfsdk__op *op, tfsdk_tensor *const *in, size_t n_in,
                                   const tfsdk_attrval *attr, size_t n_attr, tfsdk_tensor **out,
                                   size_t cap, size_t *out_n) {
  tfsdk_val *vals = tfsdk__alloc(rt, n_in * (sizeof *vals + sizeof *in));
  if (vals == NULL) return TFSDK__NOMEM(rt);
  tfsdk_tensor **other = (void *)(vals + n_in);
  const size_t mark = tfsdk_eager_mark(rt);
  for (size_t i = 0; i < n_in; i++) vals[i] = tfsdk_eager_val(in[i]);
  tfsdk_status *s = tfsdk__context_apply(&rt->eager->ctx, filter, op, vals, n_in);
  for (size_t i = 0; i < n_in; i++) other[i] = tfsdk_eager_tensor(vals[i]);
  if (s == NULL) s = eager_call(rt, op, other, n_in, attr, n_attr, out, cap, out_n);
  tfsdk_eager_release_vals(rt, mark);
  tfsdk__free(rt, vals);
  return s;
}

tfsdk_status *tfsdk__eager_call(tfsdk_runtime *rt, tfsdk__op *op, tfsdk_tensor *const *in,
                                size_t n_in, const tfsdk_attrval *attr, size_t n_attr,
                                tfsdk_tensor **out, size_t cap, size_t *out_n) {
  pthread_mutex_lock(&rt->eager->lock);
  const tfsdk_emit_filter *filter = tfsdk__context_filter(&rt->eager->ctx);
  tfsdk_status *s = filter == NULL || n_in == 0
                        ? eager_call(rt, op, in, n_in, attr, n_attr, out, cap, out_n)
                        : filtered_call(rt, filter, op, in, n_in, attr, n_attr, out, cap, out_n);
  pthread_mutex_unlock(&rt->eager->lock);
  return s;
}

tfsdk_status *tfsdk_eager_run(tfsdk_runtime *rt, const char *op, tfsdk_tensor *const *in,
                              size_t n_in, const tfsdk_attrval *attr, size_t n_attr,
                              tfsdk_tensor **out, size_t n_out) {
  tfsdk__op *found;
  for (size_t i = 0; i < n_out; i++) out[i] = NULL;
  TFSDK_TRY(tfsdk__op_find(rt, op, &found));
  return tfsdk__eager_call(rt, found, in, n_in, attr, n_attr, out, n_out, NULL);
}

/* ------------------------------------------------------------------------- the emission context */

tfsdk_ctx *tfsdk_eager_ctx(tfsdk_runtime *rt) { return &rt->eager->ctx.base; }

tfsdk_val tfsdk_eager_val(tfsdk_tensor *t) {
  tfsdk_val v = {(uint64_t)(uintptr_t)t};
  return v;
}
tfsdk_tensor *tfsdk_eager_tensor(tfsdk_val v) { return (tfsdk_tensor *)(uintptr_t)v.id; }

static tfsdk_status *pool(tfsdk_runtime *rt, tfsdk_tensor *take, tfsdk_val *out) {
  tfsdk__eager *g = rt->eager;
  if (!TFSDK__GROW(rt, &g->pool, 1)) {
    tfsdk_tensor_release(take);
    return TFSDK__NOMEM(rt);
  }
  g->pool.data[g->pool.n++] = take;
  *out = tfsdk_eager_val(take);
  return NULL;
}

tfsdk_status *tfsdk__eager_keep(tfsdk_runtime *rt, tfsdk_tensor *take) {
  tfsdk_val ignored;
  return pool(rt, take, &ignored);
}

size_t tfsdk_eager_mark(tfsdk_runtime *rt) { return rt->eager->pool.n; }

void tfsdk_eager_release_vals(tfsdk_runtime *rt, size_t mark) {
  tfsdk__eager *g = rt->eager;
  pthread_mutex_lock(&g->lock);
  while (g->pool.n > mark) tfsdk_tensor_release(g->pool.data[--g->pool.n]);
  pthread_mutex_unlock(&g->lock);
}

static tfsdk_status *eager_emit(tfsdk_ctx *c, const char *name, const tfsdk_val *in, size_t n_in,
                                const tfsdk_attrval *attr, size_t n_attr, tfsdk_val *out,
                                size_t n_out) {
  tfsdk_runtime *rt = tfsdk__context_of(c)->rt;
  tfsdk_tensor *room[16], **tensors = room, *result[16];
  tfsdk__op *op;
  size_t n = 0;
  TFSDK_TRY(tfsdk__op_find(rt, name, &op));
  if (n_in > 16 && (tensors = tfsdk__alloc(rt, n_in * sizeof *tensors)) == NULL)
    return TFSDK__NOMEM(rt);
  for (size_t i = 0; i < n_in; i++) tensors[i] = tfsdk_eager_tensor(in[i]);
  if (n_out > 16) n_out = 16;
  tfsdk_status *s = tfsdk__eager_call(rt, op, tensors, n_in, attr, n_attr, result, n_out, &n);
  if (tensors != room) tfsdk__free(rt, tensors);
  for (size_t i = 0; s == NULL && i < n_out && i < n; i++) s = pool(rt, result[i], &out[i]);
  return s;
}

static tfsdk_status *eager_constant(tfsdk_ctx *c, int32_t dtype, uint32_t rank, const int64_t *dim,
                                    const void *data, tfsdk_val *out) {
  tfsdk_runtime *rt = tfsdk__context_of(c)->rt;
  tfsdk_tensor *t;
  TFSDK_TRY(tfsdk__tensor_alloc(tfsdk__device_host(rt), dtype, rank, dim, &t));
  if (t->byte_size > 0) memcpy(t->data, data, t->byte_size);
  return pool(rt, t, out);
}

static tfsdk_status *eager_type(tfsdk_ctx *c, tfsdk_val v, tfsdk_typed_shape *out) {
  (void)c;
  if (v.id == 0) return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "a value is missing");
  tfsdk__tensor_typed_shape(tfsdk_eager_tensor(v), out);
  return NULL;
}

static int32_t eager_known(tfsdk_ctx *c, tfsdk_val v, tfsdk_view *out) {
  (void)c;
  tfsdk_tensor *t = tfsdk_eager_tensor(v);
  if ((t->flags & TFSDK__TENSOR_SHAPE_ONLY) || t->cell != NULL) return 0;
  tfsdk_status *s = tfsdk_tensor_view(t, out);
  tfsdk_status_release(s);
  return s == NULL;
}

const tfsdk_emit_api tfsdk__eager_emit_api = {sizeof(tfsdk_emit_api),
                                              0,
                                              eager_emit,
                                              eager_constant,
                                              eager_type,
                                              eager_known,
                                              tfsdk__context_variable,
                                              tfsdk__context_effect,
                                              tfsdk__context_stick,
                                              tfsdk__context_take_error,
                                              tfsdk__context_has_error,
                                              tfsdk__context_weight,
                                              tfsdk__context_layer};

tfsdk_status *tfsdk__eager_create(tfsdk_runtime *rt) {
  pthread_mutexattr_t recursive;
  tfsdk__eager *g = tfsdk__zalloc(rt, sizeof *g);
  if (g == NULL) return TFSDK__NOMEM(rt);
  tfsdk__context_init(&g->ctx, rt, TFSDK__CTX_EAGER);
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&g->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  pthread_mutex_init(&g->cells.lock, NULL);
  g->salt = tfsdk__random_salt();
  rt->eager = g;
  return NULL;
}

void tfsdk__eager_clear(tfsdk_runtime *rt) {
  tfsdk__eager *g = rt->eager;
  if (g == NULL) return;
  tfsdk_eager_release_vals(rt, 0);
  flush_cache(rt);
  tfsdk__context_deinit(&g->ctx);
  tfsdk__cells_deinit(rt, &g->cells);
  pthread_mutex_init(&g->cells.lock, NULL);
}

void tfsdk__eager_release(tfsdk_runtime *rt) {
  tfsdk__eager *g = rt->eager;
  if (g == NULL) return;
  tfsdk__eager_clear(rt);
  for (size_t i = 0; i < g->streams.n; i++) tfsdk__free(rt, g->streams.data[i]);
  tfsdk__free(rt, g->streams.data);
  tfsdk__free(rt, g->pool.data);
  tfsdk__free(rt, g->tapes.data);
  tfsdk__free(rt, g->cache);
  pthread_mutex_destroy(&g->cells.lock);
  pthread_mutex_destroy(&g->lock);
  tfsdk__free(rt, g);
  rt->eager = NULL;
}
