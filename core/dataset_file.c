/* Datasets of files: what a reader gives, record by record.
 *
 * A reader is opened when the dataset is made, since only then its components are known; the first
 * iterator goes on with it. Every further iterator and epoch opens the file anew. */
#include <errno.h>
#include <sys/stat.h>

#include "dataset.h"

typedef struct file {
  tfsdk_dataset base;
  const tfsdk_readerdef *def; /* of a plugin, which stays */
  tfsdk__plugin *plugin;
  tfsdk__attrlist *options;
  char *path;
  tfsdk_typed_shape *type; /* of each component, as the reader declared it */
  _Atomic(void *) spare;   /* an open reader that nobody has used yet */
} file;

typedef struct file_link {
  tfsdk__link base;
  tfsdk_record record; /* what the reader fills; tfsdk__link_of finds the way back */
  void *reader;
  tfsdk__item *out;
  bool *given;
} file_link;

static void file_release(tfsdk_dataset *d) {
  file *f = (file *)d;
  void *spare = atomic_load(&f->spare);
  if (spare != NULL) f->def->close(spare);
  tfsdk__attrlist_release(d->rt, f->options);
  tfsdk__free(d->rt, f->path);
  tfsdk__free(d->rt, f->type);
}

/* Facts that the reader cannot know it should add. */
static tfsdk_status *located(const file *f, tfsdk_status *s) {
  tfsdk__status_add(s, "path", "%s", f->path);
  return s;
}

#define MAX_COMPONENTS 65536

/* Opens a reader and asks for its components; the list is the caller's to free. */
static tfsdk_status *open_reader(tfsdk_runtime *rt, const tfsdk_readerdef *def,
                                 tfsdk__plugin *plugin, const char *path,
                                 const tfsdk__attrlist *options, void **out_reader,
                                 tfsdk_component **out_list, uint32_t *out_n) {
  tfsdk_attrs attrs = tfsdk__attrlist_view(options);
  tfsdk_component *list = NULL;
  void *reader = NULL;
  uint32_t cap = 8, n = 0;
  TFSDK_TRY(def->open(plugin->self, &plugin->host, path, &attrs, &reader));
  tfsdk_status *s = NULL;
  do { /* a second time when there are more than expected */
    if (n > cap) cap = n;
    tfsdk__free(rt, list);
    list = tfsdk__zalloc(rt, cap * sizeof *list);
    s = list != NULL ? def->components(reader, list, cap, &n) : TFSDK__NOMEM(rt);
  } while (s == NULL && n > cap && n <= MAX_COMPONENTS);
  if (s == NULL && (n == 0 || n > cap))
    s = TFSDK_FAIL(rt, INTERNAL, "reader '%s' gives %u components", def->name, n);
  if (s != NULL) {
    tfsdk__free(rt, list);
    def->close(reader);
    return s;
  }
  for (uint32_t i = 0; i < n; i++) list[i].name[sizeof list[i].name - 1] = 0;
  *out_reader = reader;
  *out_list = list;
  *out_n = n;
  return NULL;
}

/* The file may be another one by now; its records must still have the form that was promised. */
static tfsdk_status *reopen(file_link *it) {
  file *f = (file *)it->base.d;
  tfsdk_component *list;
  uint32_t n;
  TFSDK_TRY(
      open_reader(it->base.rt, f->def, f->plugin, f->path, f->options, &it->reader, &list, &n));
  bool same = n == f->base.n;
  for (uint32_t i = 0; same && i < n; i++) same = list[i].type.dtype == f->type[i].dtype;
  tfsdk__free(it->base.rt, list);
  if (!same)
    return TFSDK_FAIL(it->base.rt, FAILED_PRECONDITION,
                      "'%s' has other components than when the dataset was made", f->path);
  return NULL;
}

/* ------------------------------------------------------------------------------------- one record
 */

