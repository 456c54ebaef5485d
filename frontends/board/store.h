/* store.h - what is known of the runs below a folder: for each run its series, by tag.
 *
 * Scalars are kept as numbers. Of everything else only the place in its file is kept, and it is
 * read again when somebody looks at it: ten thousand pictures cost no memory.
 *
 * One thread reads (store_update), others answer. `lock` guards all that is here but files' paths
 * and faults of the past: it is held while values are added or copied, never while a file is read. */
#ifndef TFSDK_BOARD_STORE_H
#define TFSDK_BOARD_STORE_H

#include <pthread.h>
#include <signal.h>
#include <tfsdk/tfsdk.h>

#include "proto.h"
#include "text.h"

typedef enum series_kind {
  SCALARS,
  HISTOGRAMS,
  IMAGES,
  AUDIO,
  TEXT,
  CURVES,
  HPARAMS,
  GRAPHS,
  PROFILES,
  TENSORS,
  KINDS
} series_kind;
extern const char *const kind_names[KINDS];

typedef struct point {
  int64_t step;
  double wall, value;
} point;

/* A value in a file: the index-th of the event that begins there. */
typedef struct place {
  int64_t step;
  double wall;
  const char *path;
  int64_t offset;
  uint32_t index;
} place;

typedef struct series {
  char *tag, *plugin, *description; /* plugin, description: of its first metadata, or NULL */
  series_kind kind;
  size_t n, cap; /* of points or places */
  union {
    point *points;
    place *places;
    void *list;
  };
  uint64_t seen, stride; /* each stride-th value is kept once there are very many */
} series;

typedef struct run {
  char *name; /* the folder below the log folder; "." for itself */
  series **all;
  size_t n;
  double began, latest; /* wall times of the first and the latest event */
  int64_t step;         /* the highest */
  uint64_t generation;  /* changes with every value */
  size_t n_files;       /* that are still there */
} run;

typedef struct file {
  char *path;
  run *run;
  int64_t offset, size; /* read up to; size when it was read */
  int64_t event;        /* the present event, and how many values of it have come */
  uint32_t index;
  char *fault; /* damage: it is read no further */
  bool gone;
} file;

typedef struct store {
  tfsdk_runtime *rt;
  const char *folder;
  pthread_mutex_t lock;
  run **runs; /* by name */
  size_t n_runs;
  file **files; /* by path */
  size_t n_files;
  uint64_t generation, structure; /* structure: when runs, tags or faults changed last */
  bool loaded;                    /* everything that was there at the start has been read */
  bool out_of_memory;
  volatile sig_atomic_t *stop; /* set: reading ends soon */
} store;

/* Looks for new files and reads what has come. An error is one of the whole (no plugin); damage of a
 * file stays with the file. */
tfsdk_status *store_update(store *s);
void store_free(store *s);

/* With the lock held; NULL if there is none. */
run *store_run(const store *s, const char *name);
series *run_series(const run *r, series_kind kind, const char *tag);

/* The serialized value at a place, read from its file; *out_box is released with
 * tfsdk_tensor_release when it is done with. An error if the file has changed. */
tfsdk_status *store_read(store *s, const place *p, tfsdk_tensor **out_box, bytes *out);

#endif
