/* Tapes: what define-by-run has done, as far as gradients need it.
 *
 * A record keeps only what the op's gradient declares to read: the tensor itself (grad_in,
 * grad_out), its dtype and shape alone (grad_shape), or nothing but its key. Everything else is
 * freed as soon as the script lets go of it. Tensors are known by their ids, which are never used
 * twice. */
#include "internal.h"

/* A tensor of so many bytes takes less memory than a copy of its shape. */
enum { SMALL = 128 };

typedef struct entry {
  tfsdk__record r;
  tfsdk_tensor **kept; /* n_in + n_out members; NULL: not kept */
  uint64_t *keys;      /* n_in + n_out */
  tfsdk_val *vals;     /* n_in + n_out: the kept tensors as values */
} entry;

struct tfsdk_tape {
  tfsdk_runtime *rt;
  bool persistent, watch_variables, active, used, note_only;
  uint32_t hidden; /* how many times; records nothing unless 0 */
  TFSDK__VEC(entry *) entries;
  TFSDK__VEC(tfsdk_tensor *) noted; /* note_only: each once */
  uint64_t *tracked;                /* open addressing; 0: free */
  size_t n_tracked, cap_tracked;
};

static bool tracks(const tfsdk_tape *t, uint64_t id) {
  if (t->cap_tracked == 0) return false;
  size_t i = (size_t)(id * 0x9e3779b97f4a7c15u >> 20) & (t->cap_tracked - 1);
  while (t->tracked[i] != 0 && t->tracked[i] != id) i = (i + 1) & (t->cap_tracked - 1);
  return t->tracked[i] == id;
}

static bool track(tfsdk_tape *t, uint64_t id) {
  if (2 * (t->n_tracked + 1) > t->cap_tracked) {
    size_t cap = t->cap_tracked ? 2 * t->cap_tracked : 64;
    uint64_t *old = t->tracked, *bigger = tfsdk__zalloc(t->rt, cap * sizeof *bigger);
    size_t old_cap = t->cap_tracked;
    if (bigger == NULL) return false;
    t->tracked = bigger;
    t->cap_tracked = cap;
    t->n_tracked = 0;
    for (size_t i = 0; i < old_cap; i++)
      if (old[i] != 0) (void)track(t, old[i]);
    tfsdk__free(t->rt, old);
  }
  size_t i = (size_t)(id * 0x9e3779b97f4a7c15u >> 20) & (t->cap_tracked - 1);
  while (t->tracked[i] != 0 && t->tracked[i] != id) i = (i + 1) & (t->cap_tracked - 1);
  if (t->tracked[i] == 0) t->n_tracked++;
  t->tracked[i] = id;
  return true;
}

static void entry_release(tfsdk_runtime *rt, entry *e) {
  for (uint32_t i = 0; i < e->r.n_in + e->r.n_out; i++) tfsdk_tensor_release(e->kept[i]);
  tfsdk__attrlist_release(rt, e->r.attrs);
  tfsdk__rule_release(rt, e->r.rule);
  tfsdk__free(rt, e);
}

static void drop_entries(tfsdk_tape *t) {
  for (size_t i = 0; i < t->entries.n; i++) {
    if (i + 3 < t->entries.n) { /* what is freed soon has left the cache */
      const entry *next = t->entries.data[i + 3];
      for (uint32_t k = 0; k < next->r.n_in + next->r.n_out; k++)
        __builtin_prefetch(next->kept[k], 1);
    }
    if (i + 6 < t->entries.n) __builtin_prefetch(t->entries.data[i + 6], 1);
    entry_release(t->rt, t->entries.data[i]);
  }
  t->entries.n = 0;
}

static void set_active(tfsdk_tape *t, bool active) {
  tfsdk__eager *g = t->rt->eager;
  pthread_mutex_lock(&g->lock);
  if (active && !t->active && TFSDK__GROW(t->rt, &g->tapes, 1)) {
    g->tapes.data[g->tapes.n++] = t;
    t->active = true;
    t->hidden = 0;
  } else if (!active && t->active) {
    for (size_t i = 0; i < g->tapes.n; i++)
      if (g->tapes.data[i] == t) {
        memmove(&g->tapes.data[i], &g->tapes.data[i + 1],
                (g->tapes.n - i - 1) * sizeof *g->tapes.data);
        g->tapes.n--;
        break;
      }
    t->active = false;
  }
  pthread_mutex_unlock(&g->lock);
}