static file_link *link_of(tfsdk_record *r) {
  return (file_link *)((uintptr_t)r - offsetof(file_link, record));
}

static bool fits(const tfsdk_shape *declared, uint32_t rank, const int64_t *dim) {
  if (declared->rank >= 0 && declared->rank != (int32_t)rank) return false;
  for (int32_t i = 0; i < declared->rank; i++)
    if (declared->dim[i] >= 0 && declared->dim[i] != dim[i]) return false;
  return true;
}

static tfsdk_status *record_alloc(tfsdk_record *r, uint32_t i, uint32_t rank, const int64_t *dim,
                                  uint64_t bytes, tfsdk_view *out) {
  file_link *it = link_of(r);
  const file *f = (const file *)it->base.d;
  tfsdk_tensor **t = &it->out[i].tensor;
  if (i >= r->n || it->given[i] || !fits(&f->type[i].shape, rank, dim))
    return TFSDK_FAIL(it->base.rt, INTERNAL, "reader '%s' gives component %u %s", f->def->name, i,
                      i >= r->n      ? "of too few"
                      : it->given[i] ? "twice"
                                     : "a shape that it did not declare");
  if (f->type[i].dtype == TFSDK_STRING)
    TFSDK_TRY(tfsdk__tensor_alloc_strings(it->base.rt, rank, dim, bytes, t));
  else
    TFSDK_TRY(tfsdk__tensor_alloc(tfsdk__device_host(it->base.rt), f->type[i].dtype, rank, dim, t));
  it->given[i] = true;
  tfsdk__tensor_fill_view(*t, out);
  return NULL;
}

static tfsdk_status *file_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  file_link *it = (file_link *)l;
  const file *f = (const file *)l->d;
  int32_t end = 0;
  it->out = out;
  memset(it->given, 0, l->d->n * sizeof *it->given);
  tfsdk_status *s = f->def->next(it->reader, &it->record, &end);
  for (uint32_t i = 0; s == NULL && end == 0 && i < l->d->n; i++)
    if (!it->given[i])
      s = TFSDK_FAIL(l->rt, INTERNAL, "reader '%s' gives a record without component %u",
                     f->def->name, i);
  *out_end = end != 0;
  if (s == NULL && end == 0) return NULL;
  for (uint32_t i = 0; i < l->d->n; i++)
    if (it->given[i]) tfsdk_tensor_release(out[i].tensor);
  return located(f, s);
}

static tfsdk_status *file_open(tfsdk__link *l) {
  file_link *it = (file_link *)l;
  file *f = (file *)l->d;
  it->record.host = &f->plugin->host;
  it->record.struct_size = sizeof it->record;
  it->record.n = l->d->n;
  it->record.alloc = record_alloc;
  it->given = tfsdk__zalloc(l->rt, l->d->n * sizeof *it->given);
  if (it->given == NULL) return TFSDK__NOMEM(l->rt);
  it->reader = atomic_exchange(&f->spare, NULL);
  return it->reader != NULL ? NULL : located(f, reopen(it));
}

static tfsdk_status *file_rewind(tfsdk__link *l) {
  file_link *it = (file_link *)l;
  file *f = (file *)l->d;
  if (it->reader != NULL) f->def->close(it->reader);
  it->reader = NULL;
  return located(f, reopen(it));
}

static void file_close(tfsdk__link *l) {
  file_link *it = (file_link *)l;
  if (it->reader != NULL) ((file *)l->d)->def->close(it->reader);
  tfsdk__free(l->rt, it->given);
}

static const tfsdk__dataset_kind file_kind = {.name = "from_file",
                                              .dataset_bytes = sizeof(file),
                                              .link_bytes = sizeof(file_link),
                                              .release = file_release,
                                              .open = file_open,
                                              .next = file_next,
                                              .rewind = file_rewind,
                                              .close = file_close};

/* --------------------------------------------------------------------------------------- the call
 */

