/* What holds for the ops that are emitted into a context while it is pushed: gradients in place of
 * the ops' own, and filters that put other values in place of inputs.
 *
 * Both are stacks of the context, of which the innermost counts, and cost nothing where they are
 * empty. A node or a tape's record keeps the rule that it was made under. */
#include "internal.h"

void tfsdk__rule_release(tfsdk_runtime *rt, tfsdk__rule *r) {
  if (r == NULL || atomic_fetch_sub(&r->refs, 1) != 1) return;
  if (r->def.release != NULL) r->def.release(r->def.user);
  tfsdk__free(rt, r);
}

tfsdk__rule *tfsdk__context_rule(tfsdk__context *c, const tfsdk__op *op) {
  for (size_t i = c->rules.n; i-- > 0;) {
    tfsdk__rule *r = c->rules.data[i];
    if (r->op != op) continue;
    atomic_fetch_add(&r->refs, 1);
    return r;
  }
  return NULL;
}

static tfsdk_status *push_rule(tfsdk__context *c, const char *name,
                               const tfsdk_gradient_rule *def) {
  tfsdk__op *op;
  if (def->struct_size < sizeof *def || def->grad == NULL)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "the gradient for %s has no function", name);
  TFSDK_TRY(tfsdk__op_find(c->rt, name, &op));
  tfsdk__rule *r = TFSDK__GROW(c->rt, &c->rules, 1) ? tfsdk__alloc(c->rt, sizeof *r) : NULL;
  if (r == NULL) return TFSDK__NOMEM(c->rt);
  atomic_init(&r->refs, 1);
  r->op = op;
  r->def = *def;
  c->rules.data[c->rules.n++] = r;
  return NULL;
}

tfsdk_status *tfsdk_ctx_push_gradient(tfsdk_ctx *c, const char *op,
                                      const tfsdk_gradient_rule *rule) {
  tfsdk_status *s = push_rule(tfsdk__context_of(c), op, rule);
  if (s != NULL && rule->release != NULL) rule->release(rule->user);
  return s;
}

void tfsdk_ctx_pop_gradient(tfsdk_ctx *c) {
  tfsdk__context *x = tfsdk__context_of(c);
  if (x->rules.n > 0) tfsdk__rule_release(x->rt, x->rules.data[--x->rules.n]);
}

tfsdk_status *tfsdk_ctx_push_filter(tfsdk_ctx *c, const tfsdk_emit_filter *filter) {
  tfsdk__context *x = tfsdk__context_of(c);
  if (!TFSDK__GROW(x->rt, &x->filters, 1)) return TFSDK__NOMEM(x->rt);
  x->filters.data[x->filters.n++] = filter;
  return NULL;
}

void tfsdk_ctx_pop_filter(tfsdk_ctx *c) {
  tfsdk__context *x = tfsdk__context_of(c);
  if (x->filters.n > 0) x->filters.n--;
}

tfsdk_status *tfsdk__context_apply(tfsdk__context *c, const tfsdk_emit_filter *f,
                                   const tfsdk__op *op, tfsdk_val *in, size_t n_in) {
  c->filters_off = true;
  tfsdk_status *s = f->filter(f->user, &c->base, &op->def, in, n_in);
  c->filters_off = false;
  return s != NULL ? s : tfsdk__context_take_error(&c->base);
}
