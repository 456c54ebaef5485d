/* Where a graph comes from: a file, a folder, memory; which message it is, and which graph of several. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph.h"

#define LARGEST ((uint64_t)1 << 31) /* bytes of a protobuf message */

static bool ends_with(const char *path, const char *ending) {
  size_t n = strlen(path), k = strlen(ending);
  return n >= k && strcmp(path + n - k, ending) == 0;
}

static tfsdk_status *system_error(graph *g, const char *path, int error) {
  char text[200];
  const char *why = strerror_r(error, text, sizeof text);
  if (error == ENOENT || error == ENOTDIR) return TFSDK_FAIL(g, NOT_FOUND, "%s: %s", path, why);
  if (error == EACCES) return TFSDK_FAIL(g, PERMISSION_DENIED, "%s: %s", path, why);
  return TFSDK_FAIL(g, UNAVAILABLE, "%s: %s", path, why);
}

static tfsdk_status *read_file(graph *g, const char *path) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st) != 0) {
    int error = errno;
    if (fd >= 0) close(fd);
    return system_error(g, path, error);
  }
  tfsdk_status *s = NULL;
  uint64_t size = (uint64_t)st.st_size, done = 0;
  if (!S_ISREG(st.st_mode))
    s = TFSDK_FAIL(g, INVALID_ARGUMENT, "%s is no file", path);
  else if (size > LARGEST)
    s = TFSDK_FAIL(g, RESOURCE_EXHAUSTED, "%s has more than %llu bytes, which no message has", path,
                   (unsigned long long)LARGEST);
  else if ((g->content = g->host->realloc(g->host, NULL, 0, (size_t)size + 1)) == NULL)
    s = NO_MEMORY(g);
  g->content_bytes = g->content != NULL ? (size_t)size : 0;
  while (s == NULL && done < size) {
    ssize_t n = read(fd, g->content + done, (size_t)(size - done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) s = system_error(g, path, errno);
    if (n == 0) s = TFSDK_FAIL(g, DATA_LOSS, "%s became shorter while it was read", path);
    if (n > 0) done += (uint64_t)n;
  }
  close(fd);
  return s;
}

/* ------------------------------------------------------------------------------- which message it is */

static bool first_is(span message, uint32_t field, uint32_t kind) {
  wire w = wire_of(message);
  return wire_next(&w) && w.field == field && w.kind == kind;
}

/* Is it MetaGraphDef{meta_info 1, graph_def 2} and not GraphDef{node 1, library 2}? A library's first entry, a function,
 * has no field 2, which each node has. */
static bool is_meta(span message) {
  wire w = wire_of(message);
  while (wire_next(&w)) {
    if (w.field == 5 && w.kind == 2)
      return true; /* GraphDef's is debug_info, never written to files */
    if (w.field != 2 || w.kind != 2) continue;
    wire inner = wire_of(w.bytes);
    while (wire_next(&inner)) {
      if (inner.field == 4) return true; /* GraphDef.versions; a library has no 4 */
      if (inner.field != 1 || inner.kind != 2) continue;
      wire entry = wire_of(inner.bytes);
      while (wire_next(&entry))
        if (entry.field == 2) return true;
    }
  }
  return false;
}

static enum message which(const char *path, span message) {
  if (first_is(message, 1, 0)) return MESSAGE_SAVED; /* saved_model_schema_version */
  return ends_with(path, ".meta") || is_meta(message) ? MESSAGE_META : MESSAGE_GRAPH;
}

/* Bytes below 32 other than space are in every message of the wire form, and in no text. */
static bool is_text(span s) {
  size_t n = s.n < 4096 ? s.n : 4096;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c < 32 && c != '\n' && c != '\r' && c != '\t') return false;
  }
  return s.n > 0;
}

