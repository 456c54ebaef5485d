/* A plan as text: what the passes did, the steps with their kernels and why others lost, memory. */
#include "plan.h"

static void add_type(tfsdk__buf *b, const tfsdk_typed_shape *t) {
  tfsdk__buf_add(b, " %s%s", tfsdk_dtype_name(t->dtype), tfsdk_shape_text(&t->shape).s);
}

static const char *plugin_of(const tfsdk__bound *b) {
  return b->kernel->plugin ? b->kernel->plugin->manifest.name : b->op->plugin->manifest.name;
}

/* The kernels that lost, with the reason. */
static void add_losers(const tfsdk_session *s, const tfsdk__plan *p, const tfsdk__step *t,
                       tfsdk__buf *b) {
  const tfsdk__node *n = t->node;
  tfsdk__bound again;
  size_t n_dtypes = (size_t)n->n_in + n->n_out;
  tfsdk_shape *shape =
      tfsdk__zalloc(s->rt, n->n_in * sizeof *shape + (n_dtypes + 1) * sizeof(int32_t));
  if (shape == NULL) return;
  int32_t *dtype = (int32_t *)(shape + n->n_in);
  for (uint32_t i = 0; i < n->n_in; i++) {
    const tfsdk__node *from = n->in[i].id ? p->graph->nodes.data[tfsdk__val_node(n->in[i])] : NULL;
    shape[i].rank = -1;
    if (from == NULL) continue;
    dtype[i] = from->out[tfsdk__val_index(n->in[i])].dtype;
    shape[i] = from->out[tfsdk__val_index(n->in[i])].shape;
  }
  for (uint32_t o = 0; o < n->n_out; o++) dtype[n->n_in + o] = n->out[o].dtype;
  tfsdk_status *ignored =
      tfsdk__bind(s->rt, n->op, n->attrs, dtype, n->n_in, dtype + n->n_in, n->n_out,
                  t->bound.open ? NULL : shape, t->bound.device, false, b, &again);
  if (ignored == NULL) tfsdk__bound_deinit(&again);
  tfsdk_status_release(ignored);
  tfsdk__free(s->rt, shape);
}

static void add_members(const tfsdk__step *t, const char *how, tfsdk__buf *b) {
  for (uint32_t i = 0; i < t->group->n_members; i++) {
    const tfsdk__member *m = &t->group->member[i];
    tfsdk__buf_add(b, "      %s %s (%s), kernel %s%s\n", how, m->name, m->op->name,
                   m->kernel->label,
                   m->out.kind == TFSDK__OPERAND_WHOLE ? "" : ", kept in the cache");
  }
}

static void add_step(const tfsdk_session *s, const tfsdk__plan *p, const tfsdk__step *t,
                     tfsdk__buf *b) {
  static const char *const names[] = {"", "", "variable", "view", ""};
  if (t->kind == TFSDK__STEP_GROUP) {
    tfsdk__buf_add(b, "%u nodes in one walk, tiles of %lld elements, on %s\n", t->group->n_members,
                   (long long)t->group->tile, t->member_bound[0].device->name);
    add_members(t, "fused", b);
    return;
  }
  tfsdk__buf_add(b, "%s (%s)", t->node->name, t->node->op->def.name);
  for (uint32_t o = 0; o < t->node->n_out; o++) add_type(b, &t->node->out[o]);
  if (*names[t->kind] != 0) tfsdk__buf_add(b, "  %s", names[t->kind]);
  if (t->bound.kernel == NULL || t->kind == TFSDK__STEP_READ) {
    tfsdk__buf_add(b, "  no kernel needed\n");
    return;
  }
  tfsdk__buf_add(b, "  on %s: kernel %s of %s\n", t->bound.device->name, t->bound.kernel->def.label,
                 plugin_of(&t->bound));
  add_losers(s, p, t, b);
  if (t->group != NULL) add_members(t, t->supplied ? "computes first" : "followed by", b);
}

void tfsdk__plan_text(const tfsdk_session *s, const tfsdk__plan *p, tfsdk__buf *b) {
  const char *name, *doc;
  tfsdk__buf_add(b, "plan: %zu steps for %u of %zu nodes\npasses:", p->steps.n, p->n_nodes,
                 s->graph->nodes.n);
  for (uint32_t i = 0; (name = tfsdk__pass_name(i, &doc)) != NULL; i++)
    tfsdk__buf_add(b, " %s%s", s->passes >> i & 1 ? "" : "-", name);
  tfsdk__buf_add(
      b,
      "\n%u nodes are fused, %u follow a product or convolution, %u lead into a reduction, "
      "%u values are fixed\n",
      p->n_fused, p->n_followed, p->n_supplied, p->n_fixed);
  tfsdk__buf_add(b, "memory: %llu bytes of arena, %llu bytes of tensors of their own\n",
                 (unsigned long long)p->arena_bytes, (unsigned long long)p->tensor_bytes);
  for (size_t i = 0; i < p->steps.n; i++) {
    tfsdk__buf_add(b, "%4zu  ", i + 1);
    add_step(s, p, &p->steps.data[i], b);
  }
}
