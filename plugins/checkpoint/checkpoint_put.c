/* Writing our own checkpoints; index.h says what they look like. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crc32c.h"
#include "index.h"
#include "json.h"
#include "safetensors.h"
#include "store.h"

typedef struct shard {
  output out;
  const char *name; /* in the folder */
  uint64_t bytes;   /* of data, while they are assigned */
  size_t first, n;  /* of the pieces */
} shard;

typedef struct writer {
  const tfsdk_host *host; /* first */
  arena memory;
  const char *prefix, *state, *state_path, *state_text;
  uint64_t shard_bytes;
  piece *list;
  const tfsdk_view *view; /* during append */
  cJSON *tensors;
  shard *shard;
  size_t n_shards;
  void *buffer;      /* of the shard being written */
  const char **used; /* data files of the index that is there now */
  size_t n_used;
  bool appended;
} writer;

static void writer_close(void *w_) {
  writer *w = w_;
  const tfsdk_host *host = w->host;
  for (size_t i = 0; i < w->n_shards; i++) output_close(&w->shard[i].out);
  cJSON_Delete(w->tensors);
  arena_release(&w->memory);
  memory_give(host, w, sizeof *w);
}

static tfsdk_status *options_of(writer *w, const tfsdk_attrs *options) {
  const char *state = tfsdk_attr_string(options, "state");
  const char *path = tfsdk_attr_string(options, "state_file");
  const char *text = tfsdk_attr_string(options, "state_text");
  int64_t limit = tfsdk_attr_int(options, "shard_bytes");
  w->shard_bytes = limit > 0 ? (uint64_t)limit : UINT64_MAX;
  w->state = arena_text(&w->memory, state, strlen(state));
  w->state_path = arena_text(&w->memory, path, strlen(path));
  w->state_text = arena_text(&w->memory, text, strlen(text));
  if (w->state == NULL || w->state_path == NULL || w->state_text == NULL) return NO_MEMORY(w);
  cJSON *tree = cJSON_Parse(state);
  bool ok = cJSON_IsObject(tree);
  cJSON_Delete(tree);
  return ok && utf8_valid(state, strlen(state))
             ? NULL
             : TFSDK_FAIL(w, INVALID_ARGUMENT, "the state is no JSON object: %.100s", state);
}

/* What a checkpoint of the same prefix uses: it must stay whole until the new one is. An index that
 * cannot be read uses nothing. */
static tfsdk_status *note_used(writer *w) {
  cJSON *tree;
  tfsdk_status *s = index_read(w->host, &w->memory, w->prefix, &tree);
  if (s != NULL) {
    w->host->drop(w->host, s);
    return NULL;
  }
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(tree, "files");
  w->used = arena_get(&w->memory, ((size_t)cJSON_GetArraySize(list) + 1) * sizeof *w->used);
  bool ok = w->used != NULL;
  for (const cJSON *m = cJSON_IsArray(list) ? list->child : NULL; ok && m != NULL; m = m->next) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(m, "name");
    if (!cJSON_IsString(name) || !index_file_name(name->valuestring)) continue;
    w->used[w->n_used] = arena_text(&w->memory, name->valuestring, strlen(name->valuestring));
    ok = w->used[w->n_used++] != NULL;
  }
  cJSON_Delete(tree);
  return ok ? NULL : NO_MEMORY(w);
}

static tfsdk_status *writer_open(void *self, const tfsdk_host *host, const char *path,
                                 const tfsdk_attrs *options, void **out_writer) {
  const struct { const tfsdk_host *host; } c = {host};
  (void)self;
  writer *w = memory_get(host, sizeof *w);
  if (w == NULL) return NO_MEMORY(&c);
  w->host = w->memory.host = host;
  w->prefix = index_prefix(&w->memory, path);
  tfsdk_status *s = w->prefix == NULL ? NO_MEMORY(w) : options_of(w, options);
  const char *base = s == NULL ? strrchr(w->prefix, '/') : NULL;
  base = base != NULL ? base + 1 : w->prefix;
  if (s == NULL && (!index_file_name(base) || !utf8_valid(base, strlen(base))))
    s = TFSDK_FAIL(w, INVALID_ARGUMENT, "'%s' cannot be a checkpoint's prefix", path);
  if (s == NULL) s = note_used(w);
  if (s != NULL) {
    writer_close(w);
    return s;
  }
  *out_writer = w;
  return NULL;
}

