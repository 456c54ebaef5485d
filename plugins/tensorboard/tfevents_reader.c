/* The reader `tfevents`: event files, value by value, also while they are being written.
 *
 * A record that is not wholly there yet is the end for now: whoever comes again with option
 * `offset` reads on. Damage is an error that names the byte where the record begins; what follows
 * it is not guessed at. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

typedef struct reader {
  const tfsdk_host *host;
  char *path;
  int fd;
  bool scalars_only;
  uint64_t at, next; /* the present event's first byte, and the next one's */
  char *buffer;      /* of the present event */
  size_t cap;
  double wall_time;
  int64_t step;
  const char *kind;  /* of an event that is no summary; NULL: a summary, or nothing left */
  const char *bytes; /* the event's content */
  size_t n;
  pb_reader values; /* what is left of a summary */
  int64_t index;    /* values of this event that were handed out */
} reader;

#define FAIL(r, code, format, ...) TFSDK_FAIL(r, code, "%s: " format, (r)->path, ##__VA_ARGS__)

static tfsdk_status *damaged(reader *r, const char *what) {
  return FAIL(r, DATA_LOSS, "%s, in the record at byte %llu", what, (unsigned long long)r->at);
}

/* n bytes at an offset; *out_n is smaller where the file ends. */
static tfsdk_status *fetch(reader *r, void *to, size_t n, uint64_t at, size_t *out_n) {
  *out_n = 0;
  while (*out_n < n) {
    ssize_t k = pread(r->fd, (char *)to + *out_n, n - *out_n, (off_t)(at + *out_n));
    if (k < 0 && errno == EINTR) continue;
    if (k < 0) return FAIL(r, UNAVAILABLE, "cannot be read: %s", strerror(errno));
    if (k == 0) break;
    *out_n += (size_t)k;
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------ one event */

static bool check_summary(const char *bytes, size_t n) {
  pb_reader m = pb_read(bytes, n);
  while (pb_next(&m)) {
    if (!pb_is(&m, 1, 2)) continue;
    pb_reader value = pb_read(m.bytes, m.n);
    while (pb_next(&value)) {}
    if (value.wrong) return false;
  }
  return !m.wrong;
}

/* Event{wall_time 1, step 2, file_version 3, graph_def 4, summary 5, log_message 6, session_log 7,
 * tagged_run_metadata 8, meta_graph_def 9, source_metadata 10} */
static bool parse_event(reader *r, const char *bytes, size_t n) {
  static const char *const kinds[] = {
      "empty", NULL,          NULL,          "file_version",        "graph_def",
      NULL,    "log_message", "session_log", "tagged_run_metadata", "meta_graph_def"};
  pb_reader m = pb_read(bytes, n);
  uint32_t what = 0;
  r->wall_time = 0;
  r->step = 0;
  r->bytes = "";
  r->n = 0;
  r->index = 0;
  while (pb_next(&m)) {
    if (m.field == 1 && pb_is(&m, 1, 1)) r->wall_time = pb_as_double(&m);
    if (m.field == 2 && pb_is(&m, 2, 0)) r->step = (int64_t)m.number;
    if (m.field < 3 || m.field > 9 || !pb_is(&m, m.field, 2)) continue;
    what = m.field;
    r->bytes = m.bytes;
    r->n = m.n;
  }
  r->kind = kinds[what];
  r->values = pb_read("", 0);
  if (m.wrong || what != 5) return !m.wrong;
  r->values = pb_read(r->bytes, r->n);
  return check_summary(r->bytes, r->n);
}

/* The event at r->next; *out_end: it is not there, or not wholly. */
static tfsdk_status *read_event(reader *r, bool *out_end) {
  unsigned char head[RECORD_HEAD];
  struct stat st;
  size_t got;
  *out_end = true;
  r->at = r->next;
  TFSDK_TRY(fetch(r, head, sizeof head, r->at, &got));
  if (got < sizeof head) return NULL;
  if (!record_checks(head + 8, head, 8)) return damaged(r, "the length has a wrong checksum");
  uint64_t n = record_number(head, 8);
  if (fstat(r->fd, &st) != 0) return FAIL(r, UNAVAILABLE, "cannot be read: %s", strerror(errno));
  uint64_t size = (uint64_t)st.st_size; /* before memory is asked for */
  if (size < r->at + sizeof head || n > size - r->at - sizeof head ||
      size - r->at - sizeof head - n < RECORD_TAIL)
    return NULL;
  if (n + RECORD_TAIL > r->cap) {
    size_t cap = (size_t)n + (size_t)n / 2 + 4096;
    char *p = (char *)r->host->realloc(r->host, r->buffer, r->cap, cap);
    if (p == NULL)
      return FAIL(r, RESOURCE_EXHAUSTED, "no memory for the record of %llu bytes at byte %llu",
                  (unsigned long long)n, (unsigned long long)r->at);
    r->buffer = p;
    r->cap = cap;
  }
  TFSDK_TRY(fetch(r, r->buffer, (size_t)n + RECORD_TAIL, r->at + sizeof head, &got));
  if (got < n + RECORD_TAIL) return NULL;
  if (!record_checks((const unsigned char *)r->buffer + n, r->buffer, (size_t)n))
    return damaged(r, "the data have a wrong checksum");
  if (!parse_event(r, r->buffer, (size_t)n)) return damaged(r, "the data are no Event");
  r->next = r->at + sizeof head + n + RECORD_TAIL;
  *out_end = false;
  return NULL;
}

/* ------------------------------------------------------------------------------------ one value */

typedef struct value {
  const char *kind, *tag, *plugin, *data;
  size_t tag_n, plugin_n, data_n;
  double number;
} value;

/* The number of a scalar TensorProto; false for other tensors. */
static bool tensor_number(const char *bytes, size_t n, double *out) {
  pb_reader m = pb_read(bytes, n);
  uint64_t dtype = 0;
  bool found = false;
  while (pb_next(&m)) {
    pb_reader packed = pb_read(m.bytes, m.n);
    if (pb_is(&m, 1, 0)) dtype = m.number;
    if (m.field == 2 && m.n != 0) return false; /* it has axes */
    if (m.field == 4 && m.wire == 2) {
      float f;
      double d;
      found = (dtype == TFSDK_FLOAT32 && m.n == sizeof f) ||
              (dtype == TFSDK_FLOAT64 && m.n == sizeof d);
      if (!found) return false;
      if (m.n == sizeof f) memcpy(&f, m.bytes, sizeof f);
      if (m.n == sizeof d) memcpy(&d, m.bytes, sizeof d);
      *out = m.n == sizeof f ? (double)f : d;
    }
    if (m.field == 5) { /* float_val, packed or not */
      found = m.wire == 5 || m.n == 4;
      packed.number = m.wire == 5 ? m.number : found ? record_number(packed.p, 4) : 0;
      *out = (double)pb_as_float(&packed);
    }
    if (m.field == 6) {
      found = m.wire == 1 || m.n == 8;
      packed.number = m.wire == 1 ? m.number : found ? record_number(packed.p, 8) : 0;
      *out = pb_as_double(&packed);
    }
  }
  return found && !m.wrong;
}

/* SummaryMetadata{plugin_data 1{plugin_name 1}} */
static void read_plugin(value *v, const pb_reader *metadata) {
  pb_reader m = pb_read(metadata->bytes, metadata->n);
  while (pb_next(&m)) {
    if (!pb_is(&m, 1, 2)) continue;
    pb_reader data = pb_read(m.bytes, m.n);
    while (pb_next(&data))
      if (pb_is(&data, 1, 2)) {
        v->plugin = data.bytes;
        v->plugin_n = data.n;
      }
  }
}

static void parse_value(const char *bytes, size_t n, value *v) {
  static const char *const kinds[] = {NULL,        NULL,    "scalar", NULL,    "image",
                                      "histogram", "audio", NULL,     "tensor"};
  pb_reader m = pb_read(bytes, n);
  pb_reader tensor = pb_read("", 0);
  *v = (value){"empty", "", "", bytes, 0, 0, n, NAN};
  while (pb_next(&m)) {
    if (pb_is(&m, 1, 2)) {
      v->tag = m.bytes;
      v->tag_n = m.n;
    }
    if (pb_is(&m, 9, 2)) read_plugin(v, &m);
    if (m.field > 8 || kinds[m.field] == NULL) continue;
    v->kind = kinds[m.field];
    if (m.field == 2 && m.wire == 5) v->number = (double)pb_as_float(&m);
    if (m.field == 8 && m.wire == 2) tensor = m;
  }
  bool plain = v->plugin_n == 0 || (v->plugin_n == 7 && memcmp(v->plugin, "scalars", 7) == 0);
  if (strcmp(v->kind, "tensor") == 0 && tensor.n > 0 && plain &&
      tensor_number(tensor.bytes, tensor.n, &v->number))
    v->kind = "scalar"; /* as TensorFlow 2 writes them */
}

/* ----------------------------------------------------------------------------------- the record */

static const tfsdk_component components[] = {
    {"offset", {.dtype = TFSDK_INT64}},      {"next", {.dtype = TFSDK_INT64}},
    {"wall_time", {.dtype = TFSDK_FLOAT64}}, {"step", {.dtype = TFSDK_INT64}},
    {"kind", {.dtype = TFSDK_STRING}},       {"tag", {.dtype = TFSDK_STRING}},
    {"plugin", {.dtype = TFSDK_STRING}},     {"value", {.dtype = TFSDK_FLOAT64}},
    {"data", {.dtype = TFSDK_STRING}}};

static tfsdk_status *give(tfsdk_record *rec, uint32_t i, const void *bytes, size_t n) {
  tfsdk_view v;
  bool string = components[i].type.dtype == TFSDK_STRING;
  TFSDK_TRY(rec->alloc(rec, i, 0, NULL, string ? n : 0, &v));
  if (string) {
    uint64_t *at = (uint64_t *)v.data;
    at[0] = 0;
    at[1] = n;
    if (n > 0) memcpy(at + 2, bytes, n);
  } else {
    memcpy(v.data, bytes, n);
  }
  return NULL;
}

static tfsdk_status *give_value(reader *r, tfsdk_record *rec, const value *v) {
  int64_t at = (int64_t)r->at, next = (int64_t)r->next;
  r->index++;
  TFSDK_TRY(give(rec, 0, &at, sizeof at));
  TFSDK_TRY(give(rec, 1, &next, sizeof next));
  TFSDK_TRY(give(rec, 2, &r->wall_time, sizeof r->wall_time));
  TFSDK_TRY(give(rec, 3, &r->step, sizeof r->step));
  TFSDK_TRY(give(rec, 4, v->kind, strlen(v->kind)));
  TFSDK_TRY(give(rec, 5, v->tag, v->tag_n));
  TFSDK_TRY(give(rec, 6, v->plugin, v->plugin_n));
  TFSDK_TRY(give(rec, 7, &v->number, sizeof v->number));
  return give(rec, 8, v->data, r->scalars_only ? 0 : v->data_n);
}

static tfsdk_status *reader_next(void *user, tfsdk_record *rec, int32_t *out_end) {
  reader *r = (reader *)user;
  for (;;) {
    value v;
    bool end;
    while (pb_next(&r->values)) {
      if (r->values.field != 1) continue;
      parse_value(r->values.bytes, r->values.n, &v);
      if (!r->scalars_only || strcmp(v.kind, "scalar") == 0) return give_value(r, rec, &v);
      r->index++;
    }
    if (r->kind != NULL) {
      v = (value){r->kind, "", "", r->bytes, 0, 0, r->n, NAN};
      r->kind = NULL;
      if (!r->scalars_only) return give_value(r, rec, &v);
    }
    TFSDK_TRY(read_event(r, &end));
    if (!end) continue;
    *out_end = 1;
    return NULL;
  }
}

static void reader_close(void *user) {
  reader *r = (reader *)user;
  const tfsdk_host *host = r->host;
  if (r->fd >= 0) close(r->fd);
  if (r->path != NULL) host->realloc(host, r->path, strlen(r->path) + 1, 0);
  if (r->buffer != NULL) host->realloc(host, r->buffer, r->cap, 0);
  host->realloc(host, r, sizeof *r, 0);
}

static tfsdk_status *reader_open(void *self, const tfsdk_host *host, const char *path,
                                 const tfsdk_attrs *options, void **out) {
  size_t n = strlen(path) + 1;
  reader *r = (reader *)host->realloc(host, NULL, 0, sizeof *r);
  (void)self;
  if (r == NULL) return host->fail(host, TFSDK_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "no memory");
  memset(r, 0, sizeof *r);
  r->host = host;
  r->values = pb_read("", 0);
  r->scalars_only = tfsdk_attr_int(options, "scalars_only") != 0;
  r->next = (uint64_t)tfsdk_attr_int(options, "offset");
  r->fd = open(path, O_RDONLY | O_CLOEXEC);
  int error = errno;
  r->path = (char *)host->realloc(host, NULL, 0, n);
  tfsdk_status *s = NULL;
  if (r->path == NULL) {
    s = TFSDK_FAIL(r, RESOURCE_EXHAUSTED, "no memory");
  } else {
    memcpy(r->path, path, n);
    if (r->fd < 0)
      s = host->fail(host, error == ENOENT ? TFSDK_NOT_FOUND : TFSDK_UNAVAILABLE, __FILE__,
                     __LINE__, "%s: cannot be opened: %s", path, strerror(error));
  }
  if (s != NULL) {
    reader_close(r);
    return s;
  }
  *out = r;
  return NULL;
}

static tfsdk_status *reader_components(void *user, tfsdk_component *out, uint32_t cap,
                                       uint32_t *out_n) {
  (void)user;
  *out_n = TFSDK_COUNT(components);
  if (cap >= TFSDK_COUNT(components)) memcpy(out, components, sizeof components);
  return NULL;
}

/* "BYTE VALUES": the event that is being handed out, and how many of its values were. */
static tfsdk_status *reader_save(void *user, char *out, size_t cap, size_t *out_n) {
  const reader *r = (const reader *)user;
  char text[64];
  bool inside = r->kind != NULL || r->values.p != r->values.end;
  int n = snprintf(text, sizeof text, "%llu %lld", (unsigned long long)(inside ? r->at : r->next),
                   (long long)(inside ? r->index : 0));
  *out_n = (size_t)n;
  if (cap >= (size_t)n) memcpy(out, text, (size_t)n);
  return NULL;
}

static tfsdk_status *reader_restore(void *user, const char *text, size_t n) {
  reader *r = (reader *)user;
  char copy[64];
  unsigned long long at;
  long long index;
  bool end = false;
  if (n >= sizeof copy) return FAIL(r, INVALID_ARGUMENT, "this is no position in an event file");
  memcpy(copy, text, n);
  copy[n] = 0;
  if (sscanf(copy, "%llu %lld", &at, &index) != 2)
    return FAIL(r, INVALID_ARGUMENT, "'%s' is no position in an event file", copy);
  r->next = at;
  r->kind = NULL;
  r->values = pb_read("", 0);
  if (index <= 0) return NULL;
  TFSDK_TRY(read_event(r, &end));
  while (!end && r->index < index && pb_next(&r->values))
    if (r->values.field == 1) r->index++;
  return NULL;
}

static const tfsdk_attrdef options[] = {
    {"offset", "int", "0", "where to begin: 0, or a `next` of before", 0, 9e15},
    {"scalars_only", "bool", "false", "only scalars, and no `data`", 0, 0},
};
static const tfsdk_readerdef readers[] = {{
    .struct_size = sizeof(tfsdk_readerdef),
    .n_option = TFSDK_COUNT(options),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "tfevents",
    .extensions = ".tfevents",
    .doc = "Event files of TensorBoard. A record is one value of a summary, or an event of another "
           "kind: `offset` and `next` (bytes where its event begins and ends), `wall_time`, "
           "`step`, `kind` (scalar, image, histogram, audio, tensor, graph_def, meta_graph_def, "
           "session_log, tagged_run_metadata, log_message, file_version), `tag`, `plugin` (of its "
           "metadata), `value` (of a scalar, else NaN), `data` (the serialized value or content). "
           "A last record that is not complete is the end for now; damage is an error that names "
           "the byte.",
    .option = options,
    .open = reader_open,
    .components = reader_components,
    .next = reader_next,
    .save = reader_save,
    .restore = reader_restore,
    .close = reader_close,
}};
TFSDK_UNIT_READERS(tfevents_reader, readers);
