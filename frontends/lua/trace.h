/* trace.h - what watched runs of sessions did: the recorder behind {trace = true}, `tfsdk profile`,
 * and {break_on_nan = true}. All its memory is plain C: it is filled while the core runs, where no
 * Lua error may be raised. */
#ifndef TFSDK_LUA_TRACE_H
#define TFSDK_LUA_TRACE_H

#include "module.h"

typedef struct tl_trace_value {
  char *name;
  uint32_t index, last;
  int64_t offset;
  uint64_t bytes;
  tfsdk_typed_shape type;
} tl_trace_value;

/* One step of one plan, with sums over its runs. */
typedef struct tl_trace_step {
  char *kind, *device, *kernel, *plugin;
  uint32_t *node;
  tl_trace_value *out;
  uint32_t plan, n_nodes, n_out;
  uint64_t count;
  int64_t sum, min, max; /* nanoseconds */
  uint64_t device_bytes; /* the most */
} tl_trace_step;

typedef struct tl_trace_plan {
  uint64_t serial;
  tfsdk_graph *g; /* one reference */
  uint32_t first, n_steps;
} tl_trace_plan;

typedef struct tl_trace_event {
  uint32_t step;
  int64_t begin, end;
  uint64_t device_bytes;
} tl_trace_event;

/* What a value of a floating-point type was like. */
typedef struct tl_trace_finding {
  tfsdk_val val;
  int64_t n, n_nan, n_inf;
  double min, max; /* of those that are finite; min > max: there are none */
} tl_trace_finding;

typedef struct tl_trace {
  tl_trace_plan *plan;
  tl_trace_step *step;
  tl_trace_event *event;
  tl_trace_finding *finding;
  size_t n_plans, n_steps, n_events, n_findings;
  size_t cap_plans, cap_steps, cap_events, cap_findings;
  size_t event_limit, n_dropped; /* events beyond the limit are only counted in the sums */
  tfsdk_graph *g;                /* of the present run. Lent */
  tfsdk_runtime *rt;
  int check;  /* stop at the first value that is not finite */
  int broken; /* it was found: the last finding */
  int failed; /* memory was out: what follows is missing */
  uint64_t n_runs;
  int64_t run_ns, began, ended; /* in runs; of the first and last run */
  int64_t input_ns;             /* waited for datasets */
} tl_trace;

void tl_open_trace(lua_State *L, tl_state *st);
/* A recorder as userdata; `events`: how many single steps it keeps. */
tl_trace *tl_push_trace(lua_State *L, tl_state *st, size_t events);
/* The recorder of all runs (`tfsdk profile`), or NULL. */
tl_trace *tl_profile(lua_State *L, tl_state *st);
/* tfsdk_session_run_watched, noting what it does. */
tfsdk_status *tl_trace_run(tl_trace *t, tfsdk_runtime *rt, tfsdk_graph *g, tfsdk_session *s,
                           const tfsdk_val *fetches, size_t n_fetches, const tfsdk_val *feeds,
                           tfsdk_tensor *const *feed_values, size_t n_feeds, tfsdk_tensor **out);
int64_t tl_nanoseconds(void);

#endif
