/* tfsdk/tfsdk.h - embedding: everything a C program (and the Lua module) does with the framework.
 *
 *     tfsdk_runtime *rt;
 *     tfsdk_status *s = tfsdk_runtime_create(NULL, &rt);
 *     float data[6] = {1, 2, 3, 4, 5, 6};
 *     int64_t dim[2] = {2, 3};
 *     tfsdk_tensor *x, *y;
 *     if (!s) s = tfsdk_tensor_create(rt, TFSDK_FLOAT32, 2, dim, data, sizeof data, &x);
 *     if (!s) s = tfsdk_eager_run(rt, "Square", &x, 1, NULL, 0, &y, 1);     // runs at once
 *     if (s) fprintf(stderr, "%s\n", tfsdk_status_text(s));
 *
 * All state hangs off a runtime; a process may have several. Nothing here aborts, exits or prints.
 * Plugins never include this header.
 *
 *   errors     as in plugin.h: NULL is success; the receiver of an error releases it with
 *              tfsdk_status_release
 *   ownership  `*_create` and out-parameters of type `tfsdk_x **` hand over one reference, given
 * back by `tfsdk_x_release` (NULL is allowed); everything else is lent by the object it came from
 *   threads    A runtime may be used from any thread. A graph is built by one thread at a time; a
 *              session runs one call at a time (others wait); tensors are immutable and may be
 * shared.
 */
#ifndef TFSDK_TFSDK_H
#define TFSDK_TFSDK_H

#include <tfsdk/emit.h>
#include <tfsdk/kernel.h>
#include <tfsdk/io.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TFSDK_API TFSDK_EXPORT

typedef struct tfsdk_runtime tfsdk_runtime;
typedef struct tfsdk_graph tfsdk_graph;
typedef struct tfsdk_session tfsdk_session;
typedef struct tfsdk_tape tfsdk_tape;
typedef struct tfsdk_variable tfsdk_variable;
typedef struct tfsdk_dataset tfsdk_dataset;
typedef struct tfsdk_iterator tfsdk_iterator;

/* --------------------------------------------------------------------------------------- status */

TFSDK_API int32_t tfsdk_status_code(const tfsdk_status *s); /* TFSDK_OK for NULL */
TFSDK_API const char *tfsdk_status_code_name(int32_t code); /* "INVALID_ARGUMENT" */
/* The bare message, without the frames that the host added. */
TFSDK_API const char *tfsdk_status_message(const tfsdk_status *s);
/* The whole text: code, message, op, node, where it was made, input shapes, plugin. */
TFSDK_API const char *tfsdk_status_text(tfsdk_status *s);
/* One fact by its key: "op" "node" "where" "inputs" "plugin" "device" "path"; NULL if it has none.
 */
TFSDK_API const char *tfsdk_status_get(const tfsdk_status *s, const char *key);
TFSDK_API void tfsdk_status_release(tfsdk_status *s);

/* -------------------------------------------------------------------------------------- runtime */

typedef struct tfsdk_runtime_options {
  uint32_t struct_size;
  uint32_t threads;        /* of host devices; 0: TFSDK_THREADS, else as many as the machine has */
  const char *plugin_path; /* searched before TFSDK_PLUGIN_PATH; ':' separates folders */
  const char *devices;     /* "cpu*2,cuda:0": which devices to declare; NULL: TFSDK_DEVICES, else
                              one cpu and every other that is found when it is asked for */
  uint64_t memory_limit;   /* bytes of tensors per host device; 0: the machine's memory */
  int32_t log_level;       /* TFSDK_LOG_*; 0 means the default, WARNING; use TFSDK_LOG_DEBUG + 100
                              for DEBUG */
  int32_t no_dynamic_plugins; /* 1: only the static list */
  /* Receives log lines and the output of Print; NULL: standard error. Any thread. */
  void (*log)(void *user, int32_t level, const char *line);
  void *log_user;
  /* All memory of the runtime; NULL: the C library's. Semantics of realloc with sizes. Any thread.
   */
  void *(*realloc)(void *user, void *block, size_t old_bytes, size_t new_bytes);
  void *realloc_user;
  /* Called when memory is out, to free what can be freed (collect garbage); then the allocation is
   * tried once more. Only on threads that call the runtime. */
  void (*reclaim)(void *user);
  void *reclaim_user;
} tfsdk_runtime_options;

TFSDK_API const char *tfsdk_version(void); /* "0.1.0" */
TFSDK_API tfsdk_status *tfsdk_runtime_create(const tfsdk_runtime_options *options,
                                             tfsdk_runtime **out);
/* Graphs, sessions and tensors hold the runtime: it goes when the last of them has gone. */
TFSDK_API void tfsdk_runtime_release(tfsdk_runtime *rt);
/* The seed of the eager context, whose sequences begin anew, and the default of new graphs. 0 is a
 * seed like any other; before the first call there is none, and numbers differ from run to run. */
TFSDK_API void tfsdk_runtime_set_seed(tfsdk_runtime *rt, int64_t seed);
TFSDK_API void tfsdk_runtime_log(tfsdk_runtime *rt, int32_t level, const char *line);
TFSDK_API void tfsdk_runtime_set_reclaim(tfsdk_runtime *rt, void (*reclaim)(void *), void *user);

typedef struct tfsdk_memory_info {
  uint64_t in_use, cached, peak, limit; /* bytes of tensors */
  uint64_t live_tensors, live_blocks;   /* blocks: every allocation of the runtime */
  uint64_t allocations;                 /* made since the runtime began, failed ones included */
  uint64_t damaged;                     /* guard zones found overwritten */
} tfsdk_memory_info;
TFSDK_API void tfsdk_runtime_memory(tfsdk_runtime *rt, const char *device, tfsdk_memory_info *out);
/* Changes a device's limit (bytes of tensors); what is in use above it stays. NOT_FOUND lists the
 * devices. */
