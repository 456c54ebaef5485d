/* module.h - what the files of the Lua module share.
 *
 * One tl_state per lua_State, held by the registry and given to every C function of the module as
 * its first upvalue. Objects that a script sees are full userdata, one C file for each kind.
 *
 *   raising    A function that can raise a Lua error holds nothing but what the collector frees: a
 *              reference that the core hands over goes into its userdata at once (the box is made
 *              before the call, empty). Buffers of unknown size are userdata too.
 *   errors     tl_check turns a status of the core into an error table and raises it; every other
 *              failure goes through tl_fail.
 *   stack      Functions named tl_push_* leave one value; the rest leave the stack as they found it
 *              unless said otherwise.
 */
#ifndef TFSDK_LUA_MODULE_H
#define TFSDK_LUA_MODULE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <tfsdk/tfsdk.h>

/* Walks of nested tables stop at this height of the stack: a cyclic table has no end. */
#define TL_NEST_LIMIT 500

/* Kinds of userdata (and one of tables: slices) that the module tells apart. */
#define TL_KINDS_LIST(X)                                                                           \
  X(TENSOR, "Tensor")                                                                              \
  X(NODE, "Node")                                                                                  \
  X(OPERATION, "Operation")                                                                        \
  X(VARIABLE, "Variable")                                                                          \
  X(GRAPH, "Graph")                                                                                \
  X(SESSION, "Session")                                                                            \
  X(TAPE, "GradientTape")                                                                          \
  X(DATASET, "Dataset")                                                                            \
  X(ITERATOR, "Iterator")                                                                          \
  X(SCOPE, "Scope")                                                                                \
  X(SLICES, "IndexedSlices")                                                                       \
  X(TRACE, "Trace")

typedef enum tl_kind {
  TL_NONE = 0,
#define TL_KIND_ENUM_(id, name) TL_##id,
  TL_KINDS_LIST(TL_KIND_ENUM_)
#undef TL_KIND_ENUM_
      TL_KIND_LIMIT
} tl_kind;

/* What the program says before a script runs; a stock interpreter leaves it zero. */
typedef struct tl_options {
  const char *device;
  uint32_t threads;
  int32_t log_level;
  int32_t has_log_level, has_seed;
  int32_t explain;       /* print each plan once */
  int32_t profile;       /* record all runs of sessions */
  size_t profile_events; /* how many single steps of them to keep */
  int64_t seed;
  const char *const *plugins; /* NULL-ended */
} tl_options;

typedef struct tl_opinfo tl_opinfo; /* ops.h */

typedef struct tl_scalar {
  int32_t dtype;
  double number;
} tl_scalar;

typedef struct tl_state {
  tfsdk_runtime *rt; /* NULL until something needs it */
  tl_options options;
  lua_State *L;                     /* the thread that called last: for the reclaim hook */
  lua_State *main;                  /* the state's main thread */
  const void *meta[TL_KIND_LIMIT];  /* identity of the metatables */
  int ref_meta[TL_KIND_LIMIT];      /* the metatables themselves */
  int ref_tf, ref_raw, ref_private; /* tf, tf.raw, the table given to facade files */
  int ref_namespaces;               /* path -> table */
  int ref_graphs;                   /* tfsdk_graph * -> its userdata; weak values */
  int ref_variables;                /* tfsdk_variable * -> its userdata; weak values */
  int ref_modes;                    /* the stack of graphs and eager regions */
  int ref_loaded;                   /* names of facade files that have run */
  int ref_closed;                   /* a scope that is closed */
  lua_Integer mode_depth;
  int eager;       /* the present region is define-by-run */
  int base_eager;  /* tf.enable_eager_execution was called */
  int concrete;    /* the facade function that runs was given tensors and no nodes */
  int recording;   /* tapes that record */
  int ref_capture; /* while tf.func makes a plan: stands in for define-by-run variables; else 0 */
  int now;         /* depth of calls with {now = true} */
  tfsdk_graph *graph;        /* of the present region; NULL until the default graph is made. Lent */
  uint64_t live_bytes, debt; /* native bytes held by userdata; those made since the last step */
  const tl_opinfo *op[32];   /* ops that operators use: ops.h */
  int ref_ops;               /* op name -> tl_opinfo userdata */
  tl_scalar scalars[64];     /* numbers that ops met lately, and their tensors: see ops.c */
  int ref_scalars;
  int32_t policy; /* 16-bit type that products are computed in; 0: none (autocast.c) */
  struct tfsdk_emit_filter *filter; /* in every context; NULL: no policy was ever set */
  struct tl_monitor *monitor;       /* counts what runs; NULL: nobody asked */
} tl_state;

