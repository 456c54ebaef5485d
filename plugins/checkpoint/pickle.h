/* Python's pickles, as far as files of tensors need them: numbers, texts, lists, dicts, and tensors over storages. A pickle is
 * a program; this reads it and runs nothing: names of functions and classes are compared with a short list, all others end
 * the reading. Opcodes: CPython's Lib/pickletools.py. */
#ifndef TFSDK_CHECKPOINT_PICKLE_H
#define TFSDK_CHECKPOINT_PICKLE_H

#include <tfsdk/shape.h>

#include "file.h"

enum pickle_kind {
  PICKLE_NONE = 1,
  PICKLE_BOOL,
  PICKLE_INT,
  PICKLE_FLOAT,
  PICKLE_TEXT,
  PICKLE_LIST, /* tuples and sets, too */
  PICKLE_DICT, /* items: key, value, key, value ... */
  PICKLE_NAME, /* a function or class of the list */
  PICKLE_STORAGE,
  PICKLE_TENSOR
};

typedef struct pickle_value pickle_value;
struct pickle_value {
  enum pickle_kind kind;
  int64_t number; /* INT, BOOL; STORAGE: elements; TENSOR: offset in elements */
  double real;
  const char *text; /* TEXT, NAME; STORAGE: its key */
  size_t text_n;
  pickle_value **item;
  size_t n, cap;
  int32_t dtype; /* STORAGE */
  pickle_value *storage;
  tfsdk_shape shape; /* TENSOR */
  int64_t stride[TFSDK_MAX_RANK];
};

/* Where the bytes come from: memory, or a file from `at` on. */
typedef struct pickle_source {
  const tfsdk_host *host; /* first */
  arena *memory;
  const char *path;    /* for messages */
  const char *p, *end; /* memory */
  file *f;             /* NULL: memory */
  uint64_t at;
  char *window; /* of the file */
  uint64_t window_at;
  size_t window_n;
} pickle_source;

/* One pickle, up to its end; `out` lives in the arena. */
tfsdk_status *pickle_read(pickle_source *s, pickle_value **out);
/* The value under a key of a dict; NULL. */
const pickle_value *pickle_get(const pickle_value *dict, const char *key);

#endif