TFSDK_API tfsdk_status *tfsdk_runtime_set_memory_limit(tfsdk_runtime *rt, const char *device,
                                                       uint64_t bytes);
/* Gives cached memory back to the system. */
TFSDK_API void tfsdk_runtime_trim(tfsdk_runtime *rt);
/* For tests: the n-th allocation from now fails (1 is the next), and all after it if `persist`;
 * 0 ends it. */
TFSDK_API void tfsdk_runtime_fail_allocation(tfsdk_runtime *rt, uint64_t n, int32_t persist);

/* For tests: blocks get guard zones before and behind what was asked for, looked at when they are
 * freed; tfsdk_memory_info.damaged counts the violations. Only blocks made after the call. */
TFSDK_API void tfsdk_runtime_guard(tfsdk_runtime *rt, int32_t on);
/* Prefers kernels of that label or plugin ("reference", "cpu") over priorities, for one op or
 * (NULL) all; where it has none that fits, priorities decide. NULL kernel takes the preference
 * back. Concerns plans and kernels chosen from here on. */
TFSDK_API tfsdk_status *tfsdk_runtime_prefer(tfsdk_runtime *rt, const char *op, const char *kernel);

/* Plugins. */
TFSDK_API tfsdk_status *tfsdk_plugin_load(tfsdk_runtime *rt, const char *path);
/* Loads by manifest name through the search path. */
TFSDK_API tfsdk_status *tfsdk_plugin_require(tfsdk_runtime *rt, const char *name);
/* For static builds: enrolls a manifest that is part of the program. */
TFSDK_API tfsdk_status *tfsdk_plugin_add_static(tfsdk_runtime *rt, tfsdk_plugin_query_fn *query);
/* Opens everything on the search path. */
TFSDK_API void tfsdk_plugin_load_all(tfsdk_runtime *rt);
/* The load report: one entry per file looked at. Visits until fn returns nonzero. */
typedef struct tfsdk_plugin_report {
  const char *path, *name, *version, *summary;
  const char *state;  /* "loaded" "indexed" (known, not opened) "refused" "unavailable" */
  const char *detail; /* why, in words; "" when loaded */
  uint32_t n_ops, n_kernels, n_devices, n_readers;
} tfsdk_plugin_report;
TFSDK_API void tfsdk_plugin_each(tfsdk_runtime *rt,
                                 int (*fn)(void *user, const tfsdk_plugin_report *r), void *user);
/* Writes the index of a folder (which file provides what), so that start-up opens only what is
 * needed. */
TFSDK_API tfsdk_status *tfsdk_plugin_index(tfsdk_runtime *rt, const char *folder);

/* Devices. */
typedef struct tfsdk_device_report {
  const char *name; /* "cpu:0" */
  const char *model, *details;
  tfsdk_memory_info memory;
  uint32_t threads;
} tfsdk_device_report;
/* Every device that is declared or can be opened. */
TFSDK_API tfsdk_status *tfsdk_device_each(tfsdk_runtime *rt,
                                          int (*fn)(void *user, const tfsdk_device_report *r),
                                          void *user);
/* Devices for ops that run eagerly from here on (a stack); NULL name: the default device. */
TFSDK_API tfsdk_status *tfsdk_device_check(tfsdk_runtime *rt,
                                           const char *name); /* NOT_FOUND lists */

/* Ops. The record is lent by the plugin, which stays. Loads the plugin that provides the op; an
 * unknown op is NOT_FOUND and names the nearest known one. */
TFSDK_API tfsdk_status *tfsdk_op_find(tfsdk_runtime *rt, const char *name, const tfsdk_opdef **out);
/* The plugin that an op came from. */
TFSDK_API const char *tfsdk_op_plugin(tfsdk_runtime *rt, const char *name);
/* Names of all ops of all plugins on the search path, in alphabetical order. */
TFSDK_API void tfsdk_op_each(tfsdk_runtime *rt, int (*fn)(void *user, const char *name),
                             void *user);
/* Nonzero if an op or, by its first part, a family of that name is known; opens no plugin. */
TFSDK_API int32_t tfsdk_op_known(tfsdk_runtime *rt, const char *name);
/* Every kernel of an op: fn(device, label, plugin, priority, dtypes text). */
TFSDK_API tfsdk_status *tfsdk_kernel_each(tfsdk_runtime *rt, const char *op,
                                          int (*fn)(void *user, const char *device,
                                                    const char *label, const char *plugin,
                                                    int32_t priority, const char *dtypes),
                                          void *user);

/* -------------------------------------------------------------------------------------- tensors */

/* Copies `bytes` of row-major host data (NULL: zeros). bytes must be what dtype and shape need. Not
 * for strings. RESOURCE_EXHAUSTED for shapes that do not fit; INVALID_ARGUMENT for negative extents
 * and products that overflow. */
TFSDK_API tfsdk_status *tfsdk_tensor_create(tfsdk_runtime *rt, int32_t dtype, uint32_t rank,
                                            const int64_t *dim, const void *data, size_t bytes,
                                            tfsdk_tensor **out);
/* A string tensor of n = product(dim) strings; lengths NULL: NUL-ended. */
TFSDK_API tfsdk_status *tfsdk_tensor_create_strings(tfsdk_runtime *rt, uint32_t rank,
                                                    const int64_t *dim, const char *const *strings,
                                                    const size_t *lengths, tfsdk_tensor **out);
/* Uninitialised, for filling in before anybody else sees it: *out_data is host memory. */
TFSDK_API tfsdk_status *tfsdk_tensor_create_empty(tfsdk_runtime *rt, int32_t dtype, uint32_t rank,
                                                  const int64_t *dim, void **out_data,
                                                  tfsdk_tensor **out);
/* Wraps foreign host memory, aligned to the dtype's size; release(user) is called once, by any
 * thread, when nobody needs it. */
