/* What the files of the core share. Nothing outside core/ includes this.
 *
 * Ownership: everything hangs off a runtime. Objects are counted; each counted object that users
 * hold (graph, session, tensor, tape, dataset) holds the runtime. Internal functions are
 * tfsdk__<module>_<verb>. Locks: runtime.lock guards registry, loader and devices; it is recursive
 * (a plugin's enroll may make the loader look up another) and never held while a kernel runs.
 * Graphs are built by one thread at a time.
 */
#ifndef TFSDK_CORE_INTERNAL_H
#define TFSDK_CORE_INTERNAL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfsdk/device.h>
#include <tfsdk/shape.h>
#include <tfsdk/tfsdk.h>

typedef struct tfsdk__plugin tfsdk__plugin;
typedef struct tfsdk__device tfsdk__device;
typedef struct tfsdk__op tfsdk__op;
typedef struct tfsdk__kernel tfsdk__kernel;
typedef struct tfsdk__buffer tfsdk__buffer;
typedef struct tfsdk__cell tfsdk__cell;
typedef struct tfsdk__node tfsdk__node;
typedef struct tfsdk__loader tfsdk__loader;
typedef struct tfsdk__eager tfsdk__eager;

/* ------------------------------------------------------------------------------------ status
 * (status.c) */

tfsdk_status *tfsdk__status_make(int32_t code, const char *format, ...) TFSDK_PRINTF(2, 3);
tfsdk_status *tfsdk__status_vmake(int32_t code, const char *format, va_list args);
/* The static error for "no memory". */
tfsdk_status *tfsdk__status_no_memory(void);
/* Adds a fact unless the key is there already. NULL status is allowed. Keys: op node where inputs
 * plugin device path step. */
void tfsdk__status_add(tfsdk_status *s, const char *key, const char *format, ...)
    TFSDK_PRINTF(3, 4);
/* Puts "text: " before the message. */
void tfsdk__status_prefix(tfsdk_status *s, const char *format, ...) TFSDK_PRINTF(2, 3);
/* Returns early with a fact added. */
#define TFSDK__TRY_ADD(expr, key, ...)                                                             \
  do {                                                                                             \
    tfsdk_status *try_ = (expr);                                                                   \
    if (try_ != NULL) {                                                                            \
      tfsdk__status_add(try_, key, __VA_ARGS__);                                                   \
      return try_;                                                                                 \
    }                                                                                              \
  } while (0)

/* ------------------------------------------------------------------------------------ memory
 * (alloc.c) */

/* Blocks are aligned to 64 bytes, pooled by size class, counted, and fail when a test asks for it.
 * Content undefined. NULL when memory is out (after the reclaim hook was tried). */
void *tfsdk__alloc(tfsdk_runtime *rt, size_t bytes);
void *tfsdk__zalloc(tfsdk_runtime *rt, size_t bytes); /* zeroed */
void tfsdk__free(tfsdk_runtime *rt, void *block);     /* NULL allowed */
/* Keeps the content; NULL leaves the old block as it was. */
void *tfsdk__realloc(tfsdk_runtime *rt, void *block, size_t bytes);
char *tfsdk__strdup(tfsdk_runtime *rt, const char *text); /* NULL when memory is out */
size_t tfsdk__alloc_bytes(const void *block);             /* what was asked for */
/* A variable of the thread, in its static block: LeakSanitizer crashes now and then over those that
 * the linker allocates (it looks for the linker's header in front of malloc's block). */
#define TFSDK__OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
/* Threads that the core starts set it: they never run the user's reclaim hook, which may belong to
 * a script's thread. */
extern TFSDK__OF_THREAD bool tfsdk__thread_is_own;

typedef struct tfsdk__allocator {
  atomic_flag lock;
  void *(*realloc)(void *user, void *block, size_t old_bytes, size_t new_bytes);
  void *user;
  void *free_list[256];
  uint64_t cached_bytes, live_blocks, live_bytes, allocations, damaged;
  bool guard;
  uint64_t fail_after; /* 0: never; else counts down to the failing allocation */
  bool fail_persist;
} tfsdk__allocator;
void tfsdk__allocator_init(tfsdk_runtime *rt);
void tfsdk__allocator_deinit(tfsdk_runtime *rt);
void tfsdk__allocator_trim(tfsdk_runtime *rt);
void tfsdk__allocator_report(tfsdk_runtime *rt, tfsdk_memory_info *out); /* its fields */

/* A growing array of `type`: fields data, n, cap. GROW makes room for one more; false when memory
 * is out. */
#define TFSDK__VEC(type)                                                                           \
  struct {                                                                                         \
    type *data;                                                                                    \
    size_t n, cap;                                                                                 \
  }
bool tfsdk__vec_grow(tfsdk_runtime *rt, void *data_field, size_t n, size_t *cap, size_t size,
                     size_t more);
#define TFSDK__GROW(rt, vec, more)                                                                 \
  tfsdk__vec_grow(rt, &(vec)->data, (vec)->n, &(vec)->cap, sizeof *(vec)->data, more)

/* Text that grows (buf.c). Memory comes from malloc; when it fails, `failed` is
 * set and later additions are dropped. */
typedef struct tfsdk__buf {
  char *s;
  size_t n, cap;
  bool failed;
} tfsdk__buf;
void tfsdk__buf_add(tfsdk__buf *b, const char *format, ...) TFSDK_PRINTF(2, 3);
void tfsdk__buf_deinit(tfsdk__buf *b);

