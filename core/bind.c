/* Choosing the kernel of a node: by device, types, priority, what the kernel says it supports
 * (shapes among it, for those that ask), and what the user prefers. Without one on the asked device the host takes over, where that is
 * allowed. */
#include "internal.h"

static bool dtypes_match(const tfsdk_kerneldef *k, const tfsdk__attrlist *attrs) {
  for (uint32_t w = 0; w < k->n_where; w++) {
    const tfsdk_attrval *a = NULL;
    for (uint32_t i = 0; i < attrs->n; i++)
      if (strcmp(attrs->list[i].name, k->where[w].attr) == 0) a = &attrs->list[i];
    if (a == NULL) return false;
    uint32_t n = a->kind == TFSDK_ATTR_LIST_DTYPE ? a->n : 1;
    for (uint32_t i = 0; i < n; i++) {
      int64_t dtype = a->kind == TFSDK_ATTR_LIST_DTYPE ? a->v.ints[i] : a->v.i;
      bool found = false;
      for (const int32_t *d = k->where[w].oneof; *d != 0; d++) found = found || *d == dtype;
      if (!found) return false;
    }
  }
  return true;
}

static tfsdk_status *look_for_kernels(tfsdk_runtime *rt, tfsdk__op *op, const char *device) {
  for (size_t i = 0; i < op->looked_for.n; i++)
    if (strcmp(op->looked_for.data[i], device) == 0) return NULL;
  if (!TFSDK__GROW(rt, &op->looked_for, 1)) return TFSDK__NOMEM(rt);
  char *copy = tfsdk__strdup(rt, device);
  if (copy == NULL) return TFSDK__NOMEM(rt);
  op->looked_for.data[op->looked_for.n++] = copy;
  tfsdk__loader_provide_kernels(rt, op->def.name, device);
  return NULL;
}

static tfsdk_status *no_kernel(tfsdk__op *op, const tfsdk__attrlist *attrs, tfsdk__device *d) {
  tfsdk__buf types = {0}, exist = {0};
  for (uint32_t i = 0; i < attrs->n; i++)
    if (attrs->list[i].kind == TFSDK_ATTR_DTYPE)
      tfsdk__buf_add(&types, "%s%s=%s", types.n ? ", " : "", attrs->list[i].name,
                     tfsdk_dtype_name((int32_t)attrs->list[i].v.i));
  for (size_t i = 0; i < op->kernels.n; i++) {
    const tfsdk_kerneldef *k = &op->kernels.data[i]->def;
    tfsdk__buf_add(&exist, "%s%s (%s", exist.n ? ", " : "", k->device, k->label);
    for (uint32_t w = 0; w < k->n_where; w++)
      for (const int32_t *t = k->where[w].oneof; *t != 0; t++)
        tfsdk__buf_add(&exist, " %s", tfsdk_dtype_name(*t));
    tfsdk__buf_add(&exist, ")");
  }
  tfsdk_status *s =
      tfsdk__status_make(TFSDK_UNIMPLEMENTED, "%s has no kernel for %s; kernels exist for: %s",
                         d->name, types.s ? types.s : "it", exist.s ? exist.s : "nothing");
  tfsdk__buf_deinit(&types);
  tfsdk__buf_deinit(&exist);
  return s;
}

/* The label or plugin that the user prefers for this op, if any: the op's own preference before
 * that for all. */
static const char *preferred(const tfsdk_runtime *rt, const tfsdk__op *op) {
  const char *all = NULL;
  for (size_t i = 0; i < rt->preferences.n; i++) {
    if (rt->preferences.data[i].kernel == NULL) continue;
    if (rt->preferences.data[i].op == NULL)
      all = rt->preferences.data[i].kernel;
    else if (strcmp(rt->preferences.data[i].op, op->def.name) == 0)
      return rt->preferences.data[i].kernel;
  }
  return all;
}

static const char *plugin_name(const tfsdk__kernel *k) {
  return k->plugin ? k->plugin->manifest.name : k->op->plugin->manifest.name;
}

/* What is chosen for, and what comes of it. */
typedef struct choice {
  tfsdk__op *op;
  const tfsdk__attrlist *attrs;
  const int32_t *in_dtype, *out_dtype;
  uint32_t n_in, n_out;
  const tfsdk_shape *in_shape;
  tfsdk__buf *why;
  tfsdk__kernel *kernel;
  bool open; /* a kernel was passed over because shapes are not known */
} choice;