/* Strings as bytes; complex128 as pairs of float64: what safetensors lacks, the index knows. */
static tfsdk_status *make_piece(writer *w, const char *name, const tfsdk_view *v, piece *p) {
  p->name = name;
  p->dim = v->dim;
  p->rank = v->rank;
  p->data = v->data;
  p->width = (uint32_t)tfsdk_dtype_size(v->dtype);
  p->bytes = (uint64_t)v->n_elem * p->width;
  p->code = safetensors_code(v->dtype);
  if (p->code != NULL) return NULL;
  if (v->dtype == TFSDK_STRING) {
    const uint64_t *offset = v->data;
    p->bytes = 8 * ((uint64_t)v->n_elem + 1) + offset[v->n_elem];
    p->width = 1;
    p->code = "U8";
  } else if (v->dtype == TFSDK_COMPLEX128) {
    p->width = 8;
    p->code = "F64";
  } else {
    return TFSDK_FAIL(w, UNIMPLEMENTED, "'%s' is %s, which cannot be saved", name,
                      tfsdk_dtype_name(v->dtype));
  }
  int64_t *dim = arena_get(&w->memory, sizeof *dim);
  if (dim == NULL) return NO_MEMORY(w);
  *dim = (int64_t)(p->bytes / p->width);
  p->dim = dim;
  p->rank = 1;
  return NULL;
}

static bool is_used(const writer *w, const char *name) {
  for (size_t i = 0; i < w->n_used; i++)
    if (strcmp(w->used[i], name) == 0) return true;
  return false;
}

/* model.safetensors, or model-00001-of-00003.safetensors; then model.1.safetensors ... so that the
 * names are not those that the present index uses. */
static tfsdk_status *name_shards(writer *w) {
  const char *slash = strrchr(w->prefix, '/'), *base = slash != NULL ? slash + 1 : w->prefix;
  for (int turn = 0;; turn++) {
    char mark[16] = "";
    bool taken = false;
    if (turn > 0) snprintf(mark, sizeof mark, ".%d", turn);
    for (size_t i = 0; i < w->n_shards; i++) {
      w->shard[i].name = w->n_shards == 1
                             ? arena_format(&w->memory, "%s%s.safetensors", base, mark)
                             : arena_format(&w->memory, "%s%s-%05zu-of-%05zu.safetensors", base,
                                            mark, i + 1, w->n_shards);
      if (w->shard[i].name == NULL) return NO_MEMORY(w);
      taken = taken || is_used(w, w->shard[i].name);
    }
    if (!taken) return NULL;
  }
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const piece *)a)->name, ((const piece *)b)->name);
}

/* In the order of names, a shard is filled until the next tensor would not fit. */
static tfsdk_status *cut_shards(writer *w, size_t n) {
  w->shard = arena_get(&w->memory, (n + 1) * sizeof *w->shard);
  if (w->shard == NULL) return NO_MEMORY(w);
  if (n > 0) qsort(w->list, n, sizeof *w->list, by_name);
  for (size_t i = 1; i < n; i++)
    if (strcmp(w->list[i].name, w->list[i - 1].name) == 0)
      return TFSDK_FAIL(w, INVALID_ARGUMENT, "two tensors are called '%s'", w->list[i].name);
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    shard *s = &w->shard[k];
    if (s->n > 0 && w->list[i].bytes >
                        w->shard_bytes - (s->bytes < w->shard_bytes ? s->bytes : w->shard_bytes)) {
      s = &w->shard[++k];
      s->first = i;
    }
    s->n++;
    s->bytes += w->list[i].bytes;
  }
  w->n_shards = k + 1;
  return name_shards(w);
}