/* A map from text (borrowed, must live as long as the map) to a pointer. */
typedef struct tfsdk__map {
  struct tfsdk__map_slot {
    const char *key;
    void *value;
    uint64_t hash;
  } * slot;
  size_t n, cap;
} tfsdk__map;
void *tfsdk__map_get(const tfsdk__map *m, const char *key);
bool tfsdk__map_reserve(tfsdk_runtime *rt, tfsdk__map *m,
                        size_t more); /* then `more` puts succeed */
bool tfsdk__map_put(tfsdk_runtime *rt, tfsdk__map *m, const char *key, void *value); /* replaces */
void tfsdk__map_remove(tfsdk__map *m, const char *key);
void tfsdk__map_deinit(tfsdk_runtime *rt, tfsdk__map *m);
uint64_t tfsdk__hash(const void *data, size_t n, uint64_t seed);
/* Edit distance, for "did you mean". */
int tfsdk__distance(const char *a, const char *b);

/* ------------------------------------------------------------------------- runtime (runtime.c) */

struct tfsdk_runtime {
  const tfsdk_host *host; /* of the core itself: TFSDK_FAIL(rt, ...) works */
  tfsdk_host core_host;
  atomic_size_t refs;
  tfsdk__allocator alloc;
  pthread_mutex_t lock;          /* recursive */
  tfsdk_runtime_options options; /* texts copied */
  int32_t log_level;
  uint32_t threads;
  int64_t seed;
  bool has_seed;
  atomic_uint_least64_t next_tensor_id, next_stamp;
  atomic_uint_least64_t live_tensors;
  /* registry */
  tfsdk__map ops, readers, writers, layers;
  TFSDK__VEC(tfsdk__op *) op_list;
  TFSDK__VEC(tfsdk__plugin *) plugins;
  TFSDK__VEC(const struct tfsdk__devtype *) devtypes;
  TFSDK__VEC(tfsdk__device *) devices;
  TFSDK__VEC(tfsdk__kernel *) orphan_kernels; /* of ops not there yet */
  TFSDK__VEC(struct tfsdk__preference {
    char *op;
    char *kernel;
  })
  preferences; /* op NULL: all */
  tfsdk__loader *loader;
  tfsdk__eager *eager;
};
void tfsdk__runtime_retain(tfsdk_runtime *rt);
void tfsdk__runtime_unref(tfsdk_runtime *rt);
#define TFSDK__NOMEM(rt) tfsdk__status_no_memory()

/* ------------------------------------------------------------------ plugins (loader.c, host.c) */

struct tfsdk__plugin {
  tfsdk_host host; /* handed to the plugin; tfsdk__plugin_of(host) finds the plugin */
  tfsdk_runtime *rt;
  tfsdk_plugin manifest; /* normalised copy */
  char *path;            /* absolute; "" for static ones */
  void *self;
  void *handle; /* lt_dlhandle */
  bool opened;
  atomic_size_t live_bytes, live_blocks; /* through host.realloc */
  uint32_t n_ops, n_kernels, n_devices, n_readers, n_writers, n_layers;
  uint64_t st_dev, st_ino;
};
static inline tfsdk__plugin *tfsdk__plugin_of(const tfsdk_host *h) {
  return (tfsdk__plugin *)(uintptr_t)h; /* host is the first member */
}
/* Fills the host table of a plugin (fail, log, realloc, iface ...). */
void tfsdk__host_init(tfsdk__plugin *p, tfsdk_runtime *rt);
/* The core's own host, so that contexts of the core have one. */
void tfsdk__host_init_core(tfsdk_runtime *rt);

/* The loader. All are called with the runtime unlocked or locked by this thread; they lock it. */
tfsdk_status *tfsdk__loader_create(tfsdk_runtime *rt);
void tfsdk__loader_release(
    tfsdk_runtime *rt); /* quiesces and closes plugins in reverse order; stays resident */
/* Makes sure that the plugin which provides `op` is loaded, if the index or a scan knows one. No
 * error when nobody provides it. A provider that fails to load is an error. */
tfsdk_status *tfsdk__loader_provide_op(tfsdk_runtime *rt, const char *op);
/* Loads every plugin that has kernels for `op` on devices of type `device`. One that fails is
 * logged. */
void tfsdk__loader_provide_kernels(tfsdk_runtime *rt, const char *op, const char *device);
tfsdk_status *tfsdk__loader_provide_device(tfsdk_runtime *rt, const char *type);
/* By name ("csv") or, with name NULL, by the ending of path. */
tfsdk_status *tfsdk__loader_provide_reader(tfsdk_runtime *rt, const char *name, const char *path);
tfsdk_status *tfsdk__loader_provide_writer(tfsdk_runtime *rt, const char *name, const char *path);
tfsdk_status *tfsdk__loader_provide_layer(tfsdk_runtime *rt, const char *layer);
/* Visits the names of ops (kind "op"), devices ("device"), readers ("reader"), layers ("layer")
 * that the index knows, loaded or not. */
void tfsdk__loader_each(tfsdk_runtime *rt, const char *kind, int (*fn)(void *, const char *),
                        void *user);

/* The same names sorted, each once. */
void tfsdk__each_name(tfsdk_runtime *rt, const char *kind, int (*fn)(void *user, const char *name),
                      void *user);