static tfsdk_kbuild build_of(const choice *c, const tfsdk__kernel *k, const tfsdk__device *d) {
  tfsdk_kbuild b = {k->plugin ? &k->plugin->host : &c->op->plugin->host,
                    &c->op->def,
                    tfsdk__attrlist_view(c->attrs),
                    c->in_dtype,
                    c->out_dtype,
                    c->n_in,
                    c->n_out,
                    d->dev,
                    NULL};
  return b;
}

/* One pass over the kernels by falling priority; `only` (may be NULL) restricts to a label or
 * plugin. */
static tfsdk_status *choose_among(choice *c, tfsdk__device *d, const char *only) {
  tfsdk__op *op = c->op;
  for (size_t i = 0; i < op->kernels.n; i++) {
    tfsdk__kernel *k = op->kernels.data[i];
    char reason[200] = "";
    int32_t yes = 1;
    if (strcmp(k->def.device, d->type) != 0)
      snprintf(reason, sizeof reason, "for another device");
    else if (!dtypes_match(&k->def, c->attrs))
      snprintf(reason, sizeof reason, "not for these types");
    else if (only != NULL && strcmp(only, k->def.label) != 0 && strcmp(only, plugin_name(k)) != 0)
      snprintf(reason, sizeof reason, "another is preferred");
    else if (c->kernel != NULL)
      snprintf(reason, sizeof reason, "lower priority");
    else if ((k->def.traits & TFSDK_KERNEL_BY_SHAPE) && c->in_shape == NULL) {
      snprintf(reason, sizeof reason, "shapes are not known before the step runs");
      c->open = true;
    } else if (k->def.supports != NULL) {
      tfsdk_kbuild b = build_of(c, k, d);
      if (k->def.traits & TFSDK_KERNEL_BY_SHAPE) b.in_shape = c->in_shape;
      TFSDK_TRY(k->def.supports(&b, &yes, reason, sizeof reason));
      if (yes)
        *reason = 0;
      else if (*reason == 0)
        snprintf(reason, sizeof reason, "does not support this case");
    }
    if (*reason == 0)
      c->kernel = k;
    else if (c->why != NULL)
      tfsdk__buf_add(c->why, "      not %s of %s on %s (priority %d): %s\n", k->def.label,
                     plugin_name(k), k->def.device, k->def.priority, reason);
    if (c->kernel != NULL && c->why == NULL) break;
  }
  return NULL;
}

/* The reference kernel of an op that only passes tensors on: as good on any device. */
static tfsdk__kernel *anywhere(const tfsdk__op *op) {
  if (op->def.flags & TFSDK_OP_ANY_DEVICE)
    for (size_t i = 0; i < op->kernels.n; i++)
      if (op->kernels.data[i]->plugin == NULL) return op->kernels.data[i];
  return NULL;
}

static tfsdk_status *choose(tfsdk_runtime *rt, choice *c, tfsdk__device *d) {
  const char *only = preferred(rt, c->op);
  c->kernel = NULL;
  TFSDK_TRY(tfsdk__device_attach(d));
  TFSDK_TRY(look_for_kernels(rt, c->op, d->type));
  if (only != NULL) TFSDK_TRY(choose_among(c, d, only));
  if (c->kernel == NULL) TFSDK_TRY(choose_among(c, d, NULL));
  if (c->kernel == NULL) c->kernel = anywhere(c->op);
  return NULL;
}

/* Printing and what touches host memory only (shapes of tensors, sums of sizes) is no device's
 * work. */
static bool belongs_to_host(const tfsdk__op *op) {
  if (op->def.flags & TFSDK_OP_EFFECT) return true;
  for (uint32_t i = 0; i < op->def.n_in; i++)
    if (!(op->def.in[i].flags & (TFSDK_ARG_HOST | TFSDK_ARG_SHAPE_ONLY)) ||
        op->in[i].dtype == TFSDK_RESOURCE)
      return false;
  for (uint32_t o = 0; o < op->def.n_out; o++)
    if (!(op->def.out[o].flags & TFSDK_ARG_HOST)) return false;
  return true;
}

