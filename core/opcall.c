/* Checking a call of an op: how many inputs each argument has, what types and attributes they tell.
 */
#include "internal.h"

static const tfsdk_attrval *given_attr(const tfsdk_attrval *attr, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(attr[i].name, name) == 0) return &attr[i];
  return NULL;
}

static int64_t list_count_given(const tfsdk__op *op, const tfsdk__argtype *t,
                                const tfsdk_attrval *attr, size_t n_attr) {
  int32_t a = t->kind == TFSDK__TYPE_LIST_N ? t->n_attr : t->type_attr;
  const tfsdk_attrval *v = given_attr(attr, n_attr, op->def.attr[a].name);
  if (v == NULL) return -1;
  return t->kind == TFSDK__TYPE_LIST_N ? v->v.i : (int64_t)v->n;
}

/* Lists share what the plain arguments leave. Lists counted by the same attribute are equally long;
 * of differently counted ones all but one must be given by attribute. */
static tfsdk_status *count_inputs(const tfsdk__op *op, size_t n_in, const tfsdk_attrval *attr,
                                  size_t n_attr, uint32_t *count) {
  int64_t rest = (int64_t)n_in, open_lists = 0;
  int32_t open_attr = -1;
  for (uint32_t i = 0; i < op->def.n_in; i++) {
    const tfsdk__argtype *t = &op->in[i];
    count[i] = 1;
    if (t->kind < TFSDK__TYPE_LIST_N) {
      rest--;
      continue;
    }
    int32_t a = t->kind == TFSDK__TYPE_LIST_N ? t->n_attr : t->type_attr;
    int64_t n = open_attr == a || open_attr < 0 ? -1 : list_count_given(op, t, attr, n_attr);
    if (n >= 0) {
      count[i] = (uint32_t)n;
      rest -= n;
    } else {
      if (open_attr >= 0 && open_attr != a)
        return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "attribute '%s' must be given",
                                  op->def.attr[a].name);
      open_attr = a;
      open_lists++;
    }
  }
  bool trailing_optional = rest < 0;
  for (int64_t k = 0; k < -rest; k++)
    trailing_optional = trailing_optional && (int64_t)op->def.n_in - 1 - k >= 0 &&
                        op->in[op->def.n_in - 1 - k].optional;
  if (rest < 0 && open_lists == 0 && trailing_optional) return NULL;
  if (rest < 0 || (open_lists == 0 && rest > 0) || (open_lists > 0 && rest % open_lists != 0)) {
    uint32_t least = 0;
    for (uint32_t i = 0; i < op->def.n_in; i++)
      least += op->in[i].kind < TFSDK__TYPE_LIST_N && !op->in[i].optional;
    tfsdk__buf b = {0};
    for (uint32_t i = 0; i < op->def.n_in; i++)
      tfsdk__buf_add(&b, "%s%s", i ? ", " : "", op->def.in[i].name);
    tfsdk_status *s =
        tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "%zu inputs were given; it takes %s%u (%s)",
                           n_in, open_lists ? "at least " : "", least, b.s ? b.s : "none");
    tfsdk__buf_deinit(&b);
    return s;
  }
  for (uint32_t i = 0; open_lists > 0 && i < op->def.n_in; i++) {
    const tfsdk__argtype *t = &op->in[i];
    if (t->kind >= TFSDK__TYPE_LIST_N &&
        (t->kind == TFSDK__TYPE_LIST_N ? t->n_attr : t->type_attr) == open_attr)
      count[i] = (uint32_t)(rest / open_lists);
  }
  return NULL;
}

static tfsdk_status *wrong_type(const tfsdk__op *op, uint32_t arg, int32_t got, int32_t want,
                                int32_t told_by) {
  if (told_by >= 0 && told_by != (int32_t)arg)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "'%s' is %s, but '%s' is %s: they must have the same type",
                              op->def.in[arg].name, tfsdk_dtype_name(got), op->def.in[told_by].name,
                              tfsdk_dtype_name(want));
  return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' is %s; it must be %s",
                            op->def.in[arg].name, tfsdk_dtype_name(got), tfsdk_dtype_name(want));
}