/* --------------------------------------------------------------- registry (registry.c, schema.c)
 */

enum tfsdk__type_kind {
  TFSDK__TYPE_FIXED,
  TFSDK__TYPE_ATTR,
  TFSDK__TYPE_LIST_N,
  TFSDK__TYPE_LIST_TYPES
};

/* A parsed argument type. */
typedef struct tfsdk__argtype {
  uint8_t kind; /* enum tfsdk__type_kind */
  bool optional;
  int32_t dtype;     /* FIXED, or LIST_N of a fixed type */
  int32_t type_attr; /* index of the dtype (or list(dtype)) attribute, -1 none */
  int32_t n_attr;    /* LIST_N: index of the count attribute */
} tfsdk__argtype;

/* A parsed attribute type. */
typedef struct tfsdk__attrtype {
  int32_t kind;    /* TFSDK_ATTR_* */
  int32_t *dtypes; /* allowed, 0-ended, or NULL */
  char **strings;  /* allowed, NULL-ended, or NULL */
  bool has_default;
  bool told;          /* the inputs tell it */
  tfsdk_attrval dflt; /* name set; content owned */
} tfsdk__attrtype;

struct tfsdk__kernel {
  tfsdk_kerneldef def;
  tfsdk__plugin *plugin; /* NULL: the op's reference kernel */
  tfsdk__op *op;
};

struct tfsdk__op {
  tfsdk_opdef def; /* normalised copy; arrays re-laid to our element sizes */
  tfsdk__plugin *plugin;
  tfsdk__argtype *in, *out;
  tfsdk__attrtype *attr;
  int32_t list_arg; /* index of the first list input, -1 none */
  bool simple;      /* no list, no optional input: arguments and inputs are the same */
  bool differentiable;
  TFSDK__VEC(tfsdk__kernel *) kernels; /* by falling priority */
  TFSDK__VEC(char *) looked_for;       /* device types whose kernels were asked of the loader */
  uint32_t index;                      /* in runtime.op_list */
};

typedef struct tfsdk__layer {
  tfsdk_layerdef def; /* normalised copy; arrays re-laid to our element sizes */
  tfsdk__plugin *plugin;
  tfsdk__attrtype *param;
} tfsdk__layer;

/* A transaction: what one plugin's enroll has given so far. */
typedef struct tfsdk__txn {
  tfsdk_registrar registrar; /* first member: handed to the plugin */
  tfsdk__plugin *plugin;
  TFSDK__VEC(tfsdk__op *) ops;
  TFSDK__VEC(tfsdk__kernel *) kernels;
  TFSDK__VEC(tfsdk_devdef) devices;
  TFSDK__VEC(tfsdk_layerdef) layers;
  TFSDK__VEC(tfsdk_readerdef) readers;
  TFSDK__VEC(tfsdk_writerdef) writers;
} tfsdk__txn;
void tfsdk__txn_begin(tfsdk__txn *t, tfsdk__plugin *p);
tfsdk_status *tfsdk__txn_commit(
    tfsdk__txn *t); /* all or nothing; the transaction is empty afterwards */
void tfsdk__txn_rollback(tfsdk__txn *t);
/* Copies a record of any minor version: the known part, zeros for the rest; a longer record whose
 * unknown tail is not zero is INCOMPATIBLE. */
tfsdk_status *tfsdk__take(void *dst, size_t dst_n, const void *src, size_t src_n,
                          const char *record);

/* A transaction's layers (layer.c), in the steps of its commit: made and checked, shown, dropped. */
tfsdk_status *tfsdk__layers_make(tfsdk__txn *t, tfsdk__layer ***out);
void tfsdk__layers_show(tfsdk__txn *t, tfsdk__layer **layers); /* room was reserved */
void tfsdk__layers_drop(tfsdk__txn *t, tfsdk__layer **layers);
void tfsdk__layer_release(tfsdk_runtime *rt, tfsdk__layer *l);
/* "op 'x' of FILE exists already: OTHER provides it". */
tfsdk_status *tfsdk__registry_taken(const char *kind, const char *name, const tfsdk__plugin *first,
                                    const tfsdk__plugin *second);
/* Re-lays an array of records whose element size is the plugin's. */
tfsdk_status *tfsdk__registry_relay(tfsdk_runtime *rt, const void *src, uint32_t n, size_t src_size,
                                    size_t dst_size, const void **out);
bool tfsdk__registry_name_ok(const char *name);

tfsdk_status *tfsdk__op_find(tfsdk_runtime *rt, const char *name, tfsdk__op **out);
tfsdk_status *tfsdk__reader_find(tfsdk_runtime *rt, const char *name, const char *path,
                                 const tfsdk_readerdef **out, tfsdk__plugin **out_plugin);
tfsdk_status *tfsdk__writer_find(tfsdk_runtime *rt, const char *name, const char *path,
                                 const tfsdk_writerdef **out, tfsdk__plugin **out_plugin);
void tfsdk__registry_deinit(tfsdk_runtime *rt);
/* Schema text (schema.c). */
tfsdk_status *tfsdk__schema_parse(tfsdk__op *op, tfsdk_runtime *rt);
void tfsdk__schema_release(tfsdk__op *op, tfsdk_runtime *rt);
/* Parses "[1,2]", "0.5", "float32" into a value of that kind; owned copies. */
tfsdk_status *tfsdk__attr_parse(tfsdk_runtime *rt, int32_t kind, const char *text,
                                tfsdk_attrval *out);
