/* What ops, kernels, devices, readers exist. Plugins fill transactions; a commit shows all of it or
 * nothing. */
#include "internal.h"

tfsdk_status *tfsdk__take(void *dst, size_t dst_n, const void *src, size_t src_n,
                          const char *record) {
  const unsigned char *tail = src;
  size_t n = src_n < dst_n ? src_n : dst_n;
  memset(dst, 0, dst_n);
  memcpy(dst, src, n);
  for (size_t i = n; i < src_n; i++)
    if (tail[i] != 0)
      return tfsdk__status_make(
          TFSDK_INCOMPATIBLE,
          "a %s of %zu bytes uses fields that this host (%zu bytes) does not know", record, src_n,
          dst_n);
  memset(dst, 0, 4);
  uint32_t size = (uint32_t)dst_n;
  memcpy(dst, &size, 4);
  return NULL;
}

static void op_release(tfsdk_runtime *rt, tfsdk__op *op) {
  if (op == NULL) return;
  tfsdk__schema_release(op, rt);
  for (size_t i = 0; i < op->kernels.n; i++) tfsdk__free(rt, op->kernels.data[i]);
  for (size_t i = 0; i < op->looked_for.n; i++) tfsdk__free(rt, op->looked_for.data[i]);
  tfsdk__free(rt, op->kernels.data);
  tfsdk__free(rt, op->looked_for.data);
  tfsdk__free(rt, (void *)(uintptr_t)op->def.in);
  tfsdk__free(rt, (void *)(uintptr_t)op->def.out);
  tfsdk__free(rt, (void *)(uintptr_t)op->def.attr);
  tfsdk__free(rt, op);
}

/* Re-lays an array of records whose element size is the plugin's. */
tfsdk_status *tfsdk__registry_relay(tfsdk_runtime *rt, const void *src, uint32_t n, size_t src_size,
                                    size_t dst_size, const void **out) {
  char *copy = tfsdk__zalloc(rt, n * dst_size + 1);
  if (copy == NULL) return TFSDK__NOMEM(rt);
  if (src_size == 0) src_size = dst_size;
  for (uint32_t i = 0; i < n; i++)
    memcpy(copy + i * dst_size, (const char *)src + i * src_size,
           src_size < dst_size ? src_size : dst_size);
  *out = copy;
  return NULL;
}

bool tfsdk__registry_name_ok(const char *name) {
  if (name == NULL || *name == 0 || strlen(name) > 200) return false;
  for (const char *p = name; *p; p++)
    if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
          *p == '.' || *p == '_' || *p == '-'))
      return false;
  return true;
}

static tfsdk_status *insert_kernel(tfsdk_runtime *rt, tfsdk__op *op, tfsdk__kernel *k) {
  size_t at = 0;
  if (!TFSDK__GROW(rt, &op->kernels, 1)) return TFSDK__NOMEM(rt);
  while (at < op->kernels.n && op->kernels.data[at]->def.priority >= k->def.priority) at++;
  memmove(&op->kernels.data[at + 1], &op->kernels.data[at],
          (op->kernels.n - at) * sizeof op->kernels.data[0]);
  op->kernels.data[at] = k;
  op->kernels.n++;
  k->op = op;
  return NULL;
}