TFSDK_API tfsdk_status *tfsdk_tensor_import(tfsdk_runtime *rt, int32_t dtype, uint32_t rank,
                                            const int64_t *dim, void *data,
                                            void (*release)(void *user), void *user,
                                            tfsdk_tensor **out);
TFSDK_API tfsdk_tensor *tfsdk_tensor_retain(tfsdk_tensor *t); /* returns t */
TFSDK_API void tfsdk_tensor_release(tfsdk_tensor *t);
TFSDK_API int32_t tfsdk_tensor_dtype(const tfsdk_tensor *t);
TFSDK_API int32_t tfsdk_tensor_rank(const tfsdk_tensor *t);
TFSDK_API const int64_t *tfsdk_tensor_dims(const tfsdk_tensor *t);
TFSDK_API int64_t tfsdk_tensor_elements(const tfsdk_tensor *t);
TFSDK_API uint64_t tfsdk_tensor_bytes(const tfsdk_tensor *t);
TFSDK_API const char *tfsdk_tensor_device(const tfsdk_tensor *t); /* "cpu:0" */
/* Lends the host data (copied from the device once, if it is elsewhere; the view lives as long as
 * the tensor). */
TFSDK_API tfsdk_status *tfsdk_tensor_view(tfsdk_tensor *t, tfsdk_view *out);
/* The same data under another shape; *out shares memory. At most one extent may be -1. */
TFSDK_API tfsdk_status *tfsdk_tensor_reshape(tfsdk_tensor *t, uint32_t rank, const int64_t *dim,
                                             tfsdk_tensor **out);
TFSDK_API tfsdk_status *tfsdk_tensor_to_device(tfsdk_tensor *t, const char *device,
                                               tfsdk_tensor **out);
/* The cell that a resource tensor names, else NULL. */
TFSDK_API const char *tfsdk_tensor_resource_name(const tfsdk_tensor *t);
/* Rows in Torch's form, then a line like "[2x3 float32]"; `limit` elements at most, the middle left
 * out. The text is allocated by malloc; the caller frees it. */
TFSDK_API tfsdk_status *tfsdk_tensor_format(tfsdk_tensor *t, int64_t limit, char **out_text);

/* DLPack 1.0: `managed` is a DLManagedTensorVersioned *. Export hands out one that keeps the tensor
 * alive; import takes ownership (also on error). Strided data is copied. */
TFSDK_API tfsdk_status *tfsdk_tensor_to_dlpack(tfsdk_tensor *t, void **out_managed);
TFSDK_API tfsdk_status *tfsdk_tensor_from_dlpack(tfsdk_runtime *rt, void *take_managed,
                                                 tfsdk_tensor **out);

/* --------------------------------------------------------------------------------------- graphs */

TFSDK_API tfsdk_status *tfsdk_graph_create(tfsdk_runtime *rt, tfsdk_graph **out);
TFSDK_API tfsdk_graph *tfsdk_graph_retain(tfsdk_graph *g);
TFSDK_API void tfsdk_graph_release(tfsdk_graph *g);
/* The graph's emission context: tfsdk_emit and friends add nodes. Lent. */
TFSDK_API tfsdk_ctx *tfsdk_graph_ctx(tfsdk_graph *g);
/* Later nodes carry this text as the place they were made at ("train.lua:7"). Copied. */
TFSDK_API void tfsdk_graph_set_where(tfsdk_graph *g, const char *where);
/* The next emitted node's name in the present scope (made unique); NULL: the op's name. */
TFSDK_API void tfsdk_graph_set_name(tfsdk_graph *g, const char *name);
TFSDK_API void tfsdk_graph_set_seed(tfsdk_graph *g, int64_t seed);
TFSDK_API void tfsdk_graph_finalize(tfsdk_graph *g); /* later nodes are FAILED_PRECONDITION */
TFSDK_API int32_t tfsdk_graph_is_finalized(const tfsdk_graph *g);
TFSDK_API uint32_t tfsdk_graph_node_count(const tfsdk_graph *g);
/* "add", "add_1", ... without making it taken. Scope included. Copied into out. */
TFSDK_API tfsdk_status *tfsdk_graph_unique_name(tfsdk_graph *g, const char *name, char *out,
                                                size_t cap);

/* Nodes. A value is output `index` of a node; val.id is nonzero and stable for the graph's life. */
typedef struct tfsdk_node_info {
  uint32_t id;    /* counts from 0 in order of making */
  uint32_t index; /* which output */
  const char *name, *op, *device, *where;
  tfsdk_attrs attr;
  uint32_t n_in, n_out, n_control;
  const tfsdk_val *in;
  const uint32_t *control; /* node ids */
} tfsdk_node_info;
TFSDK_API tfsdk_status *tfsdk_graph_node(tfsdk_graph *g, tfsdk_val v, tfsdk_node_info *out);
TFSDK_API tfsdk_val tfsdk_graph_value(uint32_t node, uint32_t index);
/* "scope/add" (output 0) or "scope/add:1". NOT_FOUND names the nearest. */
TFSDK_API tfsdk_status *tfsdk_graph_find(tfsdk_graph *g, const char *name, tfsdk_val *out);
/* Refines the static shape of a value; INVALID_ARGUMENT if it contradicts. */
TFSDK_API tfsdk_status *tfsdk_graph_set_shape(tfsdk_graph *g, tfsdk_val v, const tfsdk_shape *s);

/* Scopes; each push is undone by one pop of its kind. */
TFSDK_API tfsdk_status *tfsdk_ctx_push_name_scope(tfsdk_ctx *c, const char *name);
TFSDK_API void tfsdk_ctx_pop_name_scope(tfsdk_ctx *c);
TFSDK_API const char *tfsdk_ctx_name_scope(tfsdk_ctx *c);                        /* "a/b/" or "" */
TFSDK_API tfsdk_status *tfsdk_ctx_push_device(tfsdk_ctx *c, const char *device); /* NULL resets */
TFSDK_API void tfsdk_ctx_pop_device(tfsdk_ctx *c);
/* Nodes made inside run after these; n = 0 clears. Eager: no effect. */
TFSDK_API tfsdk_status *tfsdk_ctx_push_control(tfsdk_ctx *c, const tfsdk_val *v, size_t n);
TFSDK_API void tfsdk_ctx_pop_control(tfsdk_ctx *c);

