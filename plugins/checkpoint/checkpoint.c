/* Reading our own checkpoints; index.h says what they look like. */
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "index.h"
#include "store.h"
#include "table.h"

typedef struct data_file {
  file f;
  const char *path;
  uint64_t bytes; /* as the index says */
  bool open;
} data_file;

typedef struct own {
  cJSON *tree;
  data_file *file;
  size_t n_files;
  const char *index_path;
} own;

typedef struct place {
  size_t file;
  uint32_t crc;
} place;

static tfsdk_status *bad(store *s, const char *what) {
  own *x = s->own;
  return TFSDK_FAIL(s, DATA_LOSS, "%s: the index is damaged: %s", x->index_path, what);
}

/* A member that is a whole number of 0 to 2^53. */
static bool whole(const cJSON *item, const char *name, uint64_t *out) {
  const cJSON *m = name != NULL ? cJSON_GetObjectItemCaseSensitive(item, name) : item;
  if (!cJSON_IsNumber(m) || m->valuedouble < 0 || m->valuedouble > 9007199254740992.0) return false;
  *out = (uint64_t)m->valuedouble;
  return (double)*out == m->valuedouble;
}

static bool checksum(const cJSON *item, uint32_t *out) {
  const cJSON *m = cJSON_GetObjectItemCaseSensitive(item, "crc32c");
  char *end;
  if (!cJSON_IsString(m) || strlen(m->valuestring) != 8) return false;
  *out = (uint32_t)strtoul(m->valuestring, &end, 16);
  return *end == 0;
}

static tfsdk_status *read_files(store *s, const char *prefix) {
  own *x = s->own;
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(x->tree, "files");
  const char *slash = strrchr(prefix, '/');
  int folder = slash != NULL ? (int)(slash - prefix) + 1 : 0;
  if (!cJSON_IsArray(list)) return bad(s, "it has no list of files");
  x->file = arena_get(&s->memory, ((size_t)cJSON_GetArraySize(list) + 1) * sizeof *x->file);
  if (x->file == NULL) return NO_MEMORY(s);
  for (const cJSON *m = list->child; m != NULL; m = m->next) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(m, "name");
    data_file *f = &x->file[x->n_files];
    if (!cJSON_IsString(name) || !index_file_name(name->valuestring) ||
        !whole(m, "bytes", &f->bytes))
      return bad(s, "a data file has no name in the index's folder, or no size");
    f->path = arena_format(&s->memory, "%.*s%s", folder, prefix, name->valuestring);
    if (f->path == NULL) return NO_MEMORY(s);
    x->n_files++;
  }
  return NULL;
}

static tfsdk_status *read_tensor(store *s, const cJSON *m) {
  own *x = s->own;
  const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(m, "dtype");
  const cJSON *shape = cJSON_GetObjectItemCaseSensitive(m, "shape");
  uint64_t which, at, bytes, need;
  int64_t n;
  place *p = arena_get(&s->memory, sizeof *p);
  store_entry *e = store_add(s, m->string, strlen(m->string));
  if (p == NULL || e == NULL) return NO_MEMORY(s);
  if (!cJSON_IsString(dtype) || !cJSON_IsArray(shape) || !whole(m, "file", &which) ||
      !whole(m, "at", &at) || !whole(m, "bytes", &bytes) || !checksum(m, &p->crc) ||
      which >= x->n_files)
    return bad(s, "a tensor's entry is not complete");
  e->dtype = tfsdk_dtype_find(dtype->valuestring);
  if (e->dtype == 0 || e->dtype == TFSDK_RESOURCE) return bad(s, "a tensor's type is unknown");
  for (const cJSON *d = shape->child; d != NULL; d = d->next) {
    uint64_t extent;
    if (!whole(d, NULL, &extent)) return bad(s, "a tensor's shape is none");
    TFSDK_TRY(store_extent(s, e, (int64_t)extent));
  }
  TFSDK_TRY(store_size(s, e, &n, &need));
  bool fits = e->dtype == TFSDK_STRING ? bytes / 8 > (uint64_t)n : need == bytes;
  if (!fits || at > x->file[which].bytes || bytes > x->file[which].bytes - at)
    return STORE_FAIL(s, DATA_LOSS, "the tensor '%s', %s %s, does not fit bytes %llu to %llu of %s",
                      e->name, dtype->valuestring, tfsdk_shape_text(&e->shape).s,
                      (unsigned long long)at, (unsigned long long)(at + bytes),
                      x->file[which].path);
  p->file = (size_t)which;
  e->own = p;
  e->at = at;
  e->bytes = bytes;
  if (e->dtype != TFSDK_STRING) e->file = x->file[which].path;
  return NULL;
}