/* Parses an attribute definition's type ("list(int)", "string{SAME,VALID}") and default. */
tfsdk_status *tfsdk__attrtype_parse(tfsdk_runtime *rt, const tfsdk_attrdef *def,
                                    tfsdk__attrtype *out);
void tfsdk__attrtype_release(tfsdk_runtime *rt, tfsdk__attrtype *t);

/* ------------------------------------------------------------------------------ attributes
 * (attr.c) */

/* A counted, immutable list in record order. */
typedef struct tfsdk__attrlist {
  atomic_size_t refs;
  uint64_t hash;
  uint32_t n;
  tfsdk_attrval list[];
} tfsdk__attrlist;
tfsdk_status *tfsdk__attr_copy(tfsdk_runtime *rt, const tfsdk_attrval *src, tfsdk_attrval *dst);
void tfsdk__attr_release(tfsdk_runtime *rt, tfsdk_attrval *a);
bool tfsdk__attr_equal(const tfsdk_attrval *a, const tfsdk_attrval *b);
void tfsdk__attrlist_release(tfsdk_runtime *rt, tfsdk__attrlist *l);
static inline tfsdk__attrlist *tfsdk__attrlist_retain(tfsdk__attrlist *l) {
  atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
  return l;
}
static inline tfsdk_attrs tfsdk__attrlist_view(const tfsdk__attrlist *l) {
  tfsdk_attrs a = {l->list, l->n, 0};
  return a;
}
/* Checks given values against definitions and fills in `told` values (kind NONE: not told; or NULL)
 * and defaults; the result is in the order of the definitions. */
tfsdk_status *tfsdk__attrlist_fill(tfsdk_runtime *rt, const tfsdk_attrdef *defs,
                                   const tfsdk__attrtype *types, uint32_t n_defs,
                                   const tfsdk_attrval *told, const tfsdk_attrval *given,
                                   size_t n_given, tfsdk__attrlist **out);
/* Options of readers and writers: given values, checked against definitions, defaults filled in. */
tfsdk_status *tfsdk__attrlist_resolve(tfsdk_runtime *rt, const char *what,
                                      const tfsdk_attrdef *defs, uint32_t n_defs,
                                      const tfsdk_attrval *given, size_t n_given,
                                      tfsdk__attrlist **out);
/* The same for a record whose definitions may be of another size than ours. */
tfsdk_status *tfsdk__options_resolve(tfsdk_runtime *rt, const char *what, const tfsdk_attrdef *defs,
                                     uint32_t n_defs, uint32_t attr_size,
                                     const tfsdk_attrval *given, size_t n_given,
                                     tfsdk__attrlist **out);

/* What a call of an op looks like once checked (opcall.c): every attribute present, types resolved.
 */
typedef struct tfsdk__opcall {
  tfsdk__op *op;
  tfsdk__attrlist *attrs; /* owned */
  uint32_t n_in, n_out;
  int32_t out_dtype_fixed[8];
  int32_t *out_dtype; /* n_out; points to out_dtype_fixed or to owned memory */
} tfsdk__opcall;
/* in_dtype[i] 0: absent. Errors name argument, dtypes and attributes; unknown attributes name the
 * nearest. */
tfsdk_status *tfsdk__opcall_resolve(tfsdk_runtime *rt, tfsdk__op *op, const int32_t *in_dtype,
                                    size_t n_in, const tfsdk_attrval *attr, size_t n_attr,
                                    tfsdk__opcall *out);
void tfsdk__opcall_deinit(tfsdk_runtime *rt, tfsdk__opcall *c);
/* The argument that flat input i belongs to. */
uint32_t tfsdk__op_arg_of(const tfsdk__op *op, const tfsdk__attrlist *attrs, uint32_t n_in,
                          uint32_t i);
/* How many flat inputs argument a has. */
uint32_t tfsdk__op_arg_count(const tfsdk__op *op, const tfsdk__attrlist *attrs, uint32_t n_in,
                             uint32_t a);
/* Runs the shape rule and checks its result. */
tfsdk_status *tfsdk__infer_run(tfsdk__op *op, const tfsdk__attrlist *attrs,
                               const tfsdk_typed_shape *in, uint32_t n_in,
                               const tfsdk_view *const *value, const int32_t *out_dtype,
                               tfsdk_typed_shape *out, uint32_t n_out);

/* ------------------------------------------------------------------------------- devices
 * (device.c) */

typedef struct tfsdk__devtype {
  tfsdk_devdef def;
  tfsdk__plugin *plugin;
} tfsdk__devtype;

struct tfsdk__device {
  tfsdk_runtime *rt;
  char name[40]; /* "cpu:0" */
  char type[32];
  uint32_t ordinal;
  /* NULL: bare host memory, one thread. The host's comes when the first kernel is looked for, while
   * others may be using its memory: dev and info are written before it. */
  _Atomic(const tfsdk__devtype *) driver;
  tfsdk_dev *dev;
  tfsdk_devinfo info;
  bool host_memory, attached;
  uint64_t limit;
  atomic_uint_least64_t in_use, peak;
};
/* "cpu:0", "cpu", "/cpu:0", "/device:CPU:0", "gpu:0" (= cuda:0). NOT_FOUND lists the devices. */
tfsdk_status *tfsdk__device_find(tfsdk_runtime *rt, const char *name, tfsdk__device **out);
tfsdk__device *tfsdk__device_host(tfsdk_runtime *rt); /* cpu:0; made with the runtime */
/* Opens the driver of a device on first use. */
tfsdk_status *tfsdk__device_attach(tfsdk__device *d);
void tfsdk__device_deinit_all(tfsdk_runtime *rt);

