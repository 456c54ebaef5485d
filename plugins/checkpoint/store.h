/* What readers of named tensors have in common: the three ways in which they are opened (see the
 * options), looking names up, and records. A format lists its entries when it is opened and reads
 * one of them when it is asked. */
#ifndef TFSDK_CHECKPOINT_STORE_H
#define TFSDK_CHECKPOINT_STORE_H

#include <tfsdk/shape.h>

#include "file.h"

typedef struct store_entry {
  const char *name; /* in the arena */
  int32_t dtype;    /* 0: a type that cannot be read; `type` names it */
  const char *type; /* NULL: dtype's name */
  tfsdk_shape shape;
  const char *file; /* where the elements lie as they are in memory; NULL: nowhere */
  uint64_t at, bytes;
  const void *own; /* the format's */
} store_entry;

typedef struct store store;

/* Strings as a format reads them: n + 1 offsets, and their bytes; both in `scratch`. */
typedef struct store_text {
  arena scratch;
  uint64_t *offset;
  const char *bytes;
} store_text;

typedef struct store_format {
  size_t own_bytes;
  /* Fills the entries, with store_add; their order does not matter. */
  tfsdk_status *(*open)(store *s);
  tfsdk_status *(*read)(store *s, const store_entry *e, void *to, uint64_t bytes);
  tfsdk_status *(*strings)(store *s, const store_entry *e, uint64_t n, store_text *out);
  void (*close)(store *s); /* `own` is zeroed memory before; also after a failed open */
} store_format;

struct store {
  const tfsdk_host *host; /* first: TFSDK_FAIL(store, ...) works */
  const char *path;
  const store_format *format;
  arena memory;
  store_entry *entry;
  size_t n, cap;
  const char *metadata; /* JSON; NULL: none */
  void *own;
  /* how it was opened */
  int mode;
  size_t next; /* listing: the entry; else 1 when the one record has been given */
  const store_entry **wanted;
  uint32_t n_wanted;
};

#define STORE_FAIL(s, code, format, ...)                                                           \
  TFSDK_FAIL(s, code, "%s: " format, (s)->path, ##__VA_ARGS__)

/* A new entry, zeroed but for the name; NULL when memory is out. */
store_entry *store_add(store *s, const char *name, size_t n);
/* Elements and bytes of an entry's shape; DATA_LOSS when they do not fit 63 bits. */
tfsdk_status *store_size(store *s, const store_entry *e, int64_t *out_elements,
                         uint64_t *out_bytes);
/* An extent from a file: DATA_LOSS when it is negative, UNIMPLEMENTED past the highest rank. */
tfsdk_status *store_extent(store *s, store_entry *e, int64_t extent);
/* file_read, or (to NULL) file_expect, of a tensor's bytes: messages name it. */
tfsdk_status *store_fetch(file *f, uint64_t at, void *to, uint64_t n, const char *tensor);
/* The entry of that name, or NULL; once the store is open. */
const store_entry *store_find(const store *s, const char *name);

tfsdk_status *store_open(const store_format *format, const tfsdk_host *host, const char *path,
                         const tfsdk_attrs *options, void **out_reader);
tfsdk_status *store_components(void *reader, tfsdk_component *out, uint32_t cap, uint32_t *out_n);
tfsdk_status *store_next(void *reader, tfsdk_record *r, int32_t *out_end);
int64_t store_count(void *reader);
void store_close(void *reader);

extern const tfsdk_attrdef store_options[2];

/* The record of a reader whose format is `format_`; open functions have to know it by name. */
#define STORE_OPEN(function, format_)                                                              \
  static tfsdk_status *function(void *self, const tfsdk_host *host, const char *path,              \
                                const tfsdk_attrs *options, void **out_reader) {                   \
    (void)self;                                                                                    \
    return store_open(&(format_), host, path, options, out_reader);                                \
  }
#define STORE_READER(name_, extensions_, open_, doc_)                                              \
  {                                                                                                \
    .struct_size = sizeof(tfsdk_readerdef), .n_option = 2, .attr_size = sizeof(tfsdk_attrdef),     \
    .name = name_, .extensions = extensions_, .doc = doc_, .option = store_options, .open = open_, \
    .components = store_components, .next = store_next, .count = store_count, .close = store_close \
  }

/* What one file of the folder brings: either may be NULL with a count of 0. */
#define TFSDK_UNIT_FORMAT(file, readers_, n_readers_, writers_, n_writers_)                        \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {                                                           \
      .readers = readers_, .writers = writers_, .n_readers = n_readers_, .n_writers = n_writers_}

#endif