static tfsdk_status *registrar_op(tfsdk_registrar *r, const tfsdk_opdef *def) {
  tfsdk__txn *t = (tfsdk__txn *)r;
  tfsdk_runtime *rt = t->plugin->rt;
  tfsdk_opdef copy;
  TFSDK_TRY(tfsdk__take(&copy, sizeof copy, def, def->struct_size, "tfsdk_opdef"));
  if (!tfsdk__registry_name_ok(copy.name))
    return tfsdk__status_make(
        TFSDK_INVALID_ARGUMENT,
        "an op has the name '%s' (letters, digits, '.', '_' and '-' are allowed)",
        copy.name ? copy.name : "");
  for (size_t i = 0; i < t->ops.n; i++)
    if (strcmp(t->ops.data[i]->def.name, copy.name) == 0)
      return tfsdk__status_make(TFSDK_ALREADY_EXISTS, "op '%s' is registered twice", copy.name);
  tfsdk__op *op = tfsdk__zalloc(rt, sizeof *op);
  if (op == NULL) return TFSDK__NOMEM(rt);
  op->def = copy;
  op->def.in = op->def.out = NULL;
  op->def.attr = NULL;
  op->plugin = t->plugin;
  tfsdk_status *s = tfsdk__registry_relay(rt, copy.in, copy.n_in, copy.arg_size, sizeof *copy.in,
                                          (const void **)&op->def.in);
  if (s == NULL)
    s = tfsdk__registry_relay(rt, copy.out, copy.n_out, copy.arg_size, sizeof *copy.out,
                              (const void **)&op->def.out);
  if (s == NULL)
    s = tfsdk__registry_relay(rt, copy.attr, copy.n_attr, copy.attr_size, sizeof *copy.attr,
                              (const void **)&op->def.attr);
  if (s == NULL) s = tfsdk__schema_parse(op, rt);
  if (s == NULL && copy.reference != NULL) {
    tfsdk__kernel *k = tfsdk__zalloc(rt, sizeof *k);
    if (k == NULL)
      s = TFSDK__NOMEM(rt);
    else {
      k->def.struct_size = sizeof k->def;
      k->def.op = op->def.name;
      k->def.device = "cpu";
      k->def.label = "reference";
      k->def.compute = copy.reference;
      s = insert_kernel(rt, op, k);
      if (s != NULL) tfsdk__free(rt, k);
    }
  }
  if (s == NULL && !TFSDK__GROW(rt, &t->ops, 1)) s = TFSDK__NOMEM(rt);
  if (s != NULL) {
    op_release(rt, op);
    tfsdk__status_prefix(s, "op '%s'", copy.name);
    return s;
  }
  t->ops.data[t->ops.n++] = op;
  return NULL;
}

static tfsdk_status *registrar_kernel(tfsdk_registrar *r, const tfsdk_kerneldef *def) {
  tfsdk__txn *t = (tfsdk__txn *)r;
  tfsdk_runtime *rt = t->plugin->rt;
  tfsdk_kerneldef copy;
  TFSDK_TRY(tfsdk__take(&copy, sizeof copy, def, def->struct_size, "tfsdk_kerneldef"));
  if (!tfsdk__registry_name_ok(copy.op) || copy.device == NULL || copy.compute == NULL)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "a kernel lacks its op, device or compute function");
  tfsdk__kernel *k = TFSDK__GROW(rt, &t->kernels, 1) ? tfsdk__zalloc(rt, sizeof *k) : NULL;
  if (k == NULL) return TFSDK__NOMEM(rt);
  k->def = copy;
  if (k->def.label == NULL) k->def.label = t->plugin->manifest.name;
  k->plugin = t->plugin;
  t->kernels.data[t->kernels.n++] = k;
  return NULL;
}