tfsdk_status *tfsdk_tape_create(tfsdk_runtime *rt, int32_t persistent, int32_t watch_variables,
                                tfsdk_tape **out) {
  tfsdk_tape *t = tfsdk__zalloc(rt, sizeof *t);
  *out = NULL;
  if (t == NULL) return TFSDK__NOMEM(rt);
  t->rt = rt;
  t->persistent = persistent != 0;
  t->watch_variables = watch_variables != 0;
  set_active(t, true);
  if (!t->active) {
    tfsdk__free(rt, t);
    return TFSDK__NOMEM(rt);
  }
  tfsdk__runtime_retain(rt);
  *out = t;
  return NULL;
}

void tfsdk_tape_release(tfsdk_tape *t) {
  if (t == NULL) return;
  tfsdk_runtime *rt = t->rt;
  set_active(t, false);
  drop_entries(t);
  for (size_t i = 0; i < t->noted.n; i++) tfsdk_tensor_release(t->noted.data[i]);
  tfsdk__free(rt, t->noted.data);
  tfsdk__free(rt, t->entries.data);
  tfsdk__free(rt, t->tracked);
  tfsdk__free(rt, t);
  tfsdk__runtime_unref(rt);
}

void tfsdk_tape_stop(tfsdk_tape *t) { set_active(t, false); }
void tfsdk_tape_resume(tfsdk_tape *t) { set_active(t, true); }

tfsdk_status *tfsdk_tape_watch(tfsdk_tape *t, tfsdk_tensor *x) {
  char k = tfsdk_dtype_kind(x->dtype);
  if (k != 'f' && k != 'c' && k != 'r')
    return tfsdk__status_make(
        TFSDK_INVALID_ARGUMENT,
        "a tensor of type %s has no gradient; only floating ones can be watched",
        tfsdk_dtype_name(x->dtype));
  return track(t, x->id) ? NULL : TFSDK__NOMEM(t->rt);
}

void tfsdk_tape_note_only(tfsdk_tape *t) { t->note_only = true; }
size_t tfsdk_tape_noted(const tfsdk_tape *t, tfsdk_tensor *const **out) {
  *out = t->noted.data;
  return t->noted.n;
}

static bool tracked_by_hidden(const tfsdk_tape *t, const tfsdk_tensor *x) {
  const tfsdk__eager *g = t->rt->eager;
  for (size_t i = 0; i < g->tapes.n; i++)
    if (g->tapes.data[i]->hidden > 0 && tracks(g->tapes.data[i], x->id)) return true;
  return false;
}

static tfsdk_status *note(tfsdk_tape *t, tfsdk_tensor *const *in, uint32_t n_in) {
  for (uint32_t i = 0; i < n_in; i++) {
    if (in[i] == NULL || tracks(t, in[i]->id)) continue;
    if (in[i]->cell == NULL && !tracked_by_hidden(t, in[i])) continue;
    if (!track(t, in[i]->id) || !TFSDK__GROW(t->rt, &t->noted, 1)) return TFSDK__NOMEM(t->rt);
    t->noted.data[t->noted.n++] = tfsdk_tensor_retain(in[i]);
  }
  return NULL;
}

void tfsdk_tapes_hide(tfsdk_runtime *rt) {
  pthread_mutex_lock(&rt->eager->lock);
  for (size_t i = 0; i < rt->eager->tapes.n; i++) rt->eager->tapes.data[i]->hidden++;
  pthread_mutex_unlock(&rt->eager->lock);
}

void tfsdk_tapes_show(tfsdk_runtime *rt) {
  pthread_mutex_lock(&rt->eager->lock);
  for (size_t i = 0; i < rt->eager->tapes.n; i++)
    if (rt->eager->tapes.data[i]->hidden > 0) rt->eager->tapes.data[i]->hidden--;
  pthread_mutex_unlock(&rt->eager->lock);
}