static enum message which_text(const char *path, span s) {
  size_t n = s.n < 400 ? s.n : 400;
  if (ends_with(path, "saved_model.pbtxt")) return MESSAGE_SAVED;
  for (size_t i = 0; i + 13 < n; i++)
    if (memcmp(s.p + i, "meta_info_def", 13) == 0) return MESSAGE_META;
  return MESSAGE_GRAPH;
}

/* ------------------------------------------------------------------------------------- meta graphs */

static tfsdk_status *bad(graph *g, const char *what) {
  return GRAPH_FAIL(g, DATA_LOSS, "the %s is damaged: its bytes are no message", what);
}

static tfsdk_status *text_of(graph *g, span s, const char **out) {
  *out = arena_text(&g->memory, s.p, s.n);
  return *out != NULL ? NULL : NO_MEMORY(g);
}

/* MetaInfoDef{any_info 3{type_url 1, value 2}, tags 4*} */
static tfsdk_status *read_tags(graph *g, span meta, const char ***out, uint32_t *n, span *needs) {
  size_t cap = 0;
  *n = 0;
  *out = NULL;
  wire w = wire_of(meta);
  while (wire_next(&w)) {
    if (!wire_is(&w, 1, 2)) continue;
    wire info = wire_of(w.bytes);
    while (wire_next(&info)) {
      if (wire_is(&info, 4, 2)) {
        const char **list = arena_grow(&g->memory, (void *)(uintptr_t)*out, *n, &cap, sizeof *list);
        if (list == NULL) return NO_MEMORY(g);
        *out = list;
        TFSDK_TRY(text_of(g, info.bytes, &list[(*n)++]));
      }
      if (wire_is(&info, 3, 2)) {
        wire any = wire_of(info.bytes);
        bool ours = false;
        while (wire_next(&any)) {
          if (wire_is(&any, 1, 2)) ours = span_is(any.bytes, "tfsdk/needs");
          if (wire_is(&any, 2, 2) && ours) *needs = any.bytes;
        }
      }
    }
    if (info.wrong) return bad(g, "meta info");
  }
  return w.wrong ? bad(g, "meta graph") : NULL;
}

static tfsdk_status *read_endpoint(graph *g, span entry, endpoint **list, uint32_t *n) {
  span key = {"", 0}, info = {"", 0}, name = {"", 0};
  wire w = wire_of(entry);
  while (wire_next(&w)) {
    if (wire_is(&w, 1, 2)) key = w.bytes;
    if (wire_is(&w, 2, 2)) info = w.bytes;
  }
  wire i = wire_of(info);
  while (wire_next(&i)) {
    if (wire_is(&i, 1, 2)) name = i.bytes;
    if (i.field == 4 || i.field == 5)
      return GRAPH_FAIL(g, UNIMPLEMENTED, "'%.*s' of a signature is no plain tensor", (int)key.n,
                        key.p);
  }
  if (w.wrong || i.wrong) return bad(g, "signature");
  size_t cap = *n == 0 ? 0 : 16; /* as arena_grow counts it */
  while (cap != 0 && cap < *n) cap *= 2;
  endpoint *more = arena_grow(&g->memory, *list, *n, &cap, sizeof *more);
  if (more == NULL) return NO_MEMORY(g);
  *list = more;
  TFSDK_TRY(text_of(g, key, &more[*n].key));
  TFSDK_TRY(text_of(g, name, &more[*n].name));
  ++*n;
  return NULL;
}