typedef struct tl_tensor {
  tfsdk_tensor *t; /* NULL once closed */
  uint64_t bytes;
} tl_tensor;

typedef struct tl_graph {
  tfsdk_graph *g;
} tl_graph; /* user values: 1 nodes by id (weak), 2 data of the facade */

typedef struct tl_node {
  tfsdk_graph *g; /* lent: user value 1 is the graph's userdata */
  tfsdk_val v;
} tl_node;

typedef struct tl_operation {
  tfsdk_graph *g; /* as above */
  uint32_t id;
} tl_operation;

typedef struct tl_variable {
  tfsdk_variable *v;
  tfsdk_graph *g; /* lent: user value 1 is the graph's userdata; NULL in eager mode */
} tl_variable;

typedef struct tl_facade_file {
  const char *name, *text;
  size_t bytes;
} tl_facade_file;
extern const tl_facade_file tl_facade_files[]; /* generated; a NULL name ends it */

#define TL_INTERNAL_CHUNK "=tfsdk:" /* chunk names of facade files begin so */

/* ---------------------------------------------------------------------------------------- module.c
 */

int luaopen_tfsdk(lua_State *L);
static inline tl_state *tl_get(lua_State *L) {
  tl_state *st = (tl_state *)lua_touserdata(L, lua_upvalueindex(1));
  st->L = L;
  return st;
}
/* The module's state where it is no upvalue; NULL before the module was opened. */
tl_state *tl_find(lua_State *L);
/* Registers functions with the state as upvalue into the table on top. */
void tl_setfuncs(lua_State *L, tl_state *st, const luaL_Reg *list);
tfsdk_runtime *tl_runtime(lua_State *L, tl_state *st);
/* Options of the program; call before the module is used. */
void tl_set_options(lua_State *L, const tl_options *options);
/* The table of a path ("tf.nn", "Graph"), made when absent. */
void tl_push_namespace(lua_State *L, tl_state *st, const char *path);
/* namespace[key], loading the facade file that provides it; pushes nil if none does. */
int tl_push_member(lua_State *L, tl_state *st, const char *path, const char *key);
tl_kind tl_kind_of(lua_State *L, tl_state *st, int index);
void *tl_check_kind(lua_State *L, tl_state *st, int index, tl_kind kind);
/* Makes a userdata of a kind with its metatable. */
void *tl_new(lua_State *L, tl_state *st, tl_kind kind, size_t size, int user_values);
/* Makes the metatable of a kind and leaves it on the stack: functions are metamethods; `methods`
 * are found by __index's fallback. */
void tl_new_meta(lua_State *L, tl_state *st, tl_kind kind, const luaL_Reg *metamethods,
                 const luaL_Reg *methods);
/* Method lookup: the kind's own methods, then facade methods of that kind. Pushes value or nil. */
int tl_push_method(lua_State *L, tl_state *st, tl_kind kind, int key);
/* Tells the collector about native memory; may run finalizers. */
void tl_account(lua_State *L, tl_state *st, uint64_t bytes);

/* ----------------------------------------------------------------------------------------- scope.c
 */