static tfsdk_status *put_shard(writer *w, size_t k) {
  shard *s = &w->shard[k];
  const char *slash = strrchr(w->prefix, '/');
  int folder = slash != NULL ? (int)(slash - w->prefix) + 1 : 0;
  const char *path = arena_format(&w->memory, "%.*s%s", folder, w->prefix, s->name);
  if (path == NULL) return NO_MEMORY(w);
  TFSDK_TRY(output_open(&s->out, w->host, &w->memory, path, w->buffer));
  TFSDK_TRY(
      safetensors_put(&s->out, &w->memory, w->list + s->first, s->n, "{\"format\":\"pt\"}", true));
  TFSDK_TRY(output_seal(&s->out)); /* many shards do not hold many files open */
  for (size_t i = s->first; i < s->first + s->n; i++) {
    const piece *p = &w->list[i];
    const tfsdk_view *v = &w->view[p->index];
    char crc[16];
    cJSON *m = cJSON_CreateObject(), *shape = cJSON_CreateArray();
    snprintf(crc, sizeof crc, "%08x", p->crc);
    bool ok = m != NULL && shape != NULL &&
              cJSON_AddStringToObject(m, "dtype", tfsdk_dtype_name(v->dtype)) != NULL;
    for (uint32_t d = 0; ok && d < v->rank; d++)
      ok = cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)v->dim[d]));
    ok = ok && cJSON_AddNumberToObject(m, "file", (double)k) != NULL &&
         cJSON_AddNumberToObject(m, "at", (double)p->at) != NULL &&
         cJSON_AddNumberToObject(m, "bytes", (double)p->bytes) != NULL &&
         cJSON_AddStringToObject(m, "crc32c", crc) != NULL;
    if (ok && (ok = cJSON_AddItemToObject(m, "shape", shape))) shape = NULL;
    if (ok && (ok = cJSON_AddItemToObject(w->tensors, p->name, m))) m = NULL;
    cJSON_Delete(shape);
    cJSON_Delete(m);
    if (!ok) return NO_MEMORY(w);
  }
  return NULL;
}

static tfsdk_status *writer_append(void *w_, const char *const *names, const tfsdk_view *values,
                                   uint32_t n) {
  writer *w = w_;
  if (w->appended)
    return TFSDK_FAIL(w, FAILED_PRECONDITION,
                      "%s: a checkpoint is one record: hand over all tensors at once", w->prefix);
  w->list = arena_get(&w->memory, (n + 1) * sizeof *w->list);
  if (w->tensors == NULL) w->tensors = cJSON_CreateObject();
  if (w->list == NULL || w->tensors == NULL) return NO_MEMORY(w);
  for (uint32_t i = 0; i < n; i++) {
    if (!utf8_valid(names[i], strlen(names[i])) || strcmp(names[i], "__metadata__") == 0)
      return TFSDK_FAIL(w, INVALID_ARGUMENT, "a tensor cannot be saved under the name '%s'",
                        names[i]);
    TFSDK_TRY(make_piece(w, names[i], &values[i], &w->list[i]));
    w->list[i].index = i;
  }
  w->appended = true;
  w->view = values;
  w->buffer = arena_get(&w->memory, OUTPUT_BUFFER);
  if (w->buffer == NULL) return NO_MEMORY(w);
  TFSDK_TRY(cut_shards(w, n));
  for (size_t k = 0; k < w->n_shards; k++) TFSDK_TRY(put_shard(w, k));
  w->view = NULL;
  return NULL;
}