static bool variable_of_interest(const tfsdk_tape *t, const tfsdk_tensor *x) {
  return t->watch_variables && x->cell != NULL && x->cell->trainable;
}

static tfsdk_status *keep_input(entry *e, uint32_t i, tfsdk_tensor *x) {
  const tfsdk__rule *rule = e->r.rule;
  uint32_t a = tfsdk__op_arg_of(e->r.op, e->r.attrs, e->r.n_in, i);
  bool whole = rule != NULL ? rule->def.keep & 1 : e->r.op->def.grad_in >> a & 1;
  bool shape = rule != NULL || (e->r.op->def.grad_shape >> a & 1); /* rules are checked by it */
  if (whole || x->cell != NULL || (x->byte_size <= SMALL && shape))
    e->kept[i] = tfsdk_tensor_retain(x);
  else if (shape)
    return tfsdk__tensor_ghost(x, &e->kept[i]);
  return NULL;
}

static tfsdk_status *record(tfsdk_tape *t, tfsdk__op *op, tfsdk__attrlist *attrs,
                            tfsdk_tensor *const *in, uint32_t n_in, tfsdk_tensor *const *out,
                            uint32_t n_out) {
  bool wanted = false;
  uint32_t n = n_in + n_out;
  if (t->hidden > 0) return NULL;
  if (t->note_only) return note(t, in, n_in);
  for (uint32_t i = 0; i < n_in && !wanted; i++)
    wanted = in[i] != NULL && (tracks(t, in[i]->id) || variable_of_interest(t, in[i]));
  if (!wanted) return NULL;
  if (!TFSDK__GROW(t->rt, &t->entries, 1)) return TFSDK__NOMEM(t->rt);
  entry *e =
      tfsdk__zalloc(t->rt, sizeof *e + n * (sizeof *e->kept + sizeof *e->keys + sizeof *e->vals));
  if (e == NULL) return TFSDK__NOMEM(t->rt);
  e->kept = (void *)(e + 1);
  e->keys = (void *)(e->kept + n);
  e->vals = (void *)(e->keys + n);
  e->r = (tfsdk__record){op,
                         tfsdk__attrlist_retain(attrs),
                         n_in,
                         n_out,
                         e->keys,
                         e->keys + n_in,
                         e->vals,
                         e->vals + n_in,
                         NULL,
                         NULL,
                         tfsdk__context_rule(&t->rt->eager->ctx, op)};
  tfsdk_status *s = NULL;
  for (uint32_t i = 0; s == NULL && i < n_in; i++) {
    if (in[i] == NULL) continue;
    e->keys[i] = in[i]->id;
    if (variable_of_interest(t, in[i]) && !track(t, in[i]->id)) s = TFSDK__NOMEM(t->rt);
    if (s == NULL) s = keep_input(e, i, in[i]);
    e->vals[i] = tfsdk_eager_val(e->kept[i]);
  }
  for (uint32_t o = 0; s == NULL && o < n_out; o++) {
    uint32_t a = op->def.n_out == 1 ? 0 : o;
    e->keys[n_in + o] = out[o]->id;
    bool whole =
        e->r.rule != NULL ? (e->r.rule->def.keep & 2) != 0 : a < 64 && op->def.grad_out >> a & 1;
    if (whole) e->kept[n_in + o] = tfsdk_tensor_retain(out[o]);
    e->vals[n_in + o] = tfsdk_eager_val(e->kept[n_in + o]);
    if (!track(t, out[o]->id)) s = TFSDK__NOMEM(t->rt);
  }
  if (s != NULL)
    entry_release(t->rt, e);
  else
    t->entries.data[t->entries.n++] = e;
  return s;
}

void tfsdk__tape_record(tfsdk_tape *t, tfsdk__op *op, tfsdk__attrlist *attrs,
                        tfsdk_tensor *const *in, uint32_t n_in, tfsdk_tensor *const *out,
                        uint32_t n_out, tfsdk_status **io_error) {
  if ((n_out > 0 || t->note_only) && *io_error == NULL)
    *io_error = record(t, op, attrs, in, n_in, out, n_out);
}