void tl_open_scope(lua_State *L, tl_state *st);
/* The context that ops without tensor inputs go to. */
tfsdk_ctx *tl_context(lua_State *L, tl_state *st);
int tl_is_eager(const tl_state *st);
/* The present graph (the default one is made if need be). */
tfsdk_graph *tl_current_graph(lua_State *L, tl_state *st);

/* ---------------------------------------------------------------------------------------- errors.c
 */

void tl_open_errors(lua_State *L, tl_state *st);
/* Raises an error table for a status, which it takes; returns if it is NULL. */
void tl_check(lua_State *L, tl_state *st, tfsdk_status *take_status);
/* The same with a function's or op's name for statuses that carry none. */
void tl_check_op(lua_State *L, tl_state *st, tfsdk_status *take_status, const char *op);
/* Raises INVALID_ARGUMENT; `op` (may be NULL) is the function that complains. Never returns. */
int tl_fail(lua_State *L, tl_state *st, const char *op, const char *format, ...) TFSDK_PRINTF(4, 5);
int tl_fail_code(lua_State *L, tl_state *st, int32_t code, const char *op, const char *format, ...)
    TFSDK_PRINTF(5, 6);
/* "train.lua:7" of the innermost frame that is neither C nor a facade file; "" if there is none. */
void tl_where(lua_State *L, char *out, size_t cap);
/* The name of `list` (n pointers) nearest to `word`, or NULL if none is near. */
const char *tl_nearest(const char *word, const char *const *list, size_t n);
/* What a value is, for messages: "a string", "Tensor". Lent. */
const char *tl_type_name(lua_State *L, tl_state *st, int index);

/* --------------------------------------------------------------------------------------- convert.c
 */

/* dtype of a string or an error; `what` names the argument. */
int32_t tl_check_dtype(lua_State *L, tl_state *st, int index, const char *op, const char *what);
/* Reads a shape: a table of integers, an integer (a vector), or a host tensor. -1, nil-free. */
void tl_check_shape(lua_State *L, tl_state *st, int index, const char *op, const char *what,
                    tfsdk_shape *out);
/* An integer, also from a float with an integral value, or an error. */
int64_t tl_check_int(lua_State *L, tl_state *st, int index, const char *op, const char *what);
/* The dtype that a literal has by itself: float32, bool or string; 0 if it holds no value. */
int32_t tl_literal_dtype(lua_State *L, int index);
/* Pushes a tensor of a number, boolean, string or nested table. dtype 0: the literal's own. */
tfsdk_tensor *tl_push_literal(lua_State *L, tl_state *st, int index, int32_t dtype, const char *op,
                              const char *what);
/* Whether a table holds a tensor, node or variable at any depth. */
int tl_holds_values(lua_State *L, tl_state *st, int index);
void tl_push_shape(lua_State *L, const tfsdk_shape *s); /* a table, or nil for unknown rank */
void tl_push_dims(lua_State *L, int32_t rank, const int64_t *dim);
/* Element i of a host view as a Lua number, boolean or string. */
void tl_push_element(lua_State *L, const tfsdk_view *v, int64_t i);

/* ---------------------------------------------------------------------------------------- tensor.c
 */

void tl_open_tensor(lua_State *L, tl_state *st);
tl_tensor *tl_push_box(lua_State *L, tl_state *st); /* an empty tensor userdata */
void tl_fill_box(lua_State *L, tl_state *st, tl_tensor *box, tfsdk_tensor *take);
/* A box for a tensor of which it takes the reference (also when it raises). */
void tl_push_tensor(lua_State *L, tl_state *st, tfsdk_tensor *take);
tfsdk_tensor *tl_check_tensor(lua_State *L, tl_state *st, int index);
/* Result of a session or of item(): number, boolean, string for scalars, else the tensor as it is.
 */
void tl_push_plain(lua_State *L, tl_state *st, int index);

/* ---------------------------------------------------------------------------------------- values.c
 */

