/* Plans: what a session makes of its graph for one combination of fetches and feeds, so that a run
 * is a walk along a list of prepared calls.
 *
 *   plan_graph.c   the needed nodes are copied into a graph of the plan's own, with the shapes of
 *                  these feeds; on the way the passes fold, simplify and merge look at each node
 *   plan_units.c   nodes become units of execution, each with its kernel (pass fuse joins
 *                  element-wise nodes, pass epilogue hangs them onto a product or convolution, pass
 *                  prologue before a reduction)
 *   plan_order.c   the order of the units (pass schedule: state is updated as early as possible)
 *   plan_memory.c  lifetimes and places of the values (pass arena: one block, reused)
 *   plan_steps.c   the calls
 *   plan_run.c     running them
 *   plan_trace.c   running them while somebody watches
 *   plan_text.c    the plan as text, for `explain`
 */
#ifndef TFSDK_CORE_PLAN_H
#define TFSDK_CORE_PLAN_H

#include "group.h"
#include "internal.h"
#include "run.h"

#define NO_SLOT UINT32_MAX
#define NO_UNIT UINT32_MAX
#define NO_STEP UINT32_MAX

/* The passes, by name in passes.c. */
enum tfsdk__pass {
  TFSDK__PASS_FOLD = 1,
  TFSDK__PASS_SIMPLIFY = 2,
  TFSDK__PASS_MERGE = 4,
  TFSDK__PASS_FUSE = 8,
  TFSDK__PASS_EPILOGUE = 16,
  TFSDK__PASS_PROLOGUE = 32,
  TFSDK__PASS_SCHEDULE = 64,
  TFSDK__PASS_ARENA = 128,
  TFSDK__PASS_ALL = 255
};
/* "-fuse,-arena", "none", "none,+fuse"; NULL: all. INVALID_ARGUMENT names what is not a pass. */
tfsdk_status *tfsdk__passes_parse(const char *text, uint32_t *out);
/* The name of the i-th pass and what it does; NULL behind the last one. */
const char *tfsdk__pass_name(uint32_t i, const char **out_doc);

/* Where a value is during a run. */
enum tfsdk__place {
  TFSDK__PLACE_NONE,   /* nowhere: inside a group */
  TFSDK__PLACE_TENSOR, /* a tensor of its own */
  TFSDK__PLACE_ARENA,  /* at an offset of the plan's block */
  TFSDK__PLACE_FIXED   /* a constant, or a variable's handle: the same at every run */
};

typedef struct tfsdk__slot {
  tfsdk_view view;
  tfsdk_tensor *tensor; /* TENSOR (during a run) and FIXED */
  uint64_t offset;      /* ARENA */
  uint32_t root;        /* the slot whose memory it shows; itself mostly */
  uint8_t place;
  bool viewed; /* a kernel reads or writes `view` */
  bool wanted; /* somebody needs `tensor` */
} tfsdk__slot;

enum tfsdk__step_kind {
  TFSDK__STEP_CALL,  /* a kernel on memory that the plan knows */
  TFSDK__STEP_GROUP, /* element-wise nodes together */
  TFSDK__STEP_READ,  /* a variable's value */
  TFSDK__STEP_ALIAS, /* a tensor under another shape */
  TFSDK__STEP_OPEN   /* shapes or devices that are known only when it runs: tfsdk__execute */
};

typedef struct tfsdk__step {
  uint8_t kind;
  const tfsdk__node *node; /* of the plan's graph; of a group: its last member */
  tfsdk__bound bound;
  uint32_t *in;   /* slots; NO_SLOT: absent */
  uint32_t *out;  /* slots */
  uint32_t *last; /* TENSOR slots nobody needs after this step */
  int32_t *out_dtype;
  uint32_t n_in, n_out, n_last, reuse;
  bool supplied;        /* CALL: the group computes its input 0 */
  tfsdk__run *run;      /* CALL: prepared */
  tfsdk__group *group;  /* GROUP, or what follows or supplies a CALL */
  uint32_t *group_slot; /* of its tensors */
  uint32_t *given;      /* outputs of its members that are tensors of their own */
  uint32_t n_given;
  tfsdk__bound *member_bound;
  tfsdk__cell *cell; /* READ; lent by the handle */
} tfsdk__step;

typedef struct tfsdk__plan {
  uint64_t hash, version, used, serial;
  tfsdk_val *fetches, *feeds; /* of the user's graph */
  tfsdk_typed_shape *feed_types;
  size_t n_fetches, n_feeds;
  tfsdk_graph *graph;
  TFSDK__VEC(tfsdk__step) steps;
  tfsdk__slot *slot;
  uint32_t n_slots;
  uint32_t *fetch_slot, *feed_slot; /* NO_SLOT: nothing is fetched, nobody reads */
  uint32_t *own, n_own;             /* slots whose tensors end with the run */
  uint64_t arena_bytes;
  void *arena_base; /* what the views were made for */
  uint32_t n_nodes, n_fused, n_followed, n_supplied, n_fixed;
  uint64_t tensor_bytes;      /* of values that are tensors of their own */
  struct tfsdk__trace *trace; /* what a watcher is told; made by the first watched run */
} tfsdk__plan;

