/* One call of a kernel, as the core keeps it: what tfsdk_run shows of it comes first. Calls are
 * made op by op (execute.c) or from plans (plan_run.c). */
#ifndef TFSDK_CORE_RUN_H
#define TFSDK_CORE_RUN_H

#include "internal.h"

#define TFSDK__RUN_SLOTS 8 /* workspaces, and lent variables, of one call */

typedef struct tfsdk__group tfsdk__group;

/* Workspaces that a session keeps from call to call, so that large ones are not mapped anew each
 * time. */
typedef struct tfsdk__workspaces {
  tfsdk__buffer *kept[TFSDK__RUN_SLOTS];
} tfsdk__workspaces;

typedef struct tfsdk__run {
  tfsdk_run base; /* first */
  tfsdk_runtime *rt;
  tfsdk__bound *bound;
  tfsdk__device *device;
  const char *node_name;
  tfsdk_tensor **in;              /* NULL: absent, or memory of the plan */
  tfsdk_tensor **out;             /* NULL: none yet, or memory of the plan */
  const tfsdk_typed_shape *shape; /* of the outputs */
  tfsdk__stream_state *random;
  tfsdk__cells *cells;
  tfsdk__workspaces *workspaces; /* NULL: they end with the call */
  const tfsdk__group *follows;   /* computed from finished rows of output 0; or NULL */
  const tfsdk__group *supplies;  /* computes the elements of input 0; or NULL */
  tfsdk__buffer *held[TFSDK__RUN_SLOTS];
  tfsdk_tensor *lent[TFSDK__RUN_SLOTS]; /* variables' values lent to the kernel */
  uint32_t n_held, n_lent;
  bool planned;      /* outputs have their memory from the plan */
  bool known_shapes; /* the same at every call */
} tfsdk__run;

extern const tfsdk_run_api tfsdk__run_api;
/* Fills what does not change from call to call. */
void tfsdk__run_init(tfsdk__run *r, tfsdk_runtime *rt, tfsdk__bound *b,
                     const tfsdk__attrlist *attrs, const char *node_name, uint32_t n_in,
                     uint32_t n_out);
/* Returns what the call lent and held. */
void tfsdk__run_end(tfsdk__run *r);
/* prepare, if the shapes are others than at the last call, and compute. */
tfsdk_status *tfsdk__run_compute(tfsdk__run *r);
/* The facts of an error: op, node, inputs, device. */
void tfsdk__run_add_facts(tfsdk_status *s, const tfsdk__run *r);

#endif
