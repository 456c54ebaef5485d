/* Files of named tensors, through readers that know such formats.
 *
 * A reader of this kind has three ways of being opened, told apart by its options:
 *   metadata = true     one record, the string `metadata`: JSON
 *   tensors = {names}   one record with a component for each name, in that order
 *   neither             a record for each tensor: name, dtype, shape, file, offset; by name
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

typedef struct source {
  tfsdk_record record; /* first: what the reader fills */
  tfsdk_runtime *rt;
  const tfsdk_readerdef *def;
  tfsdk__plugin *plugin;
  tfsdk__attrlist *options;
  void *reader;
  tfsdk_component *list;
  tfsdk_tensor **tensor; /* of the present record */
  uint32_t n;
} source;

static void drop_record(source *f) {
  for (uint32_t i = 0; f->tensor != NULL && i < f->n; i++) {
    tfsdk_tensor_release(f->tensor[i]);
    f->tensor[i] = NULL;
  }
}

static void close_source(source *f) {
  drop_record(f);
  if (f->reader != NULL) f->def->close(f->reader);
  tfsdk__attrlist_release(f->rt, f->options);
  tfsdk__free(f->rt, f->list);
  tfsdk__free(f->rt, f->tensor);
}

static tfsdk_status *record_alloc(tfsdk_record *r, uint32_t i, uint32_t rank, const int64_t *dim,
                                  uint64_t bytes, tfsdk_view *out) {
  source *f = (source *)r;
  if (i >= f->n || f->tensor[i] != NULL)
    return TFSDK_FAIL(f->rt, INTERNAL, "reader '%s' gives component %u %s", f->def->name, i,
                      i >= f->n ? "of too few" : "twice");
  int32_t dtype = f->list[i].type.dtype;
  if (dtype == TFSDK_STRING)
    TFSDK_TRY(tfsdk__tensor_alloc_strings(f->rt, rank, dim, bytes, &f->tensor[i]));
  else
    TFSDK_TRY(tfsdk__tensor_alloc(tfsdk__device_host(f->rt), dtype, rank, dim, &f->tensor[i]));
  tfsdk__tensor_fill_view(f->tensor[i], out);
  return NULL;
}

static tfsdk_status *open_source(tfsdk_runtime *rt, const char *path, const char *reader,
                                 const tfsdk_attrval *option, size_t n, source *f) {
  memset(f, 0, sizeof *f);
  f->rt = rt;
  TFSDK_TRY(tfsdk__reader_find(rt, reader, path, &f->def, &f->plugin));
  TFSDK_TRY(tfsdk__options_resolve(rt, f->def->name, f->def->option, f->def->n_option,
                                   f->def->attr_size, option, n, &f->options));
  tfsdk_attrs attrs = tfsdk__attrlist_view(f->options);
  TFSDK_TRY(f->def->open(f->plugin->self, &f->plugin->host, path, &attrs, &f->reader));
  TFSDK_TRY(f->def->components(f->reader, NULL, 0, &f->n));
  f->list = tfsdk__zalloc(rt, (f->n + 1) * sizeof *f->list);
  f->tensor = tfsdk__zalloc(rt, (f->n + 1) * sizeof *f->tensor);
  if (f->list == NULL || f->tensor == NULL) return TFSDK__NOMEM(rt);
  uint32_t again = f->n;
  TFSDK_TRY(f->def->components(f->reader, f->list, f->n, &again));
  if (again != f->n)
    return TFSDK_FAIL(rt, INTERNAL, "reader '%s' changes its components", f->def->name);
  f->record.host = &f->plugin->host;
  f->record.struct_size = sizeof f->record;
  f->record.n = f->n;
  f->record.alloc = record_alloc;
  return NULL;
}

static tfsdk_status *next_record(source *f, bool *out_end) {
  int32_t end = 0;
  drop_record(f);
  TFSDK_TRY(f->def->next(f->reader, &f->record, &end));
  for (uint32_t i = 0; end == 0 && i < f->n; i++)
    if (f->tensor[i] == NULL)
      return TFSDK_FAIL(f->rt, INTERNAL, "reader '%s' gives a record without component %u",
                        f->def->name, i);
  *out_end = end != 0;
  return NULL;
}

static tfsdk_status *located(tfsdk_status *s, const char *path) {
  if (s != NULL) tfsdk__status_add(s, "path", "%s", path);
  return s;
}

/* -------------------------------------------------------------------------------------- listing */

static const struct {
  const char *name;
  int32_t dtype;
} listed[] = {{"name", TFSDK_STRING},
              {"dtype", TFSDK_STRING},
              {"shape", TFSDK_INT64},
              {"file", TFSDK_STRING},
              {"offset", TFSDK_INT64}};
enum { NAME, DTYPE, SHAPE, FILE_NAME, OFFSET, LISTED };