struct tfsdk__buffer {
  atomic_size_t refs;
  tfsdk__device *device;
  void *data;
  uint64_t bytes;
  void (*release)(void *user); /* foreign memory */
  void *user;
  atomic_uint_least64_t stamp; /* see tfsdk_view.stamp; 0 for memory that others may write */
};
tfsdk_status *tfsdk__buffer_create(tfsdk__device *d, uint64_t bytes, tfsdk__buffer **out);
/* Its content is another now: a new stamp. */
void tfsdk__buffer_changed(tfsdk__buffer *b);
void tfsdk__buffer_release(tfsdk__buffer *b);

/* ------------------------------------------------------------------------------- tensors
 * (tensor.c) */

enum { TFSDK__TENSOR_SHAPE_ONLY = 1 };

struct tfsdk_tensor {
  atomic_size_t refs;
  tfsdk_runtime *rt;
  uint64_t id; /* unique in the runtime: what tapes know it by */
  int32_t dtype;
  uint16_t rank, flags;
  void *data; /* on buffer->device */
  int64_t n_elem;
  uint64_t byte_size;
  tfsdk__buffer *buffer;        /* NULL: empty, shape-only, or resource */
  tfsdk__cell *cell;            /* resource tensors */
  _Atomic(tfsdk_tensor *) host; /* of a device tensor: its copy on the host, made on demand */
  int64_t dim[];
};
/* Checked element count and bytes: INVALID_ARGUMENT for negative extents, rank and overflow. */
tfsdk_status *tfsdk__shape_bytes(tfsdk_runtime *rt, int32_t dtype, uint32_t rank,
                                 const int64_t *dim, int64_t *out_n, uint64_t *out_bytes);
tfsdk_status *tfsdk__tensor_alloc(tfsdk__device *d, int32_t dtype, uint32_t rank,
                                  const int64_t *dim, tfsdk_tensor **out);
/* String tensors: `bytes` of text. */
tfsdk_status *tfsdk__tensor_alloc_strings(tfsdk_runtime *rt, uint32_t rank, const int64_t *dim,
                                          uint64_t bytes, tfsdk_tensor **out);
/* Another tensor on the same buffer (a new id). */
tfsdk_status *tfsdk__tensor_alias(tfsdk_tensor *t, uint32_t rank, const int64_t *dim,
                                  tfsdk_tensor **out);
/* The same dtype, shape and *id*, but no data: what a tape keeps when only the shape is needed. */
tfsdk_status *tfsdk__tensor_ghost(tfsdk_tensor *t, tfsdk_tensor **out);
tfsdk_status *tfsdk__tensor_resource(tfsdk__cell *cell, tfsdk_tensor **out);
/* On `d`: the tensor itself (retained) or a copy. Strings and resources stay on the host. */
tfsdk_status *tfsdk__tensor_on(tfsdk_tensor *t, tfsdk__device *d, tfsdk_tensor **out);
void tfsdk__tensor_fill_view(const tfsdk_tensor *t, tfsdk_view *v);
static inline tfsdk__device *tfsdk__tensor_where(const tfsdk_tensor *t) {
  return t->buffer ? t->buffer->device : tfsdk__device_host(t->rt);
}
static inline void tfsdk__tensor_typed_shape(const tfsdk_tensor *t, tfsdk_typed_shape *s) {
  s->dtype = t->dtype;
  s->flags = 0;
  s->shape.rank = t->rank;
  s->shape.reserved = 0;
  for (uint32_t i = 0; i < t->rank; i++) s->shape.dim[i] = t->dim[i];
}

/* The mutable cell behind a variable. */
struct tfsdk__cell {
  atomic_size_t refs;
  tfsdk_runtime *rt;
  pthread_mutex_t lock;
  char *name;
  int32_t dtype;
  tfsdk_shape shape;   /* static; value must fit */
  tfsdk_tensor *value; /* NULL: uninitialised */
  bool trainable;
};
tfsdk_status *tfsdk__cell_create(tfsdk_runtime *rt, const char *name, int32_t dtype,
                                 const tfsdk_shape *shape, tfsdk__cell **out);
void tfsdk__cell_release(tfsdk__cell *c);
tfsdk_status *tfsdk__cell_read(tfsdk__cell *c, tfsdk_tensor **out);    /* one reference */
tfsdk_status *tfsdk__cell_assign(tfsdk__cell *c, tfsdk_tensor *value); /* checks dtype and shape */

/* ------------------------------------------------------------------- executing one op (execute.c)
 */

/* What random ops draw from: one stream per node (graph) or per key (eager). */
typedef struct tfsdk__stream_state {
  uint32_t key[2];
  uint64_t counter;
} tfsdk__stream_state;

/* Where variables of a session (or of eager mode) live. */
typedef struct tfsdk__cells {
  pthread_mutex_t lock;
  tfsdk__map by_name; /* -> tfsdk__cell *, one reference each */
} tfsdk__cells;
tfsdk_status *tfsdk__cells_get(tfsdk_runtime *rt, tfsdk__cells *c, const char *name, int32_t dtype,
                               const tfsdk_shape *shape, tfsdk__cell **out); /* lent */