/* Fills told[] from the inputs' types. list_types is room for list(dtype) attributes. */
static tfsdk_status *tell(const tfsdk__op *op, const int32_t *in_dtype, size_t n_in,
                          const uint32_t *count, tfsdk_attrval *told, int64_t *list_types) {
  int32_t told_by[64];
  size_t at = 0, list_at = 0;
  for (int i = 0; i < 64; i++) told_by[i] = -1;
  for (uint32_t i = 0; i < op->def.n_in; i++) {
    const tfsdk__argtype *t = &op->in[i];
    if (t->kind == TFSDK__TYPE_LIST_TYPES) {
      tfsdk_attrval *a = &told[t->type_attr];
      a->kind = TFSDK_ATTR_LIST_DTYPE;
      a->n = count[i];
      a->v.ints = list_types + list_at;
      for (uint32_t k = 0; k < count[i]; k++) list_types[list_at++] = in_dtype[at++];
      continue;
    }
    if (t->kind == TFSDK__TYPE_LIST_N) {
      tfsdk_attrval *a = &told[t->n_attr];
      a->kind = TFSDK_ATTR_INT;
      a->v.i = count[i];
    }
    for (uint32_t k = 0; k < count[i]; k++, at++) {
      int32_t dtype = at < n_in ? in_dtype[at] : 0;
      if (dtype == 0) {
        if (!t->optional)
          return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' must be given",
                                    op->def.in[i].name);
        continue;
      }
      if (t->type_attr < 0) {
        if (dtype != t->dtype) return wrong_type(op, i, dtype, t->dtype, -1);
        continue;
      }
      tfsdk_attrval *a = &told[t->type_attr];
      if (a->kind == TFSDK_ATTR_NONE) {
        a->kind = TFSDK_ATTR_DTYPE;
        a->v.i = dtype;
        if (t->type_attr < 64) told_by[t->type_attr] = (int32_t)i;
      } else if (a->v.i != dtype) {
        return wrong_type(op, i, dtype, (int32_t)a->v.i,
                          t->type_attr < 64 ? told_by[t->type_attr] : -1);
      }
    }
  }
  return NULL;
}

static tfsdk_status *resolve_outputs(tfsdk_runtime *rt, tfsdk__opcall *c) {
  const tfsdk__op *op = c->op;
  uint64_t total = 0;
  for (uint32_t i = 0; i < op->def.n_out; i++) {
    const tfsdk__argtype *t = &op->out[i];
    int64_t n = t->kind == TFSDK__TYPE_LIST_N       ? c->attrs->list[t->n_attr].v.i
                : t->kind == TFSDK__TYPE_LIST_TYPES ? (int64_t)c->attrs->list[t->type_attr].n
                                                    : 1;
    if (n < 0 || n > 60000)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "%lld outputs '%s' are not possible",
                                (long long)n, op->def.out[i].name);
    total += (uint64_t)n;
  }
  c->n_out = (uint32_t)total;
  c->out_dtype = c->out_dtype_fixed;
  if (total > sizeof c->out_dtype_fixed / sizeof *c->out_dtype_fixed) {
    c->out_dtype = tfsdk__alloc(rt, total * sizeof *c->out_dtype);
    if (c->out_dtype == NULL) return TFSDK__NOMEM(rt);
  }
  uint32_t at = 0;
  for (uint32_t i = 0; i < op->def.n_out; i++) {
    const tfsdk__argtype *t = &op->out[i];
    const tfsdk_attrval *a = t->type_attr >= 0 ? &c->attrs->list[t->type_attr] : NULL;
    if (t->kind == TFSDK__TYPE_LIST_TYPES) {
      for (uint32_t k = 0; k < a->n; k++) c->out_dtype[at++] = (int32_t)a->v.ints[k];
      continue;
    }
    int64_t n = t->kind == TFSDK__TYPE_LIST_N ? c->attrs->list[t->n_attr].v.i : 1;
    for (int64_t k = 0; k < n; k++) c->out_dtype[at++] = a ? (int32_t)a->v.i : t->dtype;
  }
  return NULL;
}