#define REGISTRAR(kind, type, list)                                                                \
  static tfsdk_status *registrar_##kind(tfsdk_registrar *r, const type *def) {                     \
    tfsdk__txn *t = (tfsdk__txn *)r;                                                               \
    if (!TFSDK__GROW(t->plugin->rt, &t->list, 1)) return TFSDK__NOMEM(rt);                         \
    TFSDK_TRY(tfsdk__take(&t->list.data[t->list.n], sizeof *def, def, def->struct_size, #type));   \
    t->list.n++;                                                                                   \
    return NULL;                                                                                   \
  }
REGISTRAR(device, tfsdk_devdef, devices)
REGISTRAR(layer, tfsdk_layerdef, layers)
REGISTRAR(reader, tfsdk_readerdef, readers)
REGISTRAR(writer, tfsdk_writerdef, writers)

void tfsdk__txn_begin(tfsdk__txn *t, tfsdk__plugin *p) {
  memset(t, 0, sizeof *t);
  t->plugin = p;
  t->registrar.host = &p->host;
  t->registrar.struct_size = sizeof t->registrar;
  t->registrar.op = registrar_op;
  t->registrar.kernel = registrar_kernel;
  t->registrar.device = registrar_device;
  t->registrar.layer = registrar_layer;
  t->registrar.reader = registrar_reader;
  t->registrar.writer = registrar_writer;
}

static void txn_free_lists(tfsdk__txn *t) {
  tfsdk_runtime *rt = t->plugin->rt;
  tfsdk__free(rt, t->ops.data);
  tfsdk__free(rt, t->kernels.data);
  tfsdk__free(rt, t->devices.data);
  tfsdk__free(rt, t->layers.data);
  tfsdk__free(rt, t->readers.data);
  tfsdk__free(rt, t->writers.data);
  tfsdk__plugin *p = t->plugin;
  memset(t, 0, sizeof *t);
  t->plugin = p;
}

void tfsdk__txn_rollback(tfsdk__txn *t) {
  for (size_t i = 0; i < t->ops.n; i++) op_release(t->plugin->rt, t->ops.data[i]);
  for (size_t i = 0; i < t->kernels.n; i++) tfsdk__free(t->plugin->rt, t->kernels.data[i]);
  txn_free_lists(t);
}

static const char *path_of(const tfsdk__plugin *p) {
  return p->path && *p->path ? p->path : p->manifest.name;
}

tfsdk_status *tfsdk__registry_taken(const char *kind, const char *name, const tfsdk__plugin *first,
                                    const tfsdk__plugin *second) {
  return tfsdk__status_make(TFSDK_ALREADY_EXISTS, "%s '%s' of %s exists already: %s provides it",
                            kind, name, path_of(second), path_of(first));
}

/* Whether two kernels take the same case: for every attribute that both restrict, some type is in
 * both. */
static bool overlap(const tfsdk_kerneldef *a, const tfsdk_kerneldef *b) {
  for (uint32_t i = 0; i < a->n_where; i++)
    for (uint32_t j = 0; j < b->n_where; j++) {
      if (strcmp(a->where[i].attr, b->where[j].attr) != 0) continue;
      bool common = false;
      for (const int32_t *x = a->where[i].oneof; *x != 0; x++)
        for (const int32_t *y = b->where[j].oneof; *y != 0; y++) common = common || *x == *y;
      if (!common) return false;
    }
  return true;
}

static tfsdk_status *check_tie(const tfsdk__kernel *old, const tfsdk__kernel *k) {
  if (old->plugin == k->plugin || old->plugin == NULL || old->def.priority != k->def.priority ||
      strcmp(old->def.op, k->def.op) != 0 || strcmp(old->def.device, k->def.device) != 0 ||
      !overlap(&old->def, &k->def))
    return NULL;
  return tfsdk__status_make(TFSDK_ALREADY_EXISTS,
                            "a kernel for '%s' on %s with priority %d comes from %s and from %s: "
                            "one must have another priority",
                            k->def.op, k->def.device, (int)k->def.priority, path_of(old->plugin),
                            path_of(k->plugin));
}

typedef struct reader_entry {
  tfsdk_readerdef def;
  tfsdk__plugin *plugin;
} reader_entry;
typedef struct writer_entry {
  tfsdk_writerdef def;
  tfsdk__plugin *plugin;
} writer_entry;

static tfsdk_status *check_commit(tfsdk__txn *t) {
  tfsdk_runtime *rt = t->plugin->rt;
  for (size_t i = 0; i < t->ops.n; i++) {
    tfsdk__op *old = tfsdk__map_get(&rt->ops, t->ops.data[i]->def.name);
    if (old != NULL) return tfsdk__registry_taken("op", old->def.name, old->plugin, t->plugin);
  }
  for (size_t i = 0; i < t->kernels.n; i++) {
    tfsdk__op *op = tfsdk__map_get(&rt->ops, t->kernels.data[i]->def.op);
    for (size_t j = 0; op != NULL && j < op->kernels.n; j++)
      TFSDK_TRY(check_tie(op->kernels.data[j], t->kernels.data[i]));
    for (size_t j = 0; j < rt->orphan_kernels.n; j++)
      TFSDK_TRY(check_tie(rt->orphan_kernels.data[j], t->kernels.data[i]));
  }
  for (size_t i = 0; i < t->devices.n; i++) {
    const tfsdk_devdef *d = &t->devices.data[i];
    if (d->type == NULL || d->count == NULL || d->open == NULL || d->info == NULL)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                "a device record lacks its type, count, open or info");
    for (size_t j = 0; j < rt->devtypes.n; j++)
      if (strcmp(rt->devtypes.data[j]->def.type, d->type) == 0)
        return tfsdk__registry_taken("device type", d->type, rt->devtypes.data[j]->plugin,
                                     t->plugin);
  }
  for (size_t i = 0; i < t->readers.n; i++) {
    const tfsdk_readerdef *d = &t->readers.data[i];
    if (d->name == NULL || d->open == NULL || d->components == NULL || d->next == NULL ||
        d->close == NULL)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                "a reader record lacks its name, open, components, next or close");
    const reader_entry *old = tfsdk__map_get(&rt->readers, d->name);
    if (old != NULL) return tfsdk__registry_taken("reader", d->name, old->plugin, t->plugin);
    for (size_t j = 0; j < i; j++)
      if (strcmp(t->readers.data[j].name, d->name) == 0)
        return tfsdk__registry_taken("reader", d->name, t->plugin, t->plugin);
  }
  for (size_t i = 0; i < t->writers.n; i++) {
    const tfsdk_writerdef *d = &t->writers.data[i];
    if (d->name == NULL || d->open == NULL || d->append == NULL || d->finish == NULL ||
        d->close == NULL)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                "a writer record lacks its name, open, append, finish or close");
    const writer_entry *old = tfsdk__map_get(&rt->writers, d->name);
    if (old != NULL) return tfsdk__registry_taken("writer", d->name, old->plugin, t->plugin);
    for (size_t j = 0; j < i; j++)
      if (strcmp(t->writers.data[j].name, d->name) == 0)
        return tfsdk__registry_taken("writer", d->name, t->plugin, t->plugin);
  }
  return NULL;
}