void tfsdk__cells_deinit(tfsdk_runtime *rt, tfsdk__cells *c);

/* A chosen kernel with its state, for one (op, attributes, dtypes, device). */
typedef struct tfsdk__bound {
  tfsdk__op *op;
  tfsdk__kernel *kernel; /* NULL for VIEW and PLACEHOLDER ops */
  tfsdk__device *device; /* where it runs: inputs are brought here */
  void *state;
  uint64_t prepared; /* hash of the shapes that prepare has seen; 0 none */
  bool fell_back;    /* on the host only because the device that was asked for lacks a kernel */
  /* Shapes would have had a say, but were not known: tfsdk__execute chooses again, and keeps here
   * what it chose. A chosen one knows some of the combinations (hashes) that it was chosen for. */
  bool open, soft;
  struct tfsdk__bound *next;
  uint64_t *chosen_for;
  uint32_t n_chosen_for;
} tfsdk__bound;
/* Chooses by device, dtypes, priority, supports and (NULL: not known) the inputs' shapes. Without a
 * kernel on `device`: the host when `soft`, else an error that lists what exists. `why` (may be NULL)
 * collects why others lost, for explain. */
tfsdk_status *tfsdk__bind(tfsdk_runtime *rt, tfsdk__op *op, const tfsdk__attrlist *attrs,
                          const int32_t *in_dtype, uint32_t n_in, const int32_t *out_dtype,
                          uint32_t n_out, const tfsdk_shape *in_shape, tfsdk__device *device,
                          bool soft, tfsdk__buf *why, tfsdk__bound *out);
void tfsdk__bound_deinit(tfsdk__bound *b);
struct tfsdk__execution;
/* The choice for the tensors at hand, of an open one. It belongs to e->bound. */
tfsdk_status *tfsdk__bind_now(tfsdk_runtime *rt, const struct tfsdk__execution *e,
                              tfsdk__bound **out);

typedef struct tfsdk__execution {
  tfsdk__bound *bound;
  const tfsdk__attrlist *attrs;
  const char *node_name;
  tfsdk_tensor *const *in; /* NULL members: absent */
  uint32_t n_in, n_out;
  const int32_t *out_dtype;
  tfsdk__stream_state *random; /* or NULL */
  tfsdk__cells *cells;         /* or NULL */
  uint32_t reuse; /* bit i: input i's buffer may be taken over if nobody else holds it */
} tfsdk__execution;
/* Copies inputs to the kernel's device, infers shapes, allocates outputs, computes. out[] gets
 * n_out references. The error carries op, node, inputs, plugin. */
tfsdk_status *tfsdk__execute(tfsdk_runtime *rt, const tfsdk__execution *e, tfsdk_tensor **out);

/* --------------------------------------------------------------------------------- graph (graph.c)
 */

/* Where random numbers are drawn. `given`: the op has a seed of its own; else `op_seed` comes from
 * scope path and count, so that unrelated ops do not matter. */
typedef struct tfsdk__random_site {
  int64_t graph_seed, op_seed; /* the attributes seed and seed2 */
  bool given;
} tfsdk__random_site;

struct tfsdk__node {
  uint32_t id;
  tfsdk__op *op;
  tfsdk__attrlist *attrs;
  char *name, *where, *device; /* where and device are interned in the graph; may be NULL */
  tfsdk_val *in;
  uint32_t *control;
  tfsdk_typed_shape *out;
  tfsdk_tensor **folded; /* n_out known values, or NULL */
  uint32_t n_in, n_out, n_control;
  tfsdk__random_site random;
  const tfsdk__node *origin; /* of a plan's node: the user's node that it stands for, or in part */
  struct tfsdk__rule *rule;  /* gradient in place of the op's own; NULL: none (rules.c) */
  bool fold_tried;
  atomic_bool fallback_told; /* "runs on the host instead" is logged once */
};

/* The scopes of a context, graph or eager (scope.c). */
typedef struct tfsdk__scopes {
  TFSDK__VEC(char *) name;   /* stack: "a/b/" */
  TFSDK__VEC(char *) device; /* stack; NULL members: reset */
  TFSDK__VEC(struct tfsdk__varscope {
    char *path;
    int32_t reuse;
  })
  var;
  TFSDK__VEC(struct tfsdk__controls {
    uint32_t *node;
    size_t n;
  })
  control;
  tfsdk__map used;          /* names taken -> count + 1 */
  tfsdk__map random;        /* scope path -> count of random ops, plus 1 */
  TFSDK__VEC(char *) owned; /* keys of the maps */
} tfsdk__scopes;
/* Unique name in the present scope; owned by the scopes. NULL when memory is out. */
const char *tfsdk__scopes_unique(tfsdk_runtime *rt, tfsdk__scopes *s, const char *name);
/* 1, 2, ... for the same base name; 0 when memory is out. */
size_t tfsdk__scopes_next_number(tfsdk_runtime *rt, tfsdk__scopes *s, const char *base);
void tfsdk__scopes_deinit(tfsdk_runtime *rt, tfsdk__scopes *s);
tfsdk_status *tfsdk__random_site_of(tfsdk_runtime *rt, tfsdk__scopes *s,
                                    const tfsdk__attrlist *attrs, tfsdk__random_site *out);