static tfsdk_status *checkpoint_open(store *s) {
  own *x = s->own;
  char *prefix = index_prefix(&s->memory, s->path);
  x->index_path = prefix != NULL ? arena_format(&s->memory, "%s.json", prefix) : NULL;
  if (x->index_path == NULL) return NO_MEMORY(s);
  TFSDK_TRY(index_read(s->host, &s->memory, prefix, &x->tree));
  TFSDK_TRY(read_files(s, prefix));
  const cJSON *tensors = cJSON_GetObjectItemCaseSensitive(x->tree, "tensors");
  if (!cJSON_IsObject(tensors)) return bad(s, "it has no tensors");
  for (const cJSON *m = tensors->child; m != NULL; m = m->next) TFSDK_TRY(read_tensor(s, m));
  const cJSON *state = cJSON_GetObjectItemCaseSensitive(x->tree, "state");
  char *text = state != NULL ? cJSON_PrintUnformatted(state) : NULL;
  if (state != NULL && text == NULL) return NO_MEMORY(s);
  if (text != NULL) s->metadata = arena_text(&s->memory, text, strlen(text));
  bool failed = text != NULL && s->metadata == NULL;
  cJSON_free(text);
  return failed ? NO_MEMORY(s) : NULL;
}

static void checkpoint_close(store *s) {
  own *x = s->own;
  for (size_t i = 0; i < x->n_files; i++)
    if (x->file[i].open) file_close(&x->file[i].f);
  cJSON_Delete(x->tree);
}

/* The data file must have the size that the index knows: another file has come under its name. */
static tfsdk_status *open_data(store *s, const place *p, file **out) {
  own *x = s->own;
  data_file *d = &x->file[p->file];
  if (!d->open) {
    TFSDK_TRY(file_open(&d->f, s->host, d->path));
    d->open = true;
  }
  *out = &d->f;
  if (d->f.bytes == d->bytes) return NULL;
  return FILE_FAIL(&d->f, DATA_LOSS, "the file has %llu bytes; %s says %llu",
                   (unsigned long long)d->f.bytes, x->index_path, (unsigned long long)d->bytes);
}

static tfsdk_status *checkpoint_read(store *s, const store_entry *e, void *to, uint64_t bytes) {
  const place *p = e->own;
  file *f;
  TFSDK_TRY(open_data(s, p, &f));
  TFSDK_TRY(store_fetch(f, e->at, to, bytes, e->name));
  if (crc32c(0, to, bytes) == p->crc) return NULL;
  return FILE_FAIL(f, DATA_LOSS, "the tensor '%s', bytes %llu to %llu, has a wrong checksum",
                   e->name, (unsigned long long)e->at, (unsigned long long)(e->at + bytes));
}

static tfsdk_status *checkpoint_strings(store *s, const store_entry *e, uint64_t n,
                                        store_text *out) {
  char *data = arena_get(&out->scratch, e->bytes + 1);
  out->offset = arena_get(&out->scratch, (n + 1) * sizeof *out->offset);
  if (data == NULL || out->offset == NULL) return NO_MEMORY(s);
  TFSDK_TRY(checkpoint_read(s, e, data, e->bytes));
  uint64_t room = e->bytes - 8 * (n + 1);
  for (uint64_t i = 0; i <= n; i++) {
    out->offset[i] = read_u64(data + 8 * i);
    if (out->offset[i] > room || (i > 0 && out->offset[i] < out->offset[i - 1]) ||
        (i == 0 && out->offset[0] != 0))
      return STORE_FAIL(s, DATA_LOSS, "the strings of '%s' do not fit their bytes", e->name);
  }
  out->bytes = data + 8 * (n + 1);
  return NULL;
}

static const store_format format = {.own_bytes = sizeof(own),
                                    .open = checkpoint_open,
                                    .read = checkpoint_read,
                                    .strings = checkpoint_strings,
                                    .close = checkpoint_close};
STORE_OPEN(open_reader, format)

static const tfsdk_readerdef readers[] = {
    STORE_READER("checkpoint", "", open_reader,
                 "Checkpoints of the writer of this name: PREFIX, or PREFIX.json. Sizes and "
                 "checksums are checked. The metadata are the state that the writer was given.")};
TFSDK_UNIT_FORMAT(checkpoint, readers, TFSDK_COUNT(readers), NULL, 0);