/* Everything that can fail for lack of memory happens here, before anything shows. */
static bool reserve(tfsdk__txn *t) {
  tfsdk_runtime *rt = t->plugin->rt;
  if (!TFSDK__GROW(rt, &rt->op_list, t->ops.n) || !TFSDK__GROW(rt, &rt->devtypes, t->devices.n) ||
      !TFSDK__GROW(rt, &rt->orphan_kernels, t->kernels.n) ||
      !tfsdk__map_reserve(rt, &rt->ops, t->ops.n) ||
      !tfsdk__map_reserve(rt, &rt->readers, t->readers.n) ||
      !tfsdk__map_reserve(rt, &rt->writers, t->writers.n) ||
      !tfsdk__map_reserve(rt, &rt->layers, t->layers.n))
    return false;
  for (size_t i = 0; i < t->kernels.n; i++) {
    tfsdk__op *op = tfsdk__map_get(&rt->ops, t->kernels.data[i]->def.op);
    if (op != NULL && !TFSDK__GROW(rt, &op->kernels, t->kernels.n)) return false;
  }
  for (size_t i = 0; i < t->ops.n; i++)
    if (!TFSDK__GROW(rt, &t->ops.data[i]->kernels, rt->orphan_kernels.n + t->kernels.n))
      return false;
  return true;
}

static void show_kernel(tfsdk_runtime *rt, tfsdk__kernel *k) {
  tfsdk__op *op = tfsdk__map_get(&rt->ops, k->def.op);
  if (op == NULL)
    rt->orphan_kernels.data[rt->orphan_kernels.n++] = k;
  else
    (void)!insert_kernel(rt, op, k); /* room was reserved */
}

