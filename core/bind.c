/* Choosing the kernel of a node: by device, types, priority, what the kernel says it supports, and
 * what the user prefers. Without one on the asked device the host takes over, where that is
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

/* One pass over the kernels by falling priority; `only` (may be NULL) restricts to a label or
 * plugin. */
static tfsdk_status *choose_among(tfsdk__op *op, const tfsdk__attrlist *attrs,
                                  const int32_t *in_dtype, uint32_t n_in, const int32_t *out_dtype,
                                  uint32_t n_out, tfsdk__device *d, const char *only,
                                  tfsdk__buf *why, tfsdk__kernel **out) {
  for (size_t i = 0; i < op->kernels.n; i++) {
    tfsdk__kernel *k = op->kernels.data[i];
    char reason[200] = "";
    int32_t yes = 1;
    if (strcmp(k->def.device, d->type) != 0)
      snprintf(reason, sizeof reason, "for another device");
    else if (!dtypes_match(&k->def, attrs))
      snprintf(reason, sizeof reason, "not for these types");
    else if (only != NULL && strcmp(only, k->def.label) != 0 && strcmp(only, plugin_name(k)) != 0)
      snprintf(reason, sizeof reason, "another is preferred");
    else if (*out != NULL)
      snprintf(reason, sizeof reason, "lower priority");
    else if (k->def.supports != NULL) {
      tfsdk_kbuild b = {k->plugin ? &k->plugin->host : &op->plugin->host,
                        &op->def,
                        tfsdk__attrlist_view(attrs),
                        in_dtype,
                        out_dtype,
                        n_in,
                        n_out,
                        d->dev};
      TFSDK_TRY(k->def.supports(&b, &yes, reason, sizeof reason));
      if (yes)
        *reason = 0;
      else if (*reason == 0)
        snprintf(reason, sizeof reason, "does not support this case");
    }
    if (*reason == 0)
      *out = k;
    else if (why != NULL)
      tfsdk__buf_add(why, "      not %s of %s on %s (priority %d): %s\n", k->def.label,
                     plugin_name(k), k->def.device, k->def.priority, reason);
    if (*out != NULL && why == NULL) break;
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

static tfsdk_status *choose(tfsdk_runtime *rt, tfsdk__op *op, const tfsdk__attrlist *attrs,
                            const int32_t *in_dtype, uint32_t n_in, const int32_t *out_dtype,
                            uint32_t n_out, tfsdk__device *d, tfsdk__buf *why,
                            tfsdk__kernel **out) {
  const char *only = preferred(rt, op);
  *out = NULL;
  TFSDK_TRY(tfsdk__device_attach(d));
  TFSDK_TRY(look_for_kernels(rt, op, d->type));
  if (only != NULL)
    TFSDK_TRY(choose_among(op, attrs, in_dtype, n_in, out_dtype, n_out, d, only, why, out));
  if (*out == NULL)
    TFSDK_TRY(choose_among(op, attrs, in_dtype, n_in, out_dtype, n_out, d, NULL, why, out));
  if (*out == NULL) *out = anywhere(op);
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
                          uint32_t n_out, tfsdk__device *device, bool soft, tfsdk__buf *why,
                          tfsdk__bound *out) {
  tfsdk__kernel *k = NULL;
  memset(out, 0, sizeof *out);
  out->op = op;
  out->device = device;
  if (op->def.flags & (TFSDK_OP_VIEW | TFSDK_OP_PLACEHOLDER)) return NULL;
  pthread_mutex_lock(&rt->lock);
  tfsdk_status *s = choose(rt, op, attrs, in_dtype, n_in, out_dtype, n_out, device, why, &k);
  tfsdk__device *host = tfsdk__device_host(rt);
  if (s == NULL && k == NULL && device != host && (soft || belongs_to_host(op))) {
    out->device = host;
    out->fell_back = !belongs_to_host(op);
    s = choose(rt, op, attrs, in_dtype, n_in, out_dtype, n_out, host, why, &k);
  }
  if (s == NULL && k == NULL) s = no_kernel(op, attrs, device);
  pthread_mutex_unlock(&rt->lock);
  if (s == NULL && k->def.create != NULL) {
    tfsdk_kbuild b = {k->plugin ? &k->plugin->host : &op->plugin->host,
                      &op->def,
                      tfsdk__attrlist_view(attrs),
                      in_dtype,
                      out_dtype,
                      n_in,
                      n_out,
                      out->device->dev};
    s = k->def.create(&b, &out->state);
  }
  out->kernel = k;
  if (s != NULL) tfsdk__status_add(s, "op", "%s", op->def.name);
  return s;
}

void tfsdk__bound_deinit(tfsdk__bound *b) {
  if (b->kernel != NULL && b->state != NULL && b->kernel->def.destroy != NULL)
    b->kernel->def.destroy(b->state);
  memset(b, 0, sizeof *b);
}