static tfsdk_status *check_listing(const source *f) {
  bool fits = f->n == LISTED;
  for (uint32_t i = 0; fits && i < LISTED; i++)
    fits = strcmp(f->list[i].name, listed[i].name) == 0 && f->list[i].type.dtype == listed[i].dtype;
  if (fits) return NULL;
  return TFSDK_FAIL(f->rt, INVALID_ARGUMENT,
                    "reader '%s' reads records, not named tensors: open it as a dataset",
                    f->def->name);
}

/* One string of the record, NUL-ended, in memory that grows. */
static bool take_text(source *f, uint32_t i, char **text, size_t *cap) {
  tfsdk_view v;
  uint64_t n;
  tfsdk__tensor_fill_view(f->tensor[i], &v);
  const char *s = v.n_elem == 1 ? tfsdk_view_string(&v, 0, &n) : "";
  if (v.n_elem != 1) n = 0;
  if (n + 1 > *cap) {
    char *more = tfsdk__realloc(f->rt, *text, n + 1);
    if (more == NULL) return false;
    *text = more;
    *cap = n + 1;
  }
  memcpy(*text, s, n);
  (*text)[n] = 0;
  return true;
}

tfsdk_status *tfsdk_file_each(tfsdk_runtime *rt, const char *path, const char *reader,
                              int (*fn)(void *user, const tfsdk_file_tensor *t), void *user) {
  source f;
  char *text[3] = {NULL, NULL, NULL};
  size_t cap[3] = {0, 0, 0};
  bool end = false;
  tfsdk_status *s = open_source(rt, path, reader, NULL, 0, &f);
  if (s == NULL) s = check_listing(&f);
  while (s == NULL && !end) {
    tfsdk_file_tensor t;
    s = next_record(&f, &end);
    if (s != NULL || end) break;
    const tfsdk_tensor *shape = f.tensor[SHAPE];
    memset(&t, 0, sizeof t);
    if (!take_text(&f, NAME, &text[0], &cap[0]) || !take_text(&f, DTYPE, &text[1], &cap[1]) ||
        !take_text(&f, FILE_NAME, &text[2], &cap[2])) {
      s = TFSDK__NOMEM(rt);
      break;
    }
    t.name = text[0];
    t.file = text[2];
    t.dtype = tfsdk_dtype_find(text[1]);
    t.offset = f.tensor[OFFSET]->n_elem == 1 ? *(const int64_t *)f.tensor[OFFSET]->data : 0;
    if (shape->n_elem > TFSDK_MAX_RANK) {
      s = TFSDK_FAIL(rt, UNIMPLEMENTED, "'%s' has %lld axes; %d are the limit", t.name,
                     (long long)shape->n_elem, TFSDK_MAX_RANK);
      break;
    }
    t.shape.rank = (int32_t)shape->n_elem;
    if (shape->n_elem > 0)
      memcpy(t.shape.dim, shape->data, (size_t)shape->n_elem * sizeof(int64_t));
    if (fn(user, &t)) break;
  }
  for (int i = 0; i < 3; i++) tfsdk__free(rt, text[i]);
  close_source(&f);
  return located(s, path);
}

tfsdk_status *tfsdk_file_metadata(tfsdk_runtime *rt, const char *path, const char *reader,
                                  char **out_text) {
  source f;
  tfsdk_view v;
  uint64_t n = 0;
  bool end = false;
  tfsdk_attrval option = {.name = "metadata", .kind = TFSDK_ATTR_BOOL, .v.i = 1};
  *out_text = NULL;
  tfsdk_status *s = open_source(rt, path, reader, &option, 1, &f);
  if (s == NULL) s = next_record(&f, &end);
  if (s == NULL && (end || f.n != 1 || f.list[0].type.dtype != TFSDK_STRING))
    s = TFSDK_FAIL(rt, INTERNAL, "reader '%s' gives no text as metadata", f.def->name);
  if (s == NULL) {
    tfsdk__tensor_fill_view(f.tensor[0], &v);
    const char *text = v.n_elem > 0 ? tfsdk_view_string(&v, 0, &n) : "";
    *out_text = malloc(n + 1);
    if (*out_text == NULL) {
      s = TFSDK__NOMEM(rt);
    } else {
      memcpy(*out_text, text, n);
      (*out_text)[n] = 0;
    }
  }
  close_source(&f);
  return located(s, path);
}

/* -------------------------------------------------------------------------------------- reading */

