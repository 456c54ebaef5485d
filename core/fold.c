/* Values that are known when the graph is built: constants, and what small pure ops make of
 * constants and of static shapes. Shape rules and gradients ask for them (the axes of a sum, the
 * target of a reshape). */
#include "internal.h"

#define MAX_ELEMENTS 4096 /* larger values are left to the run */
#define MAX_DEPTH    100

static tfsdk_tensor *fold(tfsdk_graph *g, tfsdk_val v, int depth);

static bool small(const tfsdk_typed_shape *t) {
  int64_t n = tfsdk_shape_elements(&t->shape);
  return n >= 0 && n <= MAX_ELEMENTS && t->dtype != TFSDK_RESOURCE && t->dtype != TFSDK_STRING;
}

tfsdk_tensor *tfsdk__shape_only(tfsdk_runtime *rt, const tfsdk_typed_shape *t) {
  tfsdk_tensor *whole, *ghost = NULL;
  int64_t none = 0;
  if (!tfsdk_shape_whole(&t->shape) || tfsdk_shape_elements(&t->shape) < 0 ||
      t->dtype == TFSDK_RESOURCE)
    return NULL;
  tfsdk_status *s = tfsdk__tensor_alloc(tfsdk__device_host(rt), TFSDK_UINT8, 1, &none, &whole);
  if (s == NULL) {
    s = tfsdk__tensor_alias(whole, (uint32_t)t->shape.rank, t->shape.dim, &ghost);
    tfsdk_tensor_release(whole);
  }
  tfsdk_status_release(s);
  if (ghost != NULL) {
    ghost->dtype = t->dtype;
    ghost->n_elem = tfsdk_shape_elements(&t->shape);
    ghost->flags = TFSDK__TENSOR_SHAPE_ONLY;
  }
  return ghost;
}

/* Whole numbers (shapes, axes) are the same whoever computes them: the reference kernel needs no
 * device. In a plan the rest is computed by the kernel that would run, so that folding changes no
 * bit; elsewhere, for shape rules, any will do. */
static bool find_kernel(tfsdk_graph *g, const tfsdk__node *n, const int32_t *out_dtype,
                        tfsdk__bound *out) {
  tfsdk__device *d = g->planning ? tfsdk__planning_device(g, n) : NULL;
  int32_t in_dtype[16];
  bool whole = true;
  if (n->op->def.flags & TFSDK_OP_VIEW) return true;
  for (uint32_t o = 0; o < n->n_out; o++) whole = whole && tfsdk_dtype_kind(out_dtype[o]) != 'f';
  for (size_t k = 0; k < n->op->kernels.n; k++)
    if (n->op->kernels.data[k]->plugin == NULL) out->kernel = n->op->kernels.data[k];
  if (g->planning == NULL || whole || (n->op->def.flags & TFSDK_OP_CONSTANT))
    return out->kernel != NULL;
  if (d != out->device) return false; /* another device would compute it */
  for (uint32_t i = 0; i < n->n_in; i++)
    in_dtype[i] =
        n->in[i].id
            ? g->nodes.data[tfsdk__val_node(n->in[i])]->out[tfsdk__val_index(n->in[i])].dtype
            : 0;
  tfsdk_status *s = tfsdk__bind(g->ctx.rt, n->op, n->attrs, in_dtype, n->n_in, out_dtype, n->n_out,
                                NULL, d, true, NULL, out);
  tfsdk_status_release(s);
  return s == NULL;
}

static void compute(tfsdk_graph *g, tfsdk__node *n, int depth) {
  tfsdk_runtime *rt = g->ctx.rt;
  tfsdk__bound bound = {.op = n->op, .device = tfsdk__device_host(rt)};
  tfsdk_tensor *in[16], *out[8];
  int32_t dtype[8];
  uint32_t at = 0;
  bool ok = n->n_in <= 16 && n->n_out <= 8 && n->n_out > 0;
  for (uint32_t o = 0; ok && o < n->n_out; o++) {
    dtype[o] = n->out[o].dtype;
    ok = small(&n->out[o]);
  }
  for (; ok && at < n->n_in; at++) {
    in[at] = NULL;
    if (n->in[at].id == 0) continue;
    uint32_t a = tfsdk__op_arg_of(n->op, n->attrs, n->n_in, at);
    if (n->op->def.in[a].flags & TFSDK_ARG_SHAPE_ONLY)
      in[at] = tfsdk__shape_only(
          rt, &g->nodes.data[tfsdk__val_node(n->in[at])]->out[tfsdk__val_index(n->in[at])]);
    else {
      in[at] = fold(g, n->in[at], depth + 1);
      if (in[at] != NULL) tfsdk_tensor_retain(in[at]);
    }
    if (in[at] == NULL) ok = false;
  }
  if (ok &&
      find_kernel(g, n, dtype, &bound)) { /* it may have a state: only when all else is known */
    tfsdk__execution e = {&bound, n->attrs, n->name, in, n->n_in, n->n_out, dtype, NULL, NULL, 0};
    tfsdk_status *s = tfsdk__execute(rt, &e, out);
    if (s == NULL) {
      n->folded = tfsdk__alloc(rt, n->n_out * sizeof *n->folded);
      for (uint32_t o = 0; o < n->n_out; o++) {
        if (n->folded != NULL)
          n->folded[o] = out[o];
        else
          tfsdk_tensor_release(out[o]);
      }
    }
    tfsdk__bound_deinit(&bound);
    tfsdk_status_release(s); /* it will show again, with its node, when the graph runs */
  }
  for (uint32_t i = 0; i < at; i++) tfsdk_tensor_release(in[i]);
}

static tfsdk_tensor *fold(tfsdk_graph *g, tfsdk_val v, int depth) {
  const uint32_t impure =
      TFSDK_OP_STATEFUL | TFSDK_OP_RANDOM | TFSDK_OP_EFFECT | TFSDK_OP_PLACEHOLDER;
  tfsdk__node *n = g->nodes.data[tfsdk__val_node(v)];
  if (!n->fold_tried && depth < MAX_DEPTH) {
    n->fold_tried = true;
    if ((n->op->def.flags & impure) == 0 && n->n_control == 0) compute(g, n, depth);
  }
  return n->folded ? n->folded[tfsdk__val_index(v)] : NULL;
}

tfsdk_tensor *tfsdk__fold(tfsdk_graph *g, tfsdk_val v) {
  return v.id == 0 || tfsdk__val_node(v) >= g->nodes.n ? NULL : fold(g, v, 0);
}