tfsdk_status *tfsdk__txn_commit(tfsdk__txn *t) {
  tfsdk_runtime *rt = t->plugin->rt;
  tfsdk__plugin *p = t->plugin;
  tfsdk_status *s = check_commit(t);
  if (s == NULL && !reserve(t)) s = TFSDK__NOMEM(rt);
  tfsdk__layer **layers = NULL;
  if (s == NULL) s = tfsdk__layers_make(t, &layers);
  reader_entry **readers = s ? NULL : tfsdk__zalloc(rt, (t->readers.n + 1) * sizeof *readers);
  writer_entry **writers = s ? NULL : tfsdk__zalloc(rt, (t->writers.n + 1) * sizeof *writers);
  tfsdk__devtype **types = s ? NULL : tfsdk__zalloc(rt, (t->devices.n + 1) * sizeof *types);
  if (s == NULL && (readers == NULL || writers == NULL || types == NULL)) s = TFSDK__NOMEM(rt);
  for (size_t i = 0; s == NULL && i < t->readers.n; i++) {
    readers[i] = tfsdk__zalloc(rt, sizeof **readers);
    if (readers[i] == NULL) s = TFSDK__NOMEM(rt);
  }
  for (size_t i = 0; s == NULL && i < t->writers.n; i++)
    if ((writers[i] = tfsdk__zalloc(rt, sizeof **writers)) == NULL) s = TFSDK__NOMEM(rt);
  for (size_t i = 0; s == NULL && i < t->devices.n; i++)
    if ((types[i] = tfsdk__zalloc(rt, sizeof **types)) == NULL) s = TFSDK__NOMEM(rt);
  if (s != NULL) {
    for (size_t i = 0; readers != NULL && i < t->readers.n; i++) tfsdk__free(rt, readers[i]);
    for (size_t i = 0; writers != NULL && i < t->writers.n; i++) tfsdk__free(rt, writers[i]);
    for (size_t i = 0; types != NULL && i < t->devices.n; i++) tfsdk__free(rt, types[i]);
    tfsdk__free(rt, readers);
    tfsdk__free(rt, writers);
    tfsdk__free(rt, types);
    tfsdk__layers_drop(t, layers);
    tfsdk__txn_rollback(t);
    return s;
  }
  for (size_t i = 0; i < t->ops.n; i++) {
    tfsdk__op *op = t->ops.data[i];
    op->index = (uint32_t)rt->op_list.n;
    rt->op_list.data[rt->op_list.n++] = op;
    (void)tfsdk__map_put(rt, &rt->ops, op->def.name, op);
    size_t kept = 0;
    for (size_t j = 0; j < rt->orphan_kernels.n; j++) {
      tfsdk__kernel *k = rt->orphan_kernels.data[j];
      if (strcmp(k->def.op, op->def.name) == 0)
        (void)!insert_kernel(rt, op, k);
      else
        rt->orphan_kernels.data[kept++] = k;
    }
    rt->orphan_kernels.n = kept;
  }
  for (size_t i = 0; i < t->kernels.n; i++) show_kernel(rt, t->kernels.data[i]);
  for (size_t i = 0; i < t->devices.n; i++) {
    types[i]->def = t->devices.data[i];
    types[i]->plugin = p;
    rt->devtypes.data[rt->devtypes.n++] = types[i];
  }
  for (size_t i = 0; i < t->readers.n; i++) {
    readers[i]->def = t->readers.data[i];
    readers[i]->plugin = p;
    (void)tfsdk__map_put(rt, &rt->readers, readers[i]->def.name, readers[i]);
  }
  for (size_t i = 0; i < t->writers.n; i++) {
    writers[i]->def = t->writers.data[i];
    writers[i]->plugin = p;
    (void)tfsdk__map_put(rt, &rt->writers, writers[i]->def.name, writers[i]);
  }
  tfsdk__layers_show(t, layers);
  p->n_ops = (uint32_t)t->ops.n;
  p->n_kernels = (uint32_t)t->kernels.n;
  p->n_devices = (uint32_t)t->devices.n;
  p->n_readers = (uint32_t)t->readers.n;
  p->n_layers = (uint32_t)t->layers.n;
  p->n_writers = (uint32_t)t->writers.n;
  tfsdk__free(rt, readers);
  tfsdk__free(rt, writers);
  tfsdk__free(rt, types);
  txn_free_lists(t);
  return NULL;
}

void tfsdk__registry_deinit(tfsdk_runtime *rt) {
  for (size_t i = 0; i < rt->op_list.n; i++) op_release(rt, rt->op_list.data[i]);
  for (size_t i = 0; i < rt->orphan_kernels.n; i++) tfsdk__free(rt, rt->orphan_kernels.data[i]);
  for (size_t i = 0; i < rt->devtypes.n; i++)
    tfsdk__free(rt, (void *)(uintptr_t)rt->devtypes.data[i]);
  for (size_t i = 0; i < rt->readers.cap; i++)
    if (rt->readers.slot[i].key != NULL) tfsdk__free(rt, rt->readers.slot[i].value);
  for (size_t i = 0; i < rt->writers.cap; i++)
    if (rt->writers.slot[i].key != NULL) tfsdk__free(rt, rt->writers.slot[i].value);
  for (size_t i = 0; i < rt->layers.cap; i++)
    if (rt->layers.slot[i].key != NULL) tfsdk__layer_release(rt, rt->layers.slot[i].value);
  tfsdk__free(rt, rt->op_list.data);
  tfsdk__free(rt, rt->orphan_kernels.data);
  tfsdk__free(rt, rt->devtypes.data);
  tfsdk__map_deinit(rt, &rt->ops);
  tfsdk__map_deinit(rt, &rt->readers);
  tfsdk__map_deinit(rt, &rt->writers);
  tfsdk__map_deinit(rt, &rt->layers);
}