enum tfsdk_reuse {
  TFSDK_REUSE_NEW = 0,
  TFSDK_REUSE_ONLY = 1,
  TFSDK_REUSE_AUTO = 2,
  TFSDK_REUSE_INHERIT = 3
};
/* A variable scope: a prefix of variable names, and the reuse rule. `absolute`: the name is the
 * whole path. It opens no name scope. */
TFSDK_API tfsdk_status *tfsdk_ctx_push_variable_scope(tfsdk_ctx *c, const char *name, int32_t reuse,
                                                      int32_t absolute);
TFSDK_API void tfsdk_ctx_pop_variable_scope(tfsdk_ctx *c);
TFSDK_API const char *tfsdk_ctx_variable_scope(tfsdk_ctx *c); /* "a/b" or "" */
TFSDK_API int32_t tfsdk_ctx_reuse(tfsdk_ctx *c);

/* Eager emission context of a runtime. Values made through it are kept until
 * tfsdk_eager_release_vals; tfsdk_eager_val lends a tensor to it. */
TFSDK_API tfsdk_ctx *tfsdk_eager_ctx(tfsdk_runtime *rt);
TFSDK_API tfsdk_val tfsdk_eager_val(tfsdk_tensor *t);
TFSDK_API tfsdk_tensor *tfsdk_eager_tensor(tfsdk_val v); /* lent */
/* Marks the pool of values made so far; releasing to a mark frees the later ones. */
TFSDK_API size_t tfsdk_eager_mark(tfsdk_runtime *rt);
TFSDK_API void tfsdk_eager_release_vals(tfsdk_runtime *rt, size_t mark);

/* ------------------------------------------------------------------------------------ variables */

/* A variable of either mode. In a graph its value lives in each session, and `initial` is a node;
 * in eager mode it owns its value. */
TFSDK_API tfsdk_status *tfsdk_variable_create(tfsdk_ctx *c, const char *name,
                                              const tfsdk_varspec *spec, tfsdk_variable **out);
/* Resolves a name in the present variable scope: makes or shares as the reuse rule says. `created`
 * (may be NULL) tells which. Lent by the context. Errors: exists already (and where it was first
 * made), does not exist, dtype or shape differ. */
TFSDK_API tfsdk_status *tfsdk_variable_get(tfsdk_ctx *c, const char *name,
                                           const tfsdk_varspec *spec, int32_t *created,
                                           tfsdk_variable **out);
TFSDK_API tfsdk_variable *tfsdk_variable_retain(tfsdk_variable *v);
TFSDK_API void tfsdk_variable_release(tfsdk_variable *v);
TFSDK_API const char *tfsdk_variable_name(const tfsdk_variable *v); /* "a/w", without ":0" */
TFSDK_API int32_t tfsdk_variable_dtype(const tfsdk_variable *v);
TFSDK_API const tfsdk_shape *tfsdk_variable_shape(const tfsdk_variable *v);
TFSDK_API int32_t tfsdk_variable_trainable(const tfsdk_variable *v);
TFSDK_API int32_t tfsdk_variable_is_eager(const tfsdk_variable *v);
/* Graph: the handle's value; eager: the resource tensor, as a val of the eager context. */
TFSDK_API tfsdk_val tfsdk_variable_handle(tfsdk_variable *v);
/* The value to compute with. Graph: the read made with the variable; eager: reads now (recorded).
 */
TFSDK_API tfsdk_status *tfsdk_variable_value(tfsdk_variable *v, tfsdk_ctx *c, tfsdk_val *out);
/* Graph only: the initial value and the node that assigns it; none in eager mode. */
TFSDK_API tfsdk_val tfsdk_variable_initial(tfsdk_variable *v);
TFSDK_API tfsdk_val tfsdk_variable_initializer(tfsdk_variable *v);
/* Eager only: the cell's present tensor (one reference). */
TFSDK_API tfsdk_status *tfsdk_variable_read(tfsdk_variable *v, tfsdk_tensor **out);
TFSDK_API tfsdk_status *tfsdk_variable_assign(tfsdk_variable *v, tfsdk_tensor *t);
/* All variables of a context in the order of making: visits until fn returns nonzero. */
TFSDK_API void tfsdk_variable_each(tfsdk_ctx *c, int (*fn)(void *user, tfsdk_variable *v),
                                   void *user);

/* --------------------------------------------------------------------------------------- layers */

/* A layer's record; what it points to is lent by its plugin, which is loaded if need be. NOT_FOUND
 * names the nearest. */
TFSDK_API tfsdk_status *tfsdk_layer_find(tfsdk_runtime *rt, const char *name,
                                         const tfsdk_layerdef **out);
TFSDK_API const char *tfsdk_layer_plugin(tfsdk_runtime *rt, const char *name); /* "" if unknown */
/* Names of all layers of all plugins on the search path, in alphabetical order. */
TFSDK_API void tfsdk_layer_each(tfsdk_runtime *rt, int (*fn)(void *user, const char *name),
                                void *user);

/* Where weights come from and effects go to. Zero: the default. */
typedef struct tfsdk_layer_options {
  uint32_t struct_size, reserved;
  /* Gives the weight that the layer asks for: its value, and, for spec->state, a handle to assign
   * to. NULL: the variable named spec->role of the present variable scope, begun as the layer
   * proposes; made or shared as the scope's reuse rule says. */
  tfsdk_status *(*weight)(void *user, tfsdk_ctx *c, const tfsdk_weightspec *spec,
                          tfsdk_val *out_handle, tfsdk_val *out_value);
  /* Gets what the layer puts into a bucket. NULL: the graph's bucket. */
  tfsdk_status *(*effect)(void *user, tfsdk_ctx *c, int32_t bucket, tfsdk_val v);
  void *user;
} tfsdk_layer_options;