/* Metamethods of everything that can be computed with: operators, indexing. */
extern const luaL_Reg tl_value_metamethods[];
/* a[key] for a number or table key; pushes the part. */
int tl_index_value(lua_State *L, tl_state *st, int self, int key);
/* a.key for values: a method of the kind, of all values, or a function of tf, tf.nn, tf.math; or
 * nil. */
int tl_push_value_member(lua_State *L, tl_state *st, tl_kind kind, int key);
/* dtype and static shape of a tensor, node or variable. */
void tl_type_of(lua_State *L, tl_state *st, int index, tfsdk_typed_shape *out);

/* ------------------------------------------------------------------------- node.c, graph.c,
 * variable.c */

void tl_open_node(lua_State *L, tl_state *st);
void tl_open_graph(lua_State *L, tl_state *st);
void tl_open_variable(lua_State *L, tl_state *st);
void tl_push_node(lua_State *L, tl_state *st, tfsdk_graph *g, tfsdk_val v);
void tl_push_operation(lua_State *L, tl_state *st, tfsdk_graph *g, uint32_t id);
/* The graph's userdata. */
void tl_push_graph(lua_State *L, tl_state *st, tfsdk_graph *g);
/* Takes a reference to the variable. */
void tl_push_variable(lua_State *L, tl_state *st, tfsdk_variable *take, tfsdk_graph *g);
/* The tensor or node to compute with, for any value or literal: pushes it. */
void tl_push_value(lua_State *L, tl_state *st, int index, int32_t dtype, const char *what);

/* ------------------------------------------------------------------- session.c, tape.c, dataset.c
 * ... */

void tl_open_session(lua_State *L, tl_state *st);
void tl_open_tape(lua_State *L, tl_state *st);
void tl_open_gradients(lua_State *L, tl_state *st);
void tl_open_dataset(lua_State *L, tl_state *st);
void tl_open_bind(lua_State *L, tl_state *st);
/* fault.c: raises the error on top again, told as a fault of the call if it is one of Lua's own about a line of the
 * facade. `names`, `values`: stack indices of lists of n parameters (values may be nil). Never returns. */
int tl_fault(lua_State *L, tl_state *st, const char *function, int names, int values, int n);
/* Replaces the Lua function on top by one that does the same, and whose faults are told at the script's line. `state`
 * is the index of the module's state. */
void tl_guard(lua_State *L, int state, const char *name);
void tl_open_fault(lua_State *L, tl_state *st);
void tl_open_ops(lua_State *L, tl_state *st);
void tl_open_layer(lua_State *L, tl_state *st);
void tl_open_rules(lua_State *L, tl_state *st);
void tl_open_autocast(lua_State *L, tl_state *st);
void tl_filter(lua_State *L, tl_state *st, tfsdk_ctx *ctx);
void tl_open_json(lua_State *L, tl_state *st);
void tl_open_npy(lua_State *L, tl_state *st);
void tl_open_file(lua_State *L, tl_state *st);
void tl_open_tensor_file(lua_State *L, tl_state *st);
void tl_open_event_writer(lua_State *L, tl_state *st);
void tl_open_record_writer(lua_State *L, tl_state *st);
void tl_open_graph_import(lua_State *L, tl_state *st);
void tl_open_monitor(lua_State *L, tl_state *st);
void tl_open_regex(lua_State *L, tl_state *st);
/* The bytes of a file as a string on the stack (npy.c). */
const char *tl_push_file(lua_State *L, tl_state *st, const char *path, size_t *out_n);
/* The file has all of the bytes, or is as it was and an error is raised (file.c). */
void tl_write_file(lua_State *L, tl_state *st, const char *who, const char *path, const char *bytes,
                   size_t n);
/* Adds functions to the table that facade files get, and to tf. */
void tl_add_private(lua_State *L, tl_state *st, const luaL_Reg *list);
void tl_add_public(lua_State *L, tl_state *st, const luaL_Reg *list);
/* Whether the value is a table of options: no metatable, and its first key is a string. */
int tl_is_options(lua_State *L, int index);

#endif