/* TensorFlow's rule: graph and op seed together, either alone, or (neither) a salt of chance. */
void tfsdk__random_key(const tfsdk__random_site *site, bool has_seed, int64_t seed, uint64_t salt,
                       uint32_t key[2]);
uint64_t tfsdk__random_salt(void);

enum tfsdk__ctx_kind { TFSDK__CTX_GRAPH = 1, TFSDK__CTX_EAGER = 2 };

/* What graph and eager contexts have in common; tfsdk_ctx is the first member. */
typedef struct tfsdk__context {
  tfsdk_ctx base;
  tfsdk_runtime *rt;
  int kind;
  tfsdk_status *error; /* the sticky one */
  tfsdk__scopes scopes;
  TFSDK__VEC(tfsdk_variable *) variables; /* see tfsdk_variable.kept */
  tfsdk__map variable_by_name;
  const tfsdk_layer_options *layer;              /* of the layer that is being built; NULL: none */
  TFSDK__VEC(tfsdk_val) buckets[4];              /* graph: by TFSDK_BUCKET_* */
  TFSDK__VEC(struct tfsdk__rule *) rules;        /* stack (rules.c) */
  TFSDK__VEC(const tfsdk_emit_filter *) filters; /* stack; NULL members: none */
  bool filters_off;                              /* while one runs, and in backward walks */
} tfsdk__context;
static inline tfsdk__context *tfsdk__context_of(tfsdk_ctx *c) { return (tfsdk__context *)c; }
extern const tfsdk_emit_api tfsdk__graph_emit_api, tfsdk__eager_emit_api;
void tfsdk__context_init(tfsdk__context *c, tfsdk_runtime *rt, int kind);
void tfsdk__context_deinit(tfsdk__context *c);
/* Shared members of the emission tables. */
tfsdk_status *tfsdk__context_variable(tfsdk_ctx *c, const char *name, const tfsdk_varspec *spec,
                                      tfsdk_val *out_handle, tfsdk_val *out_value);
tfsdk_status *tfsdk__context_effect(tfsdk_ctx *c, int32_t bucket, tfsdk_val v);
tfsdk_status *tfsdk__context_weight(tfsdk_ctx *c, const tfsdk_weightspec *spec,
                                    tfsdk_val *out_handle, tfsdk_val *out_value);
tfsdk_status *tfsdk__context_layer(tfsdk_ctx *c, const char *layer, const tfsdk_val *in,
                                   size_t n_in, const tfsdk_attrval *param, size_t n_param,
                                   tfsdk_val *out, size_t n_out);
void tfsdk__context_stick(tfsdk_ctx *c, tfsdk_status *take_status);
tfsdk_status *tfsdk__context_take_error(tfsdk_ctx *c);
int32_t tfsdk__context_has_error(tfsdk_ctx *c);

/* Gradients in place of the ops' own, and filters of what is emitted (rules.c). */
typedef struct tfsdk__rule {
  atomic_size_t refs;
  const tfsdk__op *op;
  tfsdk_gradient_rule def;
} tfsdk__rule;
/* The rule for nodes of that op that are made now (one reference), or NULL. */
tfsdk__rule *tfsdk__context_rule(tfsdk__context *c, const tfsdk__op *op);
void tfsdk__rule_release(tfsdk_runtime *rt, tfsdk__rule *r);
/* The filter that is to be asked, or NULL. */
static inline const tfsdk_emit_filter *tfsdk__context_filter(const tfsdk__context *c) {
  return c->filters.n > 0 && !c->filters_off ? c->filters.data[c->filters.n - 1] : NULL;
}
/* Asks it; in[] is changed in place. */
tfsdk_status *tfsdk__context_apply(tfsdk__context *c, const tfsdk_emit_filter *f,
                                   const tfsdk__op *op, tfsdk_val *in, size_t n_in);

struct tfsdk_graph {
  tfsdk__context ctx; /* first */
  atomic_size_t refs;
  TFSDK__VEC(tfsdk__node *) nodes;
  tfsdk__map by_name;
  TFSDK__VEC(char *) texts; /* interned */
  const char *where;
  char *next_name;
  int64_t seed;
  bool has_seed, finalized;
  bool text_failed; /* memory ran out while a name or place was noted: the next node fails */
  uint64_t version; /* grows when nodes that plans have seen change */
  struct tfsdk__planning *planning; /* of a plan's graph, while it is made (plan_graph.c) */
};
/* The graph of a plan: a node that is equal to one that is there is not wanted twice. Gives the
 * other, or `n` itself; one of them also with an error. */
tfsdk_status *tfsdk__planning_merge(tfsdk_graph *g, tfsdk__node *n, tfsdk__node **out);
/* Gives a new node of a plan's graph its name, place and control dependencies. */
tfsdk_status *tfsdk__planning_adopt(tfsdk_graph *g, tfsdk__node *n);
/* Where a node of a plan's graph is to run; NULL when that device is not there. */
tfsdk__device *tfsdk__planning_device(tfsdk_graph *g, const tfsdk__node *n);
/* Fills out[]: runs the shape rule on what is known of the inputs. */
tfsdk_status *tfsdk__graph_infer(tfsdk_graph *g, tfsdk__node *n, const int32_t *out_dtype);
void tfsdk__node_release(tfsdk_runtime *rt, tfsdk__node *n);
static inline tfsdk_graph *tfsdk__graph_of(tfsdk_ctx *c) { return (tfsdk_graph *)c; }
static inline tfsdk_val tfsdk__val(uint32_t node, uint32_t index) {
  tfsdk_val v = {((uint64_t)node + 1) << 16 | index};
  return v;
}
static inline uint32_t tfsdk__val_node(tfsdk_val v) { return (uint32_t)(v.id >> 16) - 1; }
static inline uint32_t tfsdk__val_index(tfsdk_val v) { return (uint32_t)(v.id & 0xffff); }
/* The value of a graph edge if it can be computed from constants and static shapes (fold.c): lent
 * by the node, host memory; NULL if not. */