/* Builds a layer on inputs: graph or eager as the context is. Writes at most n_out outputs. Errors
 * name the layer, the present scope and the inputs. `options` may be NULL. */
TFSDK_API tfsdk_status *tfsdk_layer_build(tfsdk_ctx *c, const char *name, const tfsdk_val *in,
                                          size_t n_in, const tfsdk_attrval *param, size_t n_param,
                                          const tfsdk_layer_options *options, tfsdk_val *out,
                                          size_t n_out);
/* "conv2d(filters=64, kernel_size=[3,3])": the parameters that are not the defaults. Checks them.
 * malloc'ed. */
TFSDK_API tfsdk_status *tfsdk_layer_text(tfsdk_runtime *rt, const char *name,
                                         const tfsdk_attrval *param, size_t n_param,
                                         char **out_text);
/* What the buckets of a graph (TFSDK_BUCKET_*) hold, in order; lent until the next node is made. */
TFSDK_API size_t tfsdk_graph_bucket(tfsdk_graph *g, int32_t bucket, const tfsdk_val **out);

/* ------------------------------------------------------------------------------------ gradients */

/* A gradient: dense (value), or rows (indices, values of a tensor of dense_shape), or none (all 0).
 */
typedef struct tfsdk_gradient {
  tfsdk_val value, indices, values, dense_shape;
} tfsdk_gradient;

/* Adds to the graph the nodes of d(sum of ys * grad_ys)/dxs. grad_ys NULL or none: ones. `stop`:
 * values whose gradient is taken to be zero beyond. The gradient of a variable is asked for by its
 * handle. An op without a gradient on the path is an error that names it, its plugin and the path.
 */
TFSDK_API tfsdk_status *tfsdk_gradients(tfsdk_graph *g, const tfsdk_val *ys, size_t n_ys,
                                        const tfsdk_val *xs, size_t n_xs, const tfsdk_val *grad_ys,
                                        const tfsdk_val *stop, size_t n_stop, tfsdk_gradient *out);
/* A dense value of a gradient (none stays none). */
TFSDK_API tfsdk_status *tfsdk_gradient_densify(tfsdk_ctx *c, tfsdk_gradient *g);

/* A gradient in place of an op's own: of the nodes of that op that are made (graph), or the calls
 * that tapes record (eager), between push and pop. The innermost rule for the op counts. It may
 * read all inputs and outputs of a node; of a call those that `keep` asks for (1: inputs, 2:
 * outputs; the rest is freed), and handles of variables. It sets dx as an op's gradient does, also
 * for an op that has none. */
typedef struct tfsdk_gradient_rule {
  uint32_t struct_size, keep;
  tfsdk_status *(*grad)(void *user, tfsdk_ctx *c, tfsdk_gradcall *g);
  void (*release)(void *user); /* when the last node, record and scope are gone; may be NULL */
  void *user;
} tfsdk_gradient_rule;
/* Takes `rule->user`, also on error. NOT_FOUND names the nearest op. */
TFSDK_API tfsdk_status *tfsdk_ctx_push_gradient(tfsdk_ctx *c, const char *op,
                                                const tfsdk_gradient_rule *rule);
TFSDK_API void tfsdk_ctx_pop_gradient(tfsdk_ctx *c);

/* Sees what is emitted into a context before it is checked, and may put other values (emitted by
 * itself) in place of the inputs: to compute in other types than the script says. It is not asked
 * about its own emissions, nor about gradients that ops and the engine emit. The innermost one
 * counts; NULL: none. It must live until it is popped. */
typedef struct tfsdk_emit_filter {
  uint32_t struct_size, reserved;
  tfsdk_status *(*filter)(void *user, tfsdk_ctx *c, const tfsdk_opdef *op, tfsdk_val *in,
                          size_t n_in);
  void *user;
} tfsdk_emit_filter;
TFSDK_API tfsdk_status *tfsdk_ctx_push_filter(tfsdk_ctx *c, const tfsdk_emit_filter *filter);
TFSDK_API void tfsdk_ctx_pop_filter(tfsdk_ctx *c);

/* -------------------------------------------------------------------------------- define-by-run */

/* Runs one op now. Writes at most n_out outputs, each one reference; too few is fine. */
TFSDK_API tfsdk_status *tfsdk_eager_run(tfsdk_runtime *rt, const char *op, tfsdk_tensor *const *in,
                                        size_t n_in, const tfsdk_attrval *attr, size_t n_attr,
                                        tfsdk_tensor **out, size_t n_out);

/* A tape records ops from its creation (or resume) until stop. Persistent tapes give several
 * gradients; others are empty after the first. Variables that are trainable are watched by
 * themselves. */
TFSDK_API tfsdk_status *tfsdk_tape_create(tfsdk_runtime *rt, int32_t persistent,
                                          int32_t watch_variables, tfsdk_tape **out);
TFSDK_API void tfsdk_tape_release(tfsdk_tape *t); /* stops it too */
TFSDK_API void tfsdk_tape_stop(tfsdk_tape *t);
TFSDK_API void tfsdk_tape_resume(tfsdk_tape *t);
TFSDK_API tfsdk_status *tfsdk_tape_watch(tfsdk_tape *t, tfsdk_tensor *x);
/* From now on the tape records nothing, and only notes what ops read: handles of variables, and
 * tensors that hidden tapes track. Lent until the next op. */