/* ------------------------------------------------------------------------------------ gradients */

static tfsdk_tensor *take_val(tfsdk_val v) {
  return v.id ? tfsdk_tensor_retain(tfsdk_eager_tensor(v)) : NULL;
}

static tfsdk_status *gradient(tfsdk_tape *t, tfsdk__record *records, size_t n_records,
                              uint64_t *keys, tfsdk_val *vals, tfsdk_gradient *grads,
                              tfsdk_tensor *const *ys, size_t n_ys, tfsdk_tensor *const *xs,
                              size_t n_xs, tfsdk_tensor *const *grad_ys, tfsdk_tensor **out,
                              tfsdk_tensor **out_indices, tfsdk_tensor **out_values) {
  tfsdk_ctx *c = tfsdk_eager_ctx(t->rt);
  for (size_t i = 0; i < n_records; i++) records[i] = t->entries.data[i]->r;
  for (size_t i = 0; i < n_ys; i++) {
    keys[i] = ys[i]->id;
    vals[i] = tfsdk_eager_val(ys[i]);
    vals[n_ys + i] = tfsdk_eager_val(grad_ys ? grad_ys[i] : NULL);
  }
  for (size_t i = 0; i < n_xs; i++) keys[n_ys + i] = xs[i]->id;
  TFSDK_TRY(tfsdk__backprop(c, records, n_records, keys, vals, vals + n_ys, n_ys, keys + n_ys, n_xs,
                            NULL, 0, grads));
  for (size_t i = 0; i < n_xs; i++) {
    if (out_values == NULL || out_indices == NULL) TFSDK_TRY(tfsdk_gradient_densify(c, &grads[i]));
  }
  for (size_t i = 0; i < n_xs; i++) {
    out[i] = take_val(grads[i].value);
    if (out_values != NULL && out_indices != NULL) {
      out_indices[i] = take_val(grads[i].indices);
      out_values[i] = take_val(grads[i].values);
    }
  }
  return NULL;
}

tfsdk_status *tfsdk_tape_gradient(tfsdk_tape *t, tfsdk_tensor *const *ys, size_t n_ys,
                                  tfsdk_tensor *const *xs, size_t n_xs,
                                  tfsdk_tensor *const *grad_ys, tfsdk_tensor **out,
                                  tfsdk_tensor **out_indices, tfsdk_tensor **out_values) {
  tfsdk_runtime *rt = t->rt;
  for (size_t i = 0; i < n_xs; i++) {
    out[i] = NULL;
    if (out_indices != NULL) out_indices[i] = NULL;
    if (out_values != NULL) out_values[i] = NULL;
  }
  if (t->used && !t->persistent)
    return tfsdk__status_make(
        TFSDK_FAILED_PRECONDITION,
        "this tape has given its gradient already; make it with persistent = true to ask again");
  if (!t->persistent) set_active(t, false);
  t->used = true;
  size_t n = t->entries.n, mark = tfsdk_eager_mark(rt);
  tfsdk__record *records = tfsdk__alloc(rt, (n + 1) * sizeof *records);
  uint64_t *keys = tfsdk__alloc(rt, (n_ys + n_xs + 1) * sizeof *keys);
  tfsdk_val *vals = tfsdk__alloc(rt, (2 * n_ys + 1) * sizeof *vals);
  tfsdk_gradient *grads = tfsdk__zalloc(rt, (n_xs + 1) * sizeof *grads);
  tfsdk_status *s = TFSDK__NOMEM(rt);
  if (records != NULL && keys != NULL && vals != NULL && grads != NULL) {
    pthread_mutex_lock(&rt->eager->lock);
    s = gradient(t, records, n, keys, vals, grads, ys, n_ys, xs, n_xs, grad_ys, out, out_indices,
                 out_values);
    pthread_mutex_unlock(&rt->eager->lock);
  }
  tfsdk_eager_release_vals(rt, mark);
  tfsdk__free(rt, grads);
  tfsdk__free(rt, vals);
  tfsdk__free(rt, keys);
  tfsdk__free(rt, records);
  if (!t->persistent) drop_entries(t);
  return s;
}
