/* Reading an op's record: type strings, attribute types and defaults; done once, when it is
 * enrolled. */
#include "internal.h"

static int32_t find_attr(const tfsdk__op *op, const char *name, size_t n) {
  for (uint32_t i = 0; i < op->def.n_attr; i++)
    if (strlen(op->def.attr[i].name) == n && strncmp(op->def.attr[i].name, name, n) == 0)
      return (int32_t)i;
  return -1;
}

static tfsdk_status *bad(const tfsdk_arg *a, const char *why) {
  return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "argument '%s' of type '%s': %s", a->name,
                            a->type, why);
}

static tfsdk_status *parse_arg(tfsdk__op *op, const tfsdk_arg *a, tfsdk__argtype *out, bool input) {
  out->type_attr = out->n_attr = -1;
  if (a->name == NULL || a->type == NULL || *a->type == 0)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "an argument lacks its name or type");
  const char *type = a->type;
  size_t n = strlen(type);
  if (type[n - 1] == '?') {
    if (!input) return bad(a, "outputs cannot be optional");
    out->optional = true;
    n--;
  }
  if (strncmp(type, "list:", 5) == 0) {
    out->kind = TFSDK__TYPE_LIST_TYPES;
    out->type_attr = find_attr(op, type + 5, n - 5);
    if (out->type_attr < 0 || op->attr[out->type_attr].kind != TFSDK_ATTR_LIST_DTYPE)
      return bad(a, "there is no list(dtype) attribute of that name");
    return NULL;
  }
  const char *star = memchr(type, '*', n);
  if (star != NULL) {
    out->kind = TFSDK__TYPE_LIST_N;
    out->n_attr = find_attr(op, type, (size_t)(star - type));
    if (out->n_attr < 0 || op->attr[out->n_attr].kind != TFSDK_ATTR_INT)
      return bad(a, "there is no int attribute that counts it");
    n -= (size_t)(star - type) + 1;
    type = star + 1;
  }
  char word[64];
  if (n >= sizeof word) return bad(a, "too long");
  memcpy(word, type, n);
  word[n] = 0;
  int32_t attr = find_attr(op, word, n);
  if (attr >= 0) {
    if (op->attr[attr].kind != TFSDK_ATTR_DTYPE)
      return bad(a, "the attribute of that name is no dtype");
    out->type_attr = attr;
    if (out->kind != TFSDK__TYPE_LIST_N) out->kind = TFSDK__TYPE_ATTR;
    return NULL;
  }
  out->dtype = tfsdk_dtype_find(word);
  if (out->dtype == 0) return bad(a, "neither a type nor a dtype attribute");
  if (out->kind != TFSDK__TYPE_LIST_N) out->kind = TFSDK__TYPE_FIXED;
  return NULL;
}

static tfsdk_status *check_names(const tfsdk__op *op) {
  const tfsdk_opdef *d = &op->def;
  for (uint32_t i = 0; i < d->n_attr; i++)
    for (uint32_t j = 0; j < i; j++)
      if (strcmp(d->attr[i].name, d->attr[j].name) == 0)
        return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "attribute '%s' is defined twice",
                                  d->attr[i].name);
  for (uint32_t i = 0; i < d->n_in; i++)
    for (uint32_t j = 0; j < i; j++)
      if (strcmp(d->in[i].name, d->in[j].name) == 0)
        return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "input '%s' is defined twice",
                                  d->in[i].name);
  return NULL;
}

static tfsdk_status *check_rules(const tfsdk__op *op) {
  const tfsdk_opdef *d = &op->def;
  uint64_t in = d->n_in >= 64 ? UINT64_MAX : ((uint64_t)1 << d->n_in) - 1;
  uint64_t out = d->n_out >= 64 ? UINT64_MAX : ((uint64_t)1 << d->n_out) - 1;
  if (d->n_in > 64 || d->n_out > 64)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "more than 64 arguments");
  if ((d->grad != NULL) == (d->no_grad_reason != NULL))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "exactly one of grad and no_grad_reason must be set");
  if (d->n_out > 0 && d->infer == NULL)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "an op with outputs needs a shape rule");
  if (((d->const_in | d->grad_in | d->grad_shape) & ~in) != 0 || (d->grad_out & ~out) != 0)
    return tfsdk__status_make(
        TFSDK_INVALID_ARGUMENT,
        "const_in, grad_in, grad_shape or grad_out name an argument that is not there");
  if ((d->flags & TFSDK_OP_VIEW) && (d->n_in < 1 || d->n_out < 1))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "a VIEW op needs an input and an output");
  return NULL;
}

tfsdk_status *tfsdk__schema_parse(tfsdk__op *op, tfsdk_runtime *rt) {
  tfsdk_opdef *d = &op->def;
  op->in = tfsdk__zalloc(rt, (d->n_in + 1u) * sizeof *op->in);
  op->out = tfsdk__zalloc(rt, (d->n_out + 1u) * sizeof *op->out);
  op->attr = tfsdk__zalloc(rt, (d->n_attr + 1u) * sizeof *op->attr);
  op->list_arg = -1;
  op->simple = true;
  op->differentiable = d->grad != NULL;
  if (op->in == NULL || op->out == NULL || op->attr == NULL) return TFSDK__NOMEM(rt);
  for (uint32_t i = 0; i < d->n_attr; i++)
    TFSDK_TRY(tfsdk__attrtype_parse(rt, &d->attr[i], &op->attr[i]));
  TFSDK_TRY(check_names(op));
  for (uint32_t i = 0; i < d->n_in; i++) {
    tfsdk__argtype *t = &op->in[i];
    TFSDK_TRY(parse_arg(op, &d->in[i], t, true));
    if (t->kind >= TFSDK__TYPE_LIST_N && op->list_arg < 0) op->list_arg = (int32_t)i;
    if (t->kind >= TFSDK__TYPE_LIST_N || t->optional) op->simple = false;
    if (t->type_attr >= 0) op->attr[t->type_attr].told = true;
    if (t->n_attr >= 0) op->attr[t->n_attr].told = true;
  }
  for (uint32_t i = 0; i < d->n_out; i++) TFSDK_TRY(parse_arg(op, &d->out[i], &op->out[i], false));
  return check_rules(op);
}

void tfsdk__schema_release(tfsdk__op *op, tfsdk_runtime *rt) {
  for (uint32_t i = 0; op->attr != NULL && i < op->def.n_attr; i++)
    tfsdk__attrtype_release(rt, &op->attr[i]);
  tfsdk__free(rt, op->attr);
  tfsdk__free(rt, op->in);
  tfsdk__free(rt, op->out);
}