TFSDK_API void tfsdk_tape_note_only(tfsdk_tape *t);
TFSDK_API size_t tfsdk_tape_noted(const tfsdk_tape *t, tfsdk_tensor *const **out);
/* Tapes that are active now record nothing until they are shown again; new ones do. Calls nest. */
TFSDK_API void tfsdk_tapes_hide(tfsdk_runtime *rt);
TFSDK_API void tfsdk_tapes_show(tfsdk_runtime *rt);
/* out[i]: dense gradient (one reference) or NULL; rows for variables read by gather only come as
 * out_indices[i] and out_values[i] when those arrays are given, and out[i] is NULL then. */
TFSDK_API tfsdk_status *tfsdk_tape_gradient(tfsdk_tape *t, tfsdk_tensor *const *ys, size_t n_ys,
                                            tfsdk_tensor *const *xs, size_t n_xs,
                                            tfsdk_tensor *const *grad_ys, tfsdk_tensor **out,
                                            tfsdk_tensor **out_indices, tfsdk_tensor **out_values);

/* ------------------------------------------------------------------------------------- sessions */

typedef struct tfsdk_session_options {
  uint32_t struct_size;
  const char *device;        /* where nodes without a device go; NULL: "cpu:0" */
  int32_t no_soft_placement; /* 1: a node whose device lacks a kernel is an error */
  int32_t log_placement;
  int64_t seed;
  const char *passes; /* how plans are made: passes to leave out, "-fuse,-merge", or "none"; NULL:
                         the environment's TFSDK_PASSES, else all */
} tfsdk_session_options;

TFSDK_API tfsdk_status *tfsdk_session_create(tfsdk_graph *g, const tfsdk_session_options *options,
                                             tfsdk_session **out);
TFSDK_API void tfsdk_session_close(tfsdk_session *s); /* frees values; later runs are errors */
/* Gives back the memory that plans keep between runs, and the plans. Variables stay. */
TFSDK_API void tfsdk_session_release_memory(tfsdk_session *s);
TFSDK_API void tfsdk_session_release(tfsdk_session *s);
/* Runs what the fetches need. out[i] is one reference (on the host), NULL for a node without
 * output. Feeds replace values: any value, of its dtype and static shape. Errors leave variables as
 * the nodes that ran before left them. */
TFSDK_API tfsdk_status *tfsdk_session_run(tfsdk_session *s, const tfsdk_val *fetches,
                                          size_t n_fetches, const tfsdk_val *feeds,
                                          tfsdk_tensor *const *feed_values, size_t n_feeds,
                                          tfsdk_tensor **out);
/* The value of a variable by name; NOT_FOUND, or FAILED_PRECONDITION when it has none. */
TFSDK_API tfsdk_status *tfsdk_session_read(tfsdk_session *s, const char *variable,
                                           tfsdk_tensor **out);
/* The plan of these fetches and feeds as text: nodes in order, devices, kernels and why others
 * lost. malloc'ed. */
TFSDK_API tfsdk_status *tfsdk_session_explain(tfsdk_session *s, const tfsdk_val *fetches,
                                              size_t n_fetches, const tfsdk_val *feeds,
                                              tfsdk_tensor *const *feed_values, size_t n_feeds,
                                              char **out_text);

/* Watching a run, step by step: for traces, profiles, and looking at values between. */
typedef struct tfsdk_step_value {
  const char *name;     /* of the node in the session's graph that it belongs to */
  uint32_t index;       /* which of its outputs */
  uint32_t last;        /* the step after which its memory is free; n_steps: it outlives the run */
  tfsdk_val fetched;    /* the fetched value that it is; none if it is not fetched */
  tfsdk_tensor *tensor; /* NULL: it has no tensor of its own, but lies in the plan's block */
  int64_t offset;       /* in that block; -1 for a tensor of its own */
  uint64_t bytes;
  tfsdk_typed_shape type;
} tfsdk_step_value;

/* Lent for the call of `step`. */
typedef struct tfsdk_step_info {
  uint32_t struct_size, index, n_steps; /* step `index` of n_steps */
  uint32_t n_nodes, n_out;
  uint32_t value_size;  /* bytes of one of `out` */
  uint64_t plan;        /* tells plans of one runtime apart; the same plan's steps do not change */
  const char *kind;     /* "kernel" "fused" "variable" "view" "dynamic" */
  const char *device;   /* "cpu:0" */
  const char *kernel;   /* label of the leading node's kernel; "" if there is none */
  const char *plugin;   /* that it came from; "" */
  const uint32_t *node; /* nodes of the session's graph that it computed, the leading one first */
  const tfsdk_step_value *out;
  int64_t begin, end;    /* nanoseconds of a clock that never steps back */
  uint64_t device_bytes; /* of tensors on that device, after the step */
} tfsdk_step_info;

typedef struct tfsdk_run_options {
  uint32_t struct_size, reserved;
  /* Called after each step, on the thread that runs; a status ends the run with it. It must not
   * call the session. NULL: the run is as tfsdk_session_run's. */
  tfsdk_status *(*step)(void *user, const tfsdk_step_info *info);
  void *user;
} tfsdk_run_options;
TFSDK_API tfsdk_status *tfsdk_session_run_watched(tfsdk_session *s, const tfsdk_val *fetches,
                                                  size_t n_fetches, const tfsdk_val *feeds,
                                                  tfsdk_tensor *const *feed_values, size_t n_feeds,
                                                  const tfsdk_run_options *options,
                                                  tfsdk_tensor **out);

/* ------------------------------------------------------------------------------ graphs in files */

/* What a graph file says. Lent for the call. */
typedef struct tfsdk_import_fact {
  uint32_t struct_size, reserved;
  const char *kind;               /* "node" "input" "output" "variable" */
  const char *name;               /* node, variable: its name in the file; else of the value */
  const char *signature, *method; /* of an input or output */
  const char *key;                /* by which the signature calls it; variable: the tensor's name */
  const char *path, *reader, *slice; /* variable: the file with its value; "" or the slice it is */
  tfsdk_val val;                     /* node: output 0; variable: its handle */
} tfsdk_import_fact;