/* SignatureDef{inputs 1*, outputs 2*, method_name 3} as the value of a map's entry. */
static tfsdk_status *read_signature(graph *g, span entry) {
  span key = {"", 0}, def = {"", 0};
  wire w = wire_of(entry);
  while (wire_next(&w)) {
    if (wire_is(&w, 1, 2)) key = w.bytes;
    if (wire_is(&w, 2, 2)) def = w.bytes;
  }
  if (w.wrong) return bad(g, "signature");
  if (span_is(key, "__saved_model_init_op")) return NULL; /* tables; nothing to compute with */
  signature s = {"", "", NULL, NULL, 0, 0};
  TFSDK_TRY(text_of(g, key, &s.key));
  w = wire_of(def);
  while (wire_next(&w)) {
    if (wire_is(&w, 1, 2)) TFSDK_TRY(read_endpoint(g, w.bytes, &s.in, &s.n_in));
    if (wire_is(&w, 2, 2)) TFSDK_TRY(read_endpoint(g, w.bytes, &s.out, &s.n_out));
    if (wire_is(&w, 3, 2)) TFSDK_TRY(text_of(g, w.bytes, &s.method));
  }
  if (w.wrong) return bad(g, "signature");
  if (s.n_out == 0) return NULL;
  signature *list =
      arena_grow(&g->memory, g->signature, g->n_signatures, &g->cap_signatures, sizeof *list);
  if (list == NULL) return NO_MEMORY(g);
  g->signature = list;
  list[g->n_signatures++] = s;
  return NULL;
}

/* Lines "WHAT NAME BY". */
static tfsdk_status *read_needs(graph *g, span s) {
  while (s.n > 0) {
    const char *end = memchr(s.p, '\n', s.n);
    size_t n = end != NULL ? (size_t)(end - s.p) : s.n;
    const char *line = NULL, *word[3] = {"", "", ""};
    TFSDK_TRY(text_of(g, (span){s.p, n}, &line));
    char *p = (char *)(uintptr_t)line;
    for (int i = 0; i < 3 && *p != 0; i++) {
      word[i] = p;
      p += strcspn(p, " ");
      if (*p != 0) *p++ = 0;
    }
    need *list = arena_grow(&g->memory, g->need, g->n_needs, &g->cap_needs, sizeof *list);
    if (list == NULL) return NO_MEMORY(g);
    g->need = list;
    list[g->n_needs++] = (need){word[0], word[1], word[2]};
    s.p += n + (end != NULL);
    s.n -= n + (end != NULL);
  }
  return NULL;
}

static tfsdk_status *read_meta(graph *g, span meta, span *out_graph) {
  const char **tags;
  uint32_t n;
  span needs = {NULL, 0};
  TFSDK_TRY(read_tags(g, meta, &tags, &n, &needs));
  if (needs.p != NULL) TFSDK_TRY(read_needs(g, needs));
  wire w = wire_of(meta);
  bool found = false;
  while (wire_next(&w)) {
    if (wire_is(&w, 2, 2)) {
      *out_graph = w.bytes;
      found = true;
    }
    if (wire_is(&w, 5, 2)) TFSDK_TRY(read_signature(g, w.bytes));
  }
  if (w.wrong) return bad(g, "meta graph");
  return found ? NULL : GRAPH_FAIL(g, DATA_LOSS, "the meta graph holds no graph");
}

static bool same_tags(const char *const *a, uint32_t n_a, const char *const *b, uint32_t n_b) {
  for (uint32_t i = 0; i < n_a; i++) {
    uint32_t k = 0;
    while (k < n_b && strcmp(a[i], b[k]) != 0) k++;
    if (k == n_b) return false;
  }
  return n_a == n_b;
}