/* The reader's option records may be of another size than ours. */
static tfsdk_status *resolve_options(tfsdk_runtime *rt, const tfsdk_readerdef *def,
                                     const tfsdk_attrval *given, size_t n, tfsdk__attrlist **out) {
  size_t size = def->attr_size ? def->attr_size : sizeof(tfsdk_attrdef);
  tfsdk_attrdef *defs = tfsdk__zalloc(rt, (def->n_option + 1u) * sizeof *defs);
  if (defs == NULL) return TFSDK__NOMEM(rt);
  for (size_t i = 0; i < def->n_option; i++)
    memcpy(&defs[i], (const char *)def->option + i * size,
           size < sizeof *defs ? size : sizeof *defs);
  tfsdk_status *s = tfsdk__attrlist_resolve(rt, def->name, defs, def->n_option, given, n, out);
  tfsdk__free(rt, defs);
  return s;
}

static tfsdk_status *make_file(tfsdk_runtime *rt, const tfsdk_component *list, uint32_t n,
                               const char *path, tfsdk_dataset **out) {
  const char **names = tfsdk__alloc(rt, n * sizeof *names);
  tfsdk_dataset *d = NULL;
  if (names == NULL) return TFSDK__NOMEM(rt);
  for (uint32_t i = 0; i < n; i++) names[i] = list[i].name;
  tfsdk_status *s = tfsdk__dataset_source(rt, &file_kind, n, names, &d);
  tfsdk__free(rt, names);
  if (s != NULL) return s;
  file *f = (file *)d;
  atomic_init(&f->spare, NULL);
  f->path = tfsdk__strdup(rt, path);
  f->type = tfsdk__alloc(rt, n * sizeof *f->type);
  if (f->path == NULL || f->type == NULL) {
    tfsdk_dataset_release(d);
    return TFSDK__NOMEM(rt);
  }
  for (uint32_t i = 0; i < n; i++) f->type[i] = list[i].type;
  *out = d;
  return NULL;
}

/* That a file is not there, or is a folder, says more than that its ending is unknown. */
static tfsdk_status *explain_unknown(tfsdk_runtime *rt, const char *path, tfsdk_status *take) {
  struct stat st;
  int error = stat(path, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
  if (error != ENOENT && error != EISDIR) return take;
  tfsdk_status_release(take);
  return error == ENOENT
             ? TFSDK_FAIL(rt, NOT_FOUND, "%s: cannot be opened: No such file or directory", path)
             : TFSDK_FAIL(rt, INVALID_ARGUMENT, "%s: cannot be opened: Is a directory", path);
}

tfsdk_status *tfsdk_dataset_from_file(tfsdk_runtime *rt, const char *path, const char *reader_name,
                                      const tfsdk_attrval *options, size_t n_options,
                                      tfsdk_dataset **out) {
  const tfsdk_readerdef *def;
  tfsdk__plugin *plugin;
  tfsdk__attrlist *list = NULL;
  tfsdk_component *component = NULL;
  void *reader = NULL;
  uint32_t n = 0;
  *out = NULL;
  tfsdk_status *s = tfsdk__reader_find(rt, reader_name, path, &def, &plugin);
  if (s != NULL && reader_name == NULL) s = explain_unknown(rt, path, s);
  if (s == NULL) s = resolve_options(rt, def, options, n_options, &list);
  if (s == NULL) s = open_reader(rt, def, plugin, path, list, &reader, &component, &n);
  if (s == NULL) s = make_file(rt, component, n, path, out);
  tfsdk__free(rt, component);
  if (s != NULL) {
    if (reader != NULL) def->close(reader);
    tfsdk__attrlist_release(rt, list);
    tfsdk__status_add(s, "path", "%s", path);
    return s;
  }
  file *f = (file *)*out;
  f->def = def;
  f->plugin = plugin;
  f->options = list;
  atomic_store(&f->spare, reader);
  return NULL;
}