typedef struct tfsdk_import_options {
  uint32_t struct_size, n_tags, n_outputs, n_map;
  const char *reader;          /* NULL: by the path's ending; "saved_model" for a folder */
  const char *prefix;          /* "import": a name scope for all nodes; NULL: none */
  const char *const *tags;     /* which graph of several */
  const char *const *outputs;  /* only these nodes and what they need; none: all, but of a saved
                                 model what its signatures name */
  const char *const *map_name; /* inputs of the file's graph ("x", "x:1") that are replaced */
  const tfsdk_val *map_val;    /* by these */
  const void *content;         /* the file's bytes, if `path` is but a name for messages */
  size_t content_bytes;
  tfsdk_status *(*fact)(void *user, const tfsdk_import_fact *fact); /* an error ends the import */
  void *user;
} tfsdk_import_options;

/* Adds the nodes of a graph file. Ops that nobody provides are NOT_FOUND, all of them named; a file
 * of a newer format is INCOMPATIBLE. On error nodes may have been added. */
TFSDK_API tfsdk_status *tfsdk_graph_import(tfsdk_graph *g, const char *path,
                                           const tfsdk_import_options *options);

/* A graph with its weights and signatures, ready to run:
 *
 *     tfsdk_model *m;
 *     s = tfsdk_model_load(rt, "model", NULL, &m);
 *     s = tfsdk_model_run(m, NULL, (const char *[]){"image"}, &image, 1,
 *                         (const char *[]){"probabilities"}, 1, &probabilities);
 */
typedef struct tfsdk_model tfsdk_model;
TFSDK_API tfsdk_status *tfsdk_model_load(tfsdk_runtime *rt, const char *path,
                                         const tfsdk_import_options *options, tfsdk_model **out);
TFSDK_API void tfsdk_model_release(tfsdk_model *m);
TFSDK_API tfsdk_session *tfsdk_model_session(tfsdk_model *m); /* lent, as long as the model */
TFSDK_API tfsdk_graph *tfsdk_model_graph(tfsdk_model *m);     /* lent */
/* Inputs and outputs of all signatures, until fn returns nonzero. */
TFSDK_API void tfsdk_model_each(tfsdk_model *m,
                                int (*fn)(void *user, const tfsdk_import_fact *fact), void *user);
/* Runs a signature. NULL: "serving_default", else the only one; a file without signatures takes
 * names of nodes. out[i] is one reference. */
TFSDK_API tfsdk_status *tfsdk_model_run(tfsdk_model *m, const char *signature,
                                        const char *const *in_names, tfsdk_tensor *const *in,
                                        size_t n_in, const char *const *out_names, size_t n_out,
                                        tfsdk_tensor **out);

/* ---------------------------------------------------------------------------------------- files */

typedef struct tfsdk_named_tensor {
  char *name;
  tfsdk_tensor *tensor;
} tfsdk_named_tensor;
TFSDK_API void tfsdk_named_tensors_release(tfsdk_named_tensor *list, size_t n);

/* Opens a file with the reader of that name, or (reader NULL) the one for its extension, as a
 * dataset. */
TFSDK_API tfsdk_status *tfsdk_dataset_from_file(tfsdk_runtime *rt, const char *path,
                                                const char *reader, const tfsdk_attrval *options,
                                                size_t n_options, tfsdk_dataset **out);
/* Slices of tensors along axis 0, all of the same length. names may be NULL. Batches of them are
 * gathered without a tensor for each slice. */
TFSDK_API tfsdk_status *tfsdk_dataset_from_tensors(tfsdk_runtime *rt, const char *const *names,
                                                   tfsdk_tensor *const *tensors, size_t n,
                                                   tfsdk_dataset **out);
/* Each makes a new dataset over `d` (which the caller keeps). batch: elements must be of equal
 * shape; the last batch may be smaller unless drop_remainder. repeat: count -1 is without end, but
 * a dataset without elements ends all the same. take, skip: -1 is all. prefetch: a thread makes up
 * to count elements ahead (-1: chosen for you); its error comes after the elements made before. */
TFSDK_API tfsdk_status *tfsdk_dataset_batch(tfsdk_dataset *d, int64_t size, int32_t drop_remainder,
                                            tfsdk_dataset **out);
/* As TensorFlow's: an element is drawn from a buffer of that many, so it comes at most buffer - 1
 * places early. The order depends on the seed, the iterator's number and the epoch alone. Negative
 * seed: the runtime's if one was set, else a fresh one. `each_iteration`: another order in each
 * epoch. */
TFSDK_API tfsdk_status *tfsdk_dataset_shuffle(tfsdk_dataset *d, int64_t buffer, int64_t seed,
                                              int32_t each_iteration, tfsdk_dataset **out);
TFSDK_API tfsdk_status *tfsdk_dataset_repeat(tfsdk_dataset *d, int64_t count, tfsdk_dataset **out);
TFSDK_API tfsdk_status *tfsdk_dataset_take(tfsdk_dataset *d, int64_t count, tfsdk_dataset **out);
TFSDK_API tfsdk_status *tfsdk_dataset_skip(tfsdk_dataset *d, int64_t count, tfsdk_dataset **out);
TFSDK_API tfsdk_status *tfsdk_dataset_prefetch(tfsdk_dataset *d, int64_t count,
                                               tfsdk_dataset **out);
/* A dataset made by the caller: `next` fills n tensors (one reference each) or sets *out_end. It
 * runs on the thread that calls tfsdk_iterator_next, unless a prefetch stands behind it. `start`
 * begins an epoch. */