/* ---------------------------------------------------------------------------------------- look-ups
 */

typedef struct nearest {
  const char *name;
  char best[128];
  int distance;
} nearest;

static int consider(void *user, const char *name) {
  nearest *n = user;
  int d = tfsdk__distance(n->name, name);
  if (d < n->distance) {
    n->distance = d;
    snprintf(n->best, sizeof n->best, "%s", name);
  }
  return 0;
}

tfsdk_status *tfsdk__op_find(tfsdk_runtime *rt, const char *name, tfsdk__op **out) {
  tfsdk_status *s = NULL;
  pthread_mutex_lock(&rt->lock);
  tfsdk__op *op = tfsdk__map_get(&rt->ops, name);
  if (op == NULL) {
    s = tfsdk__loader_provide_op(rt, name);
    op = tfsdk__map_get(&rt->ops, name);
  }
  if (op == NULL && s == NULL) {
    nearest n = {name, "", 1000};
    for (size_t i = 0; i < rt->op_list.n; i++) consider(&n, rt->op_list.data[i]->def.name);
    tfsdk__loader_each(rt, "op", consider, &n);
    s = *n.best ? tfsdk__status_make(TFSDK_NOT_FOUND, "there is no op '%s'; the nearest is '%s'",
                                     name, n.best)
                : tfsdk__status_make(TFSDK_NOT_FOUND,
                                     "there is no op '%s', and no plugin with ops was found", name);
  }
  pthread_mutex_unlock(&rt->lock);
  if (op == NULL) return s;
  tfsdk_status_release(s);
  *out = op;
  return NULL;
}

tfsdk_status *tfsdk_op_find(tfsdk_runtime *rt, const char *name, const tfsdk_opdef **out) {
  tfsdk__op *op;
  TFSDK_TRY(tfsdk__op_find(rt, name, &op));
  *out = &op->def;
  return NULL;
}

const char *tfsdk_op_plugin(tfsdk_runtime *rt, const char *name) {
  tfsdk__op *op;
  tfsdk_status *s = tfsdk__op_find(rt, name, &op);
  tfsdk_status_release(s);
  return s ? "" : op->plugin->manifest.name;
}

typedef struct name_set {
  tfsdk_runtime *rt;
  TFSDK__VEC(const char *) names;
} name_set;

static int add_name(void *user, const char *name) {
  name_set *set = user;
  if (TFSDK__GROW(set->rt, &set->names, 1)) set->names.data[set->names.n++] = name;
  return 0;
}
static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those that are loaded and those that the index knows, each once, in alphabetical order. */
void tfsdk__each_name(tfsdk_runtime *rt, const char *kind, int (*fn)(void *user, const char *name),
                      void *user) {
  name_set set = {rt, {NULL, 0, 0}};
  pthread_mutex_lock(&rt->lock);
  tfsdk__loader_each(rt, kind, add_name, &set);
  if (set.names.n > 0) qsort(set.names.data, set.names.n, sizeof *set.names.data, by_text);
  for (size_t i = 0; i < set.names.n; i++)
    if ((i == 0 || strcmp(set.names.data[i], set.names.data[i - 1]) != 0) &&
        fn(user, set.names.data[i]))
      break;
  pthread_mutex_unlock(&rt->lock);
  tfsdk__free(rt, set.names.data);
}

void tfsdk_op_each(tfsdk_runtime *rt, int (*fn)(void *user, const char *name), void *user) {
  tfsdk__each_name(rt, "op", fn, user);
}

typedef struct known_name {
  const char *name;
  size_t n;
  int found;
} known_name;
static int match_name(void *user, const char *name) {
  known_name *k = user;
  if (strncmp(name, k->name, k->n) == 0 && (name[k->n] == 0 || name[k->n] == '.')) k->found = 1;
  return k->found;
}

int32_t tfsdk_op_known(tfsdk_runtime *rt, const char *name) {
  known_name k = {name, strlen(name), 0};
  pthread_mutex_lock(&rt->lock);
  if (tfsdk__map_get(&rt->ops, name) != NULL) k.found = 1;
  for (size_t i = 0; !k.found && i < rt->op_list.n; i++)
    match_name(&k, rt->op_list.data[i]->def.name);
  if (!k.found) tfsdk__loader_each(rt, "op", match_name, &k);
  pthread_mutex_unlock(&rt->lock);
  return k.found;
}