tfsdk_tensor *tfsdk__fold(tfsdk_graph *g, tfsdk_val v);
/* A tensor without data, for an input whose shape alone counts: NULL when the shape is not whole.
 */
tfsdk_tensor *tfsdk__shape_only(tfsdk_runtime *rt, const tfsdk_typed_shape *t);

/* --------------------------------------------------------------------------- gradients
 * (gradient.c) */

/* One executed (or to be executed) op, as the backward walk sees it. Keys are edge ids in a graph
 * and tensor ids on a tape. */
typedef struct tfsdk__record {
  tfsdk__op *op;
  tfsdk__attrlist *attrs;
  uint32_t n_in, n_out;
  const uint64_t *in_key, *out_key; /* 0: absent */
  const tfsdk_val *in, *out;        /* what tfsdk_input / tfsdk_output lend; id 0: not kept */
  const char *name, *where;
  tfsdk__rule *rule; /* NULL: the op's own gradient */
} tfsdk__record;

/* Walks `records` (in order of execution) backwards from ys to xs, emitting into c. `stop` keys end
 * the walk. Both engines use it: graph and tape differ only in how they make the records. */
tfsdk_status *tfsdk__backprop(tfsdk_ctx *c, const tfsdk__record *records, size_t n_records,
                              const uint64_t *y_key, const tfsdk_val *y, const tfsdk_val *grad_y,
                              size_t n_y, const uint64_t *x_key, size_t n_x, const uint64_t *stop,
                              size_t n_stop, tfsdk_gradient *out);

/* ----------------------------------------------------------------------------- eager (eager.c,
 * tape.c) */

struct tfsdk__eager {
  tfsdk__context ctx;              /* first */
  pthread_mutex_t lock;            /* recursive: one thread emits at a time */
  TFSDK__VEC(tfsdk_tensor *) pool; /* values made through the context */
  TFSDK__VEC(tfsdk_tape *) tapes;  /* active ones */
  tfsdk__cells cells;
  struct tfsdk__eager_entry **cache; /* hash table: (op, attributes, dtypes) -> bound kernel */
  size_t cache_n, cache_cap;
  TFSDK__VEC(tfsdk__stream_state *) streams; /* of ops with seeds: their counters go on */
  tfsdk__stream_state once;                  /* of an op without */
  uint64_t salt;
};
tfsdk_status *tfsdk__eager_create(tfsdk_runtime *rt);
void tfsdk__eager_clear(tfsdk_runtime *rt); /* drops values, tapes and variables */
void tfsdk__eager_release(tfsdk_runtime *rt);
tfsdk_status *tfsdk__eager_device(tfsdk_runtime *rt,
                                  tfsdk__device **out); /* of the present device scope */
/* Runs an op on tensors; records it on the tapes. out: n_out references (as many as the op has). */
tfsdk_status *tfsdk__eager_call(tfsdk_runtime *rt, tfsdk__op *op, tfsdk_tensor *const *in,
                                size_t n_in, const tfsdk_attrval *attr, size_t n_attr,
                                tfsdk_tensor **out, size_t cap, size_t *out_n);
/* Puts a tensor into the pool of eager values; consumed also on error. */
tfsdk_status *tfsdk__eager_keep(tfsdk_runtime *rt, tfsdk_tensor *take);
void tfsdk__tape_record(tfsdk_tape *t, tfsdk__op *op, tfsdk__attrlist *attrs,
                        tfsdk_tensor *const *in, uint32_t n_in, tfsdk_tensor *const *out,
                        uint32_t n_out, tfsdk_status **io_error);

/* --------------------------------------------------------------------------- variables
 * (variable.c) */

struct tfsdk_variable {
  atomic_size_t refs;
  tfsdk_runtime *rt;
  tfsdk_ctx *ctx;
  char *name;
  char *where;
  int32_t dtype;
  tfsdk_shape shape;
  bool trainable, eager;
  bool kept;                               /* the context holds a reference */
  tfsdk_val handle, read, initial, assign; /* graph */
  tfsdk__cell *cell;                       /* eager */
  tfsdk_tensor *resource;                  /* eager */
};

/* ------------------------------------------------------------------------ sessions (plan.c,
 * session.c) */

/* Names of ops that the core itself emits. It knows no more of them than their signatures. */
#define TFSDK__OP_CONST       "Const"
#define TFSDK__OP_ADD_N       "AddN"
#define TFSDK__OP_ONES_LIKE   "OnesLike"
#define TFSDK__OP_VAR_HANDLE  "VarHandleOp"
#define TFSDK__OP_VAR_READ    "ReadVariableOp"
#define TFSDK__OP_VAR_ASSIGN  "AssignVariableOp"
#define TFSDK__OP_CONCAT      "ConcatV2"
#define TFSDK__OP_SEGMENT_SUM "UnsortedSegmentSum"
#define TFSDK__OP_SHAPE       "Shape"

#endif