/* {"crc32c":"...", then what the checksum is of. */
static tfsdk_status *put_index(writer *w) {
  cJSON *tree = cJSON_CreateObject(), *files = cJSON_CreateArray();
  char *text = NULL, head[32];
  bool ok = tree != NULL && files != NULL &&
            cJSON_AddStringToObject(tree, "format", INDEX_FORMAT) != NULL &&
            cJSON_AddNumberToObject(tree, "version", INDEX_VERSION) != NULL;
  for (size_t k = 0; ok && k < w->n_shards; k++) {
    cJSON *m = cJSON_CreateObject();
    ok = m != NULL && cJSON_AddStringToObject(m, "name", w->shard[k].name) != NULL &&
         cJSON_AddNumberToObject(m, "bytes", (double)w->shard[k].out.at) != NULL &&
         cJSON_AddItemToArray(files, m);
    if (!ok) cJSON_Delete(m);
  }
  if (ok && (ok = cJSON_AddItemToObject(tree, "files", files))) files = NULL;
  if (ok && (ok = cJSON_AddItemToObject(tree, "tensors", w->tensors))) w->tensors = NULL;
  ok = ok && cJSON_AddRawToObject(tree, "state", w->state) != NULL;
  if (ok) text = cJSON_PrintUnformatted(tree);
  cJSON_Delete(files);
  cJSON_Delete(tree);
  if (text == NULL) return NO_MEMORY(w);
  /* the member comes in front of the others: `text` begins with the brace that it takes over */
  size_t n = strlen(text + 1);
  snprintf(head, sizeof head, "{\"crc32c\":\"%08x\",", crc32c(0, text + 1, n));
  char *whole_text = arena_format(&w->memory, "%s%s", head, text + 1);
  cJSON_free(text);
  const char *path = arena_format(&w->memory, "%s.json", w->prefix);
  if (whole_text == NULL || path == NULL) return NO_MEMORY(w);
  return output_text(w->host, &w->memory, path, whole_text, strlen(whole_text));
}

/* Data first, then the index, which makes it a checkpoint, then the list of checkpoints; last goes
 * what nobody names any more. */
static tfsdk_status *writer_finish(void *w_) {
  writer *w = w_;
  if (!w->appended) TFSDK_TRY(writer_append(w, NULL, NULL, 0));
  for (size_t k = 0; k < w->n_shards; k++) TFSDK_TRY(output_commit(&w->shard[k].out));
  TFSDK_TRY(put_index(w));
  if (w->state_path[0] != 0)
    TFSDK_TRY(
        output_text(w->host, &w->memory, w->state_path, w->state_text, strlen(w->state_text)));
  const char *slash = strrchr(w->prefix, '/');
  int folder = slash != NULL ? (int)(slash - w->prefix) + 1 : 0;
  for (size_t i = 0; i < w->n_used; i++) {
    const char *old = arena_format(&w->memory, "%.*s%s", folder, w->prefix, w->used[i]);
    if (old != NULL) (void)unlink(old);
  }
  return NULL;
}

/* What was appended is sealed already. */
static tfsdk_status *writer_flush(void *w_, int32_t durable) {
  (void)w_;
  (void)durable;
  return NULL;
}

static const tfsdk_attrdef writer_options[] = {
    {"state", "string", "{}", "a JSON object: what is kept besides tensors", 0, 0},
    {"shard_bytes", "int", "0", "data files hold about that many bytes; 0: one file holds all", 0,
     0},
    {"state_file", "string", "", "a file that is written last, when the checkpoint is whole", 0, 0},
    {"state_text", "string", "", "what it says", 0, 0}};

static const tfsdk_writerdef writers[] = {{
    .struct_size = sizeof(tfsdk_writerdef),
    .n_option = TFSDK_COUNT(writer_options),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "checkpoint",
    .extensions = "",
    .doc = "Checkpoints: PREFIX.json, the index, and data files in safetensors beside it. Until "
           "the index is in its place, a checkpoint of the same prefix stays as it was.",
    .option = writer_options,
    .open = writer_open,
    .append = writer_append,
    .flush = writer_flush,
    .finish = writer_finish,
    .close = writer_close,
}};
TFSDK_UNIT_FORMAT(checkpoint_put, NULL, 0, writers, TFSDK_COUNT(writers));