typedef struct tfsdk_generator {
  uint32_t struct_size, n;
  const char *const *names;
  tfsdk_status *(*start)(void *user, void **out_state);
  tfsdk_status *(*next)(void *user, void *state, tfsdk_tensor **out, int32_t *out_end);
  void (*finish)(void *user, void *state);
  void (*release)(void *user);
  void *user;
} tfsdk_generator;
TFSDK_API tfsdk_status *tfsdk_dataset_from_generator(tfsdk_runtime *rt, const tfsdk_generator *g,
                                                     tfsdk_dataset **out);
TFSDK_API tfsdk_dataset *tfsdk_dataset_retain(tfsdk_dataset *d);
TFSDK_API void tfsdk_dataset_release(tfsdk_dataset *d);
TFSDK_API uint32_t tfsdk_dataset_components(const tfsdk_dataset *d);
TFSDK_API const char *tfsdk_dataset_name(const tfsdk_dataset *d, uint32_t i); /* "" if none */
TFSDK_API tfsdk_status *tfsdk_iterator_create(tfsdk_dataset *d, tfsdk_iterator **out);
/* The next element: one tensor for each component; *out_end = 1 and no tensors at the end. The end
 * and an error stay: each later call says the same again. Threads may share an iterator. */
TFSDK_API tfsdk_status *tfsdk_iterator_next(tfsdk_iterator *it, tfsdk_tensor **out,
                                            int32_t *out_end);
TFSDK_API void tfsdk_iterator_release(tfsdk_iterator *it);

/* --------------------------------------------------------------------- files of named tensors */

/* Weight files and checkpoints: "safetensors", "npz", "hdf5", "checkpoint", "tf_checkpoint" ...
 * `reader` and `writer` may be NULL: the file's ending decides. */
typedef struct tfsdk_file_tensor {
  const char *name;
  int32_t dtype;
  tfsdk_shape shape;
  /* Where its bytes lie as they are in memory; "" when they are compressed, or in another order. */
  const char *file;
  int64_t offset;
} tfsdk_file_tensor;
/* Visits what is in a file, in the order of names, until fn returns nonzero. Reads no data. */
TFSDK_API tfsdk_status *tfsdk_file_each(tfsdk_runtime *rt, const char *path, const char *reader,
                                        int (*fn)(void *user, const tfsdk_file_tensor *t),
                                        void *user);
/* Reads tensors by name: out[i] is one reference; all or nothing. `map`: where the bytes lie
 * aligned in the file, memory is its pages, read when they are touched; then checksums are not
 * looked at, and whoever shortens the file in place takes the pages away. */
TFSDK_API tfsdk_status *tfsdk_file_read(tfsdk_runtime *rt, const char *path, const char *reader,
                                        const char *const *names, size_t n, int32_t map,
                                        tfsdk_tensor **out);
/* What a file says besides, as JSON: the metadata of safetensors, the state of a checkpoint.
 * malloc'ed; "{}" if it has none. */
TFSDK_API tfsdk_status *tfsdk_file_metadata(tfsdk_runtime *rt, const char *path, const char *reader,
                                            char **out_text);

/* A file being written: see tfsdk_writerdef. What was not finished is dropped by release. One
 * thread at a time. */
typedef struct tfsdk_writer tfsdk_writer;
TFSDK_API tfsdk_status *tfsdk_writer_create(tfsdk_runtime *rt, const char *path, const char *writer,
                                            const tfsdk_attrval *options, size_t n_options,
                                            tfsdk_writer **out);
TFSDK_API tfsdk_status *tfsdk_writer_append(tfsdk_writer *w, const char *const *names,
                                            tfsdk_tensor *const *tensors, size_t n);
TFSDK_API tfsdk_status *tfsdk_writer_flush(tfsdk_writer *w, int32_t durable);
TFSDK_API tfsdk_status *tfsdk_writer_finish(tfsdk_writer *w);
TFSDK_API void tfsdk_writer_release(tfsdk_writer *w);
/* All of it at once, by a thread of its own: it holds the tensors, which are immutable, so that the
 * program goes on with new values meanwhile. */
typedef struct tfsdk_saving tfsdk_saving;
TFSDK_API tfsdk_status *tfsdk_saving_start(tfsdk_runtime *rt, const char *path, const char *writer,
                                           const tfsdk_attrval *options, size_t n_options,
                                           const char *const *names, tfsdk_tensor *const *tensors,
                                           size_t n, tfsdk_saving **out);
TFSDK_API int32_t tfsdk_saving_done(tfsdk_saving *s); /* 1: waiting takes no time */
/* Waits, says how it went, and releases it. */
TFSDK_API tfsdk_status *tfsdk_saving_wait(tfsdk_saving *take_s);

/* ------------------------------------------------------------------ the state of a run, to go on */

/* Sets a variable's value, also of one that has none yet. */
TFSDK_API tfsdk_status *tfsdk_session_assign(tfsdk_session *s, const char *variable,
                                             tfsdk_tensor *value);
/* Where random numbers have got to, as text (malloc'ed), and going on from there. Nodes that the
 * text names and the graph lacks are passed over. */
TFSDK_API tfsdk_status *tfsdk_session_random_save(tfsdk_session *s, char **out_text);
TFSDK_API tfsdk_status *tfsdk_session_random_restore(tfsdk_session *s, const char *text);
/* The same of define-by-run mode. */
TFSDK_API tfsdk_status *tfsdk_eager_random_save(tfsdk_runtime *rt, char **out_text);
TFSDK_API tfsdk_status *tfsdk_eager_random_restore(tfsdk_runtime *rt, const char *text);
/* How far an iterator has got, as text (malloc'ed). A new iterator of a dataset that is made the
 * same way goes on from there: what comes next is the same, shuffled or not. Elements passed over
 * are not made where the source has them in memory; whole epochs are passed over without reading.
 */
TFSDK_API tfsdk_status *tfsdk_iterator_save(tfsdk_iterator *it, char **out_text);
TFSDK_API tfsdk_status *tfsdk_iterator_restore(tfsdk_iterator *it, const char *text);

#ifdef __cplusplus
}
#endif
#endif