static tfsdk_status *resolve(tfsdk_runtime *rt, tfsdk__op *op, const int32_t *in_dtype, size_t n_in,
                             const tfsdk_attrval *attr, size_t n_attr, tfsdk__opcall *out) {
  uint32_t count[64], padded = 0;
  tfsdk_attrval told_room[16], *told = told_room;
  int64_t list_room[32], *list_types = list_room;
  void *big = NULL;
  TFSDK_TRY(count_inputs(op, n_in, attr, n_attr, count));
  for (uint32_t i = 0; i < op->def.n_in; i++) padded += count[i];
  if (op->def.n_attr > 16 || n_in > 32) {
    size_t told_bytes = op->def.n_attr * sizeof *told;
    big = tfsdk__alloc(rt, told_bytes + n_in * 8 + 8);
    if (big == NULL) return TFSDK__NOMEM(rt);
    told = big;
    list_types = (int64_t *)(void *)((char *)big + told_bytes);
  }
  memset(told, 0, op->def.n_attr * sizeof *told);
  tfsdk_status *s = tell(op, in_dtype, n_in, count, told, list_types);
  if (s == NULL)
    s = tfsdk__attrlist_fill(rt, op->def.attr, op->attr, op->def.n_attr, told, attr, n_attr,
                             &out->attrs);
  tfsdk__free(rt, big);
  if (s != NULL) return s;
  out->op = op;
  out->n_in = padded;
  s = resolve_outputs(rt, out);
  if (s != NULL) tfsdk__attrlist_release(rt, out->attrs);
  return s;
}

tfsdk_status *tfsdk__opcall_resolve(tfsdk_runtime *rt, tfsdk__op *op, const int32_t *in_dtype,
                                    size_t n_in, const tfsdk_attrval *attr, size_t n_attr,
                                    tfsdk__opcall *out) {
  memset(out, 0, sizeof *out);
  tfsdk_status *s = resolve(rt, op, in_dtype, n_in, attr, n_attr, out);
  if (s != NULL) {
    memset(out, 0, sizeof *out);
    tfsdk__status_add(s, "op", "%s", op->def.name);
  }
  return s;
}

void tfsdk__opcall_deinit(tfsdk_runtime *rt, tfsdk__opcall *c) {
  tfsdk__attrlist_release(rt, c->attrs);
  if (c->out_dtype != c->out_dtype_fixed) tfsdk__free(rt, c->out_dtype);
  memset(c, 0, sizeof *c);
}

uint32_t tfsdk__op_arg_count(const tfsdk__op *op, const tfsdk__attrlist *attrs, uint32_t n_in,
                             uint32_t a) {
  (void)n_in;
  const tfsdk__argtype *t = &op->in[a];
  if (t->kind == TFSDK__TYPE_LIST_N) return (uint32_t)attrs->list[t->n_attr].v.i;
  if (t->kind == TFSDK__TYPE_LIST_TYPES) return attrs->list[t->type_attr].n;
  return 1;
}

uint32_t tfsdk__op_arg_of(const tfsdk__op *op, const tfsdk__attrlist *attrs, uint32_t n_in,
                          uint32_t i) {
  if (op->simple || op->list_arg < 0) return i;
  uint32_t at = 0;
  for (uint32_t a = 0; a < op->def.n_in; a++) {
    at += tfsdk__op_arg_count(op, attrs, n_in, a);
    if (i < at) return a;
  }
  return op->def.n_in - 1u;
}

tfsdk_status *tfsdk__infer_run(tfsdk__op *op, const tfsdk__attrlist *attrs,
                               const tfsdk_typed_shape *in, uint32_t n_in,
                               const tfsdk_view *const *value, const int32_t *out_dtype,
                               tfsdk_typed_shape *out, uint32_t n_out) {
  tfsdk_infer c = {&op->plugin->host,          &op->def, n_in, n_out, in, out, value,
                   tfsdk__attrlist_view(attrs)};
  tfsdk_view constant;
  const tfsdk_view *constant_value = &constant;
  for (uint32_t i = 0; i < n_out; i++) {
    memset(&out[i], 0, sizeof out[i]);
    out[i].dtype = out_dtype[i];
    out[i].shape.rank = -1;
  }
  if (op->def.infer == NULL) return NULL;
  if (op->def.flags & TFSDK_OP_CONSTANT) {
    for (uint32_t i = 0; i < attrs->n; i++)
      if (attrs->list[i].kind == TFSDK_ATTR_TENSOR) {
        tfsdk__tensor_fill_view(attrs->list[i].v.tensor, &constant);
        c.value = &constant_value;
      }
  }
  TFSDK_TRY(op->def.infer(&c));
  for (uint32_t i = 0; i < n_out; i++) {
    if (out[i].shape.rank > TFSDK_MAX_RANK)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                "an output of rank %d is more than a tensor can have (%d)",
                                out[i].shape.rank, TFSDK_MAX_RANK);
    for (int32_t k = 0; k < out[i].shape.rank; k++)
      if (out[i].shape.dim[k] < -1)
        return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "output shape %s has a negative extent",
                                  tfsdk_shape_text(&out[i].shape).s);
  }
  return NULL;
}