struct tfsdk_session {
  atomic_size_t refs;
  tfsdk_graph *graph;
  tfsdk_runtime *rt;
  pthread_mutex_t lock;
  tfsdk__device *device;
  bool soft, log_placement, closed, has_seed;
  uint32_t passes;
  int64_t seed;
  uint64_t salt, clock;
  tfsdk__cells cells;
  TFSDK__VEC(tfsdk__plan *) plans;
  tfsdk__buffer *arena; /* of the largest plan so far; all plans share it */
  tfsdk__workspaces workspaces;
  tfsdk__stream_state **streams; /* by node id; made on demand */
  size_t n_streams;
  int64_t streams_seed; /* the graph's seed that they come from */
  bool streams_has_seed;
};

typedef struct tfsdk__edge {
  uint32_t from, to; /* nodes: `from` runs first */
} tfsdk__edge;

/* A plan while it is made. Arrays by node are of the plan's graph, by value of tfsdk__work_value. */
typedef struct tfsdk__unit {
  TFSDK__VEC(uint32_t) member; /* nodes in an order in which they can run */
  uint32_t root; /* the node that the members follow (epilogue) or supply (prologue); NO_SLOT */
  bool supplies; /* prologue */
  int64_t cols;  /* what its ROW and COLUMN operands ask for; 0: nothing */
} tfsdk__unit;

typedef struct tfsdk__work {
  tfsdk_session *s;
  tfsdk_runtime *rt;
  tfsdk__plan *p;
  tfsdk_graph *g; /* the plan's */
  tfsdk_val *fetch;
  size_t n; /* nodes of g, once it is complete */
  bool *need;
  tfsdk__bound *bound;
  tfsdk_tensor **fixed; /* by value: a constant's tensor, lent */
  uint32_t *first;      /* by node: its first value */
  uint32_t n_values;
  uint32_t *unit;        /* by node: NO_UNIT when there is nothing to run */
  uint32_t *made, *read; /* by slot: the step that makes it, the last one that reads it; NO_STEP */
  TFSDK__VEC(tfsdk__unit) units;
  TFSDK__VEC(uint32_t) order;       /* units */
  TFSDK__VEC(tfsdk__edge) edges;    /* beyond those of values and control dependencies */
  uint32_t *edge_from, *edge_first; /* by `to`: edge_from[edge_first[to] .. edge_first[to + 1]] */
} tfsdk__work;

static inline uint32_t tfsdk__work_value(const tfsdk__work *w, tfsdk_val v) {
  return w->first[tfsdk__val_node(v)] + tfsdk__val_index(v);
}
static inline const tfsdk_typed_shape *tfsdk__work_type(const tfsdk__work *w, tfsdk_val v) {
  return &w->g->nodes.data[tfsdk__val_node(v)]->out[tfsdk__val_index(v)];
}
/* Does the plan know all about the node's memory: whole shapes of plain types, on the host? */
bool tfsdk__work_planned(const tfsdk__work *w, uint32_t node);
/* Does node n read input i: is it there, and more than its shape wanted? */
bool tfsdk__work_reads(const tfsdk__work *w, const tfsdk__node *n, uint32_t i);

/* Can the node be a member of a group? The columns that its operands ask for (0: any); -1: no. */
int64_t tfsdk__work_member(const tfsdk__work *w, uint32_t node);

tfsdk_status *tfsdk__plan_graph(tfsdk__work *w);
tfsdk_status *tfsdk__plan_units(tfsdk__work *w);
tfsdk_status *tfsdk__pass_fuse(tfsdk__work *w);
tfsdk_status *tfsdk__pass_epilogue(tfsdk__work *w);
tfsdk_status *tfsdk__pass_prologue(tfsdk__work *w);
/* Would joining these nodes make a circle? `in_set` marks them; `first` is the earliest. */
bool tfsdk__work_circular(tfsdk__work *w, const unsigned char *in_set, const uint32_t *set,
                          size_t n, uint32_t first, unsigned char *seen);
tfsdk_status *tfsdk__plan_order(tfsdk__work *w);
uint8_t tfsdk__unit_kind(const tfsdk__work *w, const tfsdk__unit *u);
/* The node whose kernel a CALL runs. */
static inline uint32_t tfsdk__unit_leader(const tfsdk__unit *u) {
  return u->root != NO_SLOT ? u->root : u->member.data[u->member.n - 1];
}
tfsdk_status *tfsdk__plan_memory(tfsdk__work *w);
tfsdk_status *tfsdk__plan_steps(tfsdk__work *w);
tfsdk_status *tfsdk__plan_make(tfsdk_session *s, const tfsdk_val *fetches, size_t n_fetches,
                               const tfsdk_val *feeds, const tfsdk_typed_shape *types,
                               size_t n_feeds, tfsdk__plan **out);
void tfsdk__plan_release(tfsdk_runtime *rt, tfsdk__plan *p);
/* `watch` may be NULL. */
tfsdk_status *tfsdk__plan_run(tfsdk_session *s, tfsdk__plan *p, tfsdk_tensor *const *feed_values,
                              const tfsdk_run_options *watch, tfsdk_tensor **out);
tfsdk_status *tfsdk__plan_step(tfsdk_session *s, tfsdk__plan *p, tfsdk__step *t);
/* All steps, telling `watch` of each. */
tfsdk_status *tfsdk__trace_steps(tfsdk_session *s, tfsdk__plan *p, const tfsdk_run_options *watch);
void tfsdk__trace_release(tfsdk_runtime *rt, struct tfsdk__trace *t);
void tfsdk__plan_text(const tfsdk_session *s, const tfsdk__plan *p, tfsdk__buf *out);
/* The stream of random numbers of a node of the session's graph. */
tfsdk_status *tfsdk__session_stream(tfsdk_session *s, const tfsdk__node *n,
                                    tfsdk__stream_state **out);

#endif