/* Reads the names whose tensor is not there yet. */
static tfsdk_status *read_rest(tfsdk_runtime *rt, const char *path, const char *reader,
                               const char *const *names, size_t n, tfsdk_tensor **out) {
  source f;
  bool end = false;
  uint32_t left = 0;
  const char **wanted = tfsdk__alloc(rt, (n + 1) * sizeof *wanted);
  if (wanted == NULL) return TFSDK__NOMEM(rt);
  for (size_t i = 0; i < n; i++)
    if (out[i] == NULL) wanted[left++] = names[i];
  tfsdk_attrval option = {
      .name = "tensors", .kind = TFSDK_ATTR_LIST_STRING, .n = left, .v.strings = wanted};
  tfsdk_status *s = left > 0 ? open_source(rt, path, reader, &option, 1, &f) : NULL;
  if (s == NULL && left > 0) s = next_record(&f, &end);
  if (s == NULL && left > 0 && (end || f.n != left))
    s = TFSDK_FAIL(rt, INTERNAL, "reader '%s' gives %u tensors where %u were asked for",
                   f.def->name, end ? 0 : f.n, left);
  for (size_t i = 0, k = 0; s == NULL && i < n; i++) {
    if (out[i] != NULL) continue;
    out[i] = f.tensor[k];
    f.tensor[k++] = NULL;
  }
  if (left > 0) close_source(&f);
  tfsdk__free(rt, wanted);
  return s;
}

/* A file's pages; the tensors that lie in it hold it together. */
typedef struct mapping {
  atomic_size_t refs;
  void *base;
  size_t bytes;
  struct mapping *next;
  char file[];
} mapping;

static void unmap(void *user) {
  mapping *m = user;
  if (atomic_fetch_sub(&m->refs, 1) != 1) return;
  if (m->bytes > 0) munmap(m->base, m->bytes);
  free(m);
}

/* NULL: it cannot be mapped, and reading will say why. Written pages are the process's own. */
static mapping *map_file(mapping **list, const char *file) {
  struct stat st;
  for (mapping *m = *list; m != NULL; m = m->next)
    if (strcmp(m->file, file) == 0) return m;
  mapping *m = malloc(sizeof *m + strlen(file) + 1);
  int fd = m != NULL ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  void *base = MAP_FAILED;
  if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
    base =
        mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  if (fd >= 0) close(fd);
  if (base == MAP_FAILED) {
    free(m);
    return NULL;
  }
  atomic_init(&m->refs, 1);
  m->base = base;
  m->bytes = (size_t)st.st_size;
  strcpy(m->file, file);
  m->next = *list;
  *list = m;
  return m;
}

typedef struct mapper {
  tfsdk_runtime *rt;
  tfsdk__map by_name; /* -> index + 1 */
  tfsdk_tensor **out;
  mapping *files;
  tfsdk_status *error;
} mapper;

static int map_one(void *user, const tfsdk_file_tensor *t) {
  mapper *m = user;
  size_t at = (size_t)(uintptr_t)tfsdk__map_get(&m->by_name, t->name);
  uint64_t bytes;
  int64_t n;
  if (at == 0 || t->file[0] == 0 || tfsdk_dtype_size(t->dtype) == 0) return 0;
  size_t align = tfsdk_dtype_size(t->dtype) > 8 ? 8 : tfsdk_dtype_size(t->dtype);
  if (t->offset < 0 || (size_t)t->offset % align != 0 || m->out[at - 1] != NULL) return 0;
  tfsdk_status *s =
      tfsdk__shape_bytes(m->rt, t->dtype, (uint32_t)t->shape.rank, t->shape.dim, &n, &bytes);
  mapping *f = s == NULL && bytes > 0 ? map_file(&m->files, t->file) : NULL;
  if (f != NULL && (uint64_t)t->offset <= f->bytes && bytes <= f->bytes - (uint64_t)t->offset) {
    atomic_fetch_add(&f->refs, 1);
    s = tfsdk_tensor_import(m->rt, t->dtype, (uint32_t)t->shape.rank, t->shape.dim,
                            (char *)f->base + t->offset, unmap, f, &m->out[at - 1]);
    if (s != NULL) unmap(f);
  }
  m->error = s;
  return s != NULL;
}

tfsdk_status *tfsdk_file_read(tfsdk_runtime *rt, const char *path, const char *reader,
                              const char *const *names, size_t n, int32_t map, tfsdk_tensor **out) {
  mapper m = {rt, {NULL, 0, 0}, out, NULL, NULL};
  tfsdk_status *s = NULL;
  for (size_t i = 0; i < n; i++) out[i] = NULL;
  for (size_t i = 0; map && s == NULL && i < n; i++)
    if (!tfsdk__map_put(rt, &m.by_name, names[i], (void *)(uintptr_t)(i + 1))) s = TFSDK__NOMEM(rt);
  if (map && s == NULL) s = tfsdk_file_each(rt, path, reader, map_one, &m);
  if (s == NULL) s = m.error;
  while (m.files != NULL) {
    mapping *next = m.files->next;
    unmap(m.files);
    m.files = next;
  }
  tfsdk__map_deinit(rt, &m.by_name);
  if (s == NULL) s = located(read_rest(rt, path, reader, names, n, out), path);
  for (size_t i = 0; s != NULL && i < n; i++) {
    tfsdk_tensor_release(out[i]);
    out[i] = NULL;
  }
  return s;
}