tfsdk_status *tfsdk__bind(tfsdk_runtime *rt, tfsdk__op *op, const tfsdk__attrlist *attrs,
                          const int32_t *in_dtype, uint32_t n_in, const int32_t *out_dtype,
                          uint32_t n_out, const tfsdk_shape *in_shape, tfsdk__device *device,
                          bool soft, tfsdk__buf *why, tfsdk__bound *out) {
  choice c = {op, attrs, in_dtype, out_dtype, n_in, n_out, in_shape, why, NULL, false};
  memset(out, 0, sizeof *out);
  out->op = op;
  out->device = device;
  out->soft = soft;
  if (op->def.flags & (TFSDK_OP_VIEW | TFSDK_OP_PLACEHOLDER)) return NULL;
  pthread_mutex_lock(&rt->lock);
  tfsdk_status *s = choose(rt, &c, device);
  tfsdk__device *host = tfsdk__device_host(rt);
  if (s == NULL && c.kernel == NULL && device != host && (soft || belongs_to_host(op))) {
    out->device = host;
    out->fell_back = !belongs_to_host(op);
    s = choose(rt, &c, host);
  }
  if (s == NULL && c.kernel == NULL) s = no_kernel(op, attrs, device);
  pthread_mutex_unlock(&rt->lock);
  out->open = c.open;
  if (s == NULL && c.kernel->def.create != NULL) {
    tfsdk_kbuild b = build_of(&c, c.kernel, out->device);
    s = c.kernel->def.create(&b, &out->state);
  }
  out->kernel = c.kernel;
  if (s != NULL) tfsdk__status_add(s, "op", "%s", op->def.name);
  return s;
}

void tfsdk__bound_deinit(tfsdk__bound *b) {
  for (tfsdk__bound *next = b->next, *after; next != NULL; next = after) {
    tfsdk_runtime *rt = next->device->rt;
    after = next->next;
    next->next = NULL;
    tfsdk__free(rt, next->chosen_for);
    tfsdk__bound_deinit(next);
    tfsdk__free(rt, next);
  }
  if (b->kernel != NULL && b->state != NULL && b->kernel->def.destroy != NULL)
    b->kernel->def.destroy(b->state);
  memset(b, 0, sizeof *b);
}

/* ------------------------------------------------------------------- once the tensors are at hand */

#define KNOWN 16 /* combinations of shapes that a choice remembers; more are looked at again */

static uint64_t hash_of(const tfsdk__execution *e) {
  uint64_t h = 1;
  for (uint32_t i = 0; i < e->n_in; i++)
    if (e->in[i] != NULL)
      h = tfsdk__hash(e->in[i]->dim, e->in[i]->rank * sizeof(int64_t), h + e->in[i]->rank);
    else
      h = tfsdk__hash(&i, sizeof i, h);
  return h;
}

static tfsdk_status *bind_shapes(tfsdk_runtime *rt, const tfsdk__execution *e, tfsdk__bound *b) {
  size_t bytes = e->n_in * (sizeof(tfsdk_shape) + sizeof(int32_t));
  tfsdk_shape *shape = tfsdk__zalloc(rt, bytes + 1);
  if (shape == NULL) return TFSDK__NOMEM(rt);
  int32_t *dtype = (int32_t *)(shape + e->n_in);
  for (uint32_t i = 0; i < e->n_in; i++) {
    tfsdk_typed_shape t = {.shape.rank = -1};
    if (e->in[i] != NULL) tfsdk__tensor_typed_shape(e->in[i], &t);
    shape[i] = t.shape;
    dtype[i] = t.dtype;
  }
  tfsdk_status *s = tfsdk__bind(rt, e->bound->op, e->attrs, dtype, e->n_in, e->out_dtype, e->n_out,
                                shape, e->bound->device, e->bound->soft, NULL, b);
  tfsdk__free(rt, shape);
  return s;
}

tfsdk_status *tfsdk__bind_now(tfsdk_runtime *rt, const tfsdk__execution *e, tfsdk__bound **out) {
  uint64_t h = hash_of(e);
  tfsdk__bound *b, **end = &e->bound->next;
  for (b = *end; b != NULL; end = &b->next, b = b->next)
    for (uint32_t i = 0; i < b->n_chosen_for && i < KNOWN; i++)
      if (b->chosen_for[i] == h) {
        *out = b;
        return NULL;
      }
  tfsdk__bound *fresh = tfsdk__zalloc(rt, sizeof *fresh);
  if (fresh == NULL) return TFSDK__NOMEM(rt);
  tfsdk_status *s = bind_shapes(rt, e, fresh);
  for (b = e->bound->next; s == NULL && b != NULL && b->kernel != fresh->kernel;) b = b->next;
  if (s != NULL || b != NULL) {
    tfsdk__bound_deinit(fresh);
    tfsdk__free(rt, fresh);
  } else if ((fresh->chosen_for = tfsdk__zalloc(rt, KNOWN * sizeof h)) == NULL) {
    tfsdk__bound_deinit(fresh);
    tfsdk__free(rt, fresh);
    s = TFSDK__NOMEM(rt);
  } else
    *end = b = fresh;
  if (s != NULL) return s;
  b->chosen_for[b->n_chosen_for++ % KNOWN] = h;
  *out = b;
  return NULL;
}
