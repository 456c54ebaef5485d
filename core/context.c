/* What graph and eager contexts share: the sticky error and the variables. */
#include "internal.h"

void tfsdk__context_init(tfsdk__context *c, tfsdk_runtime *rt, int kind) {
  c->base.host = rt->host;
  c->base.api = kind == TFSDK__CTX_GRAPH ? &tfsdk__graph_emit_api : &tfsdk__eager_emit_api;
  c->rt = rt;
  c->kind = kind;
}

void tfsdk__context_deinit(tfsdk__context *c) {
  tfsdk_status_release(c->error);
  c->error = NULL;
  tfsdk_variable **list = c->variables.data;
  size_t n = c->variables.n;
  c->variables.data = NULL; /* a variable that goes looks for itself here */
  c->variables.n = c->variables.cap = 0;
  for (size_t i = 0; i < n; i++)
    if (list[i]->kept) tfsdk_variable_release(list[i]);
  tfsdk__free(c->rt, list);
  for (int b = 0; b < 4; b++) {
    tfsdk__free(c->rt, c->buckets[b].data);
    memset(&c->buckets[b], 0, sizeof c->buckets[b]);
  }
  for (size_t i = 0; i < c->rules.n; i++) tfsdk__rule_release(c->rt, c->rules.data[i]);
  tfsdk__free(c->rt, c->rules.data);
  tfsdk__free(c->rt, c->filters.data);
  c->rules.data = NULL;
  c->filters.data = NULL;
  c->rules.n = c->rules.cap = c->filters.n = c->filters.cap = 0;
  tfsdk__map_deinit(c->rt, &c->variable_by_name);
  tfsdk__scopes_deinit(c->rt, &c->scopes);
}

void tfsdk__context_stick(tfsdk_ctx *c, tfsdk_status *take_status) {
  tfsdk__context *x = tfsdk__context_of(c);
  if (x->error == NULL)
    x->error = take_status;
  else
    tfsdk_status_release(take_status);
}

tfsdk_status *tfsdk__context_take_error(tfsdk_ctx *c) {
  tfsdk__context *x = tfsdk__context_of(c);
  tfsdk_status *s = x->error;
  x->error = NULL;
  return s;
}

int32_t tfsdk__context_has_error(tfsdk_ctx *c) { return tfsdk__context_of(c)->error != NULL; }

tfsdk_status *tfsdk__context_variable(tfsdk_ctx *c, const char *name, const tfsdk_varspec *spec,
                                      tfsdk_val *out_handle, tfsdk_val *out_value) {
  tfsdk_variable *v;
  TFSDK_TRY(tfsdk_variable_get(c, name, spec, NULL, &v));
  *out_handle = tfsdk_variable_handle(v);
  return tfsdk_variable_value(v, c, out_value);
}