static bool ends_with(const char *path, const char *endings) {
  size_t n = strlen(path);
  for (const char *p = endings; p != NULL && *p != 0;) {
    size_t k = strcspn(p, " ");
    if (k > 0 && k <= n && strncmp(path + n - k, p, k) == 0) return true;
    p += k;
    while (*p == ' ') p++;
  }
  return false;
}

tfsdk_status *tfsdk__reader_find(tfsdk_runtime *rt, const char *name, const char *path,
                                 const tfsdk_readerdef **out, tfsdk__plugin **out_plugin) {
  reader_entry *e = NULL;
  tfsdk_status *s = NULL;
  pthread_mutex_lock(&rt->lock);
  for (int tried = 0; e == NULL && s == NULL && tried < 2; tried++) {
    if (tried == 1) s = tfsdk__loader_provide_reader(rt, name, path);
    if (name != NULL) e = tfsdk__map_get(&rt->readers, name);
    for (size_t i = 0; name == NULL && e == NULL && i < rt->readers.cap; i++) {
      reader_entry *c = rt->readers.slot[i].key ? rt->readers.slot[i].value : NULL;
      if (c != NULL && ends_with(path, c->def.extensions)) e = c;
    }
  }
  pthread_mutex_unlock(&rt->lock);
  if (e == NULL && s == NULL)
    s = name ? tfsdk__status_make(TFSDK_NOT_FOUND, "there is no reader '%s' (for '%s')", name, path)
             : tfsdk__status_make(TFSDK_NOT_FOUND, "no reader knows the ending of '%s'; name one",
                                  path);
  if (e == NULL) return s;
  tfsdk_status_release(s);
  *out = &e->def;
  *out_plugin = e->plugin;
  return NULL;
}

tfsdk_status *tfsdk__writer_find(tfsdk_runtime *rt, const char *name, const char *path,
                                 const tfsdk_writerdef **out, tfsdk__plugin **out_plugin) {
  writer_entry *e = NULL;
  tfsdk_status *s = NULL;
  pthread_mutex_lock(&rt->lock);
  for (int tried = 0; e == NULL && s == NULL && tried < 2; tried++) {
    if (tried == 1) s = tfsdk__loader_provide_writer(rt, name, path);
    if (name != NULL) e = tfsdk__map_get(&rt->writers, name);
    for (size_t i = 0; name == NULL && e == NULL && i < rt->writers.cap; i++) {
      writer_entry *c = rt->writers.slot[i].key ? rt->writers.slot[i].value : NULL;
      if (c != NULL && ends_with(path, c->def.extensions)) e = c;
    }
  }
  pthread_mutex_unlock(&rt->lock);
  if (e == NULL && s == NULL)
    s = name ? tfsdk__status_make(TFSDK_NOT_FOUND, "there is no writer '%s' (for '%s')", name, path)
             : tfsdk__status_make(TFSDK_NOT_FOUND, "no writer knows the ending of '%s'; name one",
                                  path);
  if (e == NULL) return s;
  tfsdk_status_release(s);
  *out = &e->def;
  *out_plugin = e->plugin;
  return NULL;
}

tfsdk_status *tfsdk_kernel_each(tfsdk_runtime *rt, const char *name,
                                int (*fn)(void *user, const char *device, const char *label,
                                          const char *plugin, int32_t priority, const char *dtypes),
                                void *user) {
  tfsdk__op *op;
  TFSDK_TRY(tfsdk__op_find(rt, name, &op));
  pthread_mutex_lock(&rt->lock);
  tfsdk__loader_provide_kernels(rt, name, NULL);
  for (size_t i = 0; i < op->kernels.n; i++) {
    tfsdk__kernel *k = op->kernels.data[i];
    tfsdk__buf b = {0};
    for (uint32_t w = 0; w < k->def.n_where; w++)
      for (const int32_t *d = k->def.where[w].oneof; *d != 0; d++)
        tfsdk__buf_add(&b, "%s%s", b.n ? " " : "", tfsdk_dtype_name(*d));
    int stop = fn(user, k->def.device, k->def.label,
                  k->plugin ? k->plugin->manifest.name : op->plugin->manifest.name, k->def.priority,
                  b.s ? b.s : "all");
    tfsdk__buf_deinit(&b);
    if (stop) break;
  }
  pthread_mutex_unlock(&rt->lock);
  return NULL;
}