/* SavedModel{schema version 1, meta_graphs 2*} */
static tfsdk_status *read_saved(graph *g, span message, const char *const *want, uint32_t n_want,
                                span *out_graph) {
  static const char *const serve[] = {"serve"};
  char there[600] = "";
  uint32_t n_graphs = 0;
  span chosen = {NULL, 0};
  wire w = wire_of(message);
  while (wire_next(&w)) {
    if (wire_is(&w, 1, 0) && w.number != 1)
      return GRAPH_FAIL(g, INCOMPATIBLE,
                        "the saved model is of schema version %llu; version 1 is what is read",
                        (unsigned long long)w.number);
    if (!wire_is(&w, 2, 2)) continue;
    const char **tags;
    uint32_t n;
    span ignored;
    TFSDK_TRY(read_tags(g, w.bytes, &tags, &n, &ignored));
    n_graphs++;
    size_t at = strlen(there);
    for (uint32_t i = 0; i < n || i == 0; i++)
      at += (size_t)snprintf(there + (at < 599 ? at : 599), at < 599 ? 600 - at : 1, "%s%s%s",
                             i == 0 ? n_graphs > 1 ? "; '" : "'" : ",", i < n ? tags[i] : "",
                             i + 1 >= n ? "'" : "");
    bool fits = n_want > 0 ? same_tags(want, n_want, tags, n) : same_tags(serve, 1, tags, n);
    if (fits || (n_want == 0 && chosen.p == NULL)) chosen = w.bytes;
  }
  if (w.wrong) return bad(g, "saved model");
  if (chosen.p == NULL)
    return GRAPH_FAIL(g, NOT_FOUND, "no graph has the tags that were asked for%s%s",
                      n_graphs > 0 ? "; there are " : "", there);
  if (n_want == 0 && n_graphs > 1) {
    const char **tags;
    uint32_t n;
    span ignored;
    TFSDK_TRY(read_tags(g, chosen, &tags, &n, &ignored));
    if (!same_tags(serve, 1, tags, n))
      return GRAPH_FAIL(g, INVALID_ARGUMENT, "there are several graphs, name one by its tags: %s",
                        there);
  }
  return read_meta(g, chosen, out_graph);
}

/* --------------------------------------------------------------------------------------------- all */

/* A folder: what it holds, and where its weights lie. */
static tfsdk_status *open_folder(graph *g, const char *path) {
  struct stat st;
  const char *file = arena_format(&g->memory, "%s/saved_model.pb", path);
  if (file == NULL) return NO_MEMORY(g);
  if (stat(file, &st) != 0) {
    file = arena_format(&g->memory, "%s/saved_model.pbtxt", path);
    if (file == NULL) return NO_MEMORY(g);
    if (stat(file, &st) != 0)
      return TFSDK_FAIL(g, NOT_FOUND,
                        "%s holds no saved model: neither saved_model.pb nor saved_model.pbtxt",
                        path);
  }
  g->path = file;
  g->prefix = arena_format(&g->memory, "%s/variables/variables", path);
  return g->prefix != NULL ? read_file(g, file) : NO_MEMORY(g);
}

tfsdk_status *source_open(graph *g, const char *path, const tfsdk_attrs *options, span *out_graph) {
  const tfsdk_attrval *content = tfsdk_attr_find(options, "content"),
                      *tags = tfsdk_attr_find(options, "tags");
  struct stat st;
  span s;
  g->path = arena_text(&g->memory, path, strlen(path));
  if (g->path == NULL) return NO_MEMORY(g);
  if (content != NULL && content->n > 0) { /* the number of bytes, then the bytes */
    s.p = (const char *)(content->v.ints + 1);
    s.n = (size_t)content->v.ints[0];
    if (content->v.ints[0] < 0 || s.n > (content->n - 1) * sizeof(int64_t))
      return GRAPH_FAIL(g, INVALID_ARGUMENT, "the option content is shorter than it says");
  } else {
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
      TFSDK_TRY(open_folder(g, g->path));
    else
      TFSDK_TRY(read_file(g, path));
    s.p = g->content;
    s.n = g->content_bytes;
  }
  if (is_text(s)) {
    if (ends_with(g->path, ".pb"))
      return GRAPH_FAIL(
          g, DATA_LOSS,
          "this is text, not a message of the wire form (that of text ends in .pbtxt)");
    g->message = which_text(g->path, s);
    TFSDK_TRY(text_to_wire(g, s, g->message, &s));
  } else {
    g->message = which(g->path, s);
  }
  if (g->message == MESSAGE_GRAPH) {
    *out_graph = s;
    return NULL;
  }
  if (g->message == MESSAGE_META) return read_meta(g, s, out_graph);
  return read_saved(g, s, tags != NULL ? tags->v.strings : NULL, tags != NULL ? tags->n : 0,
                    out_graph);
}
