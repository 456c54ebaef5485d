/* Reverse-mode differentiation, once for both modes.
 *
 * The engine sees a list of records in the order of execution; what they mean (nodes of a graph,
 * entries of a tape) is the caller's affair. It marks forwards what depends on the xs, then walks
 * backwards, summing the gradients that arrive at each value in the order in which its consumers
 * were made, and asks each op's own record to emit its gradient. A gradient of a value is dense, or
 * rows of it ("slices"), which stay rows until somebody needs them dense. */
#include "internal.h"

/* ------------------------------------------------------------------------------- a map from keys
 */

typedef struct contribution {
  tfsdk_val value;           /* dense; or none, and then: */
  tfsdk_val indices, values; /* rows */
  tfsdk_val like;            /* what the rows are of (its shape); may be none when dim0 is known */
  int64_t dim0;
} contribution;

/* What arrived at one value is a chain of arrivals, the latest first: the walk goes backwards, so this
 * is the order in which the consumers were made. */
typedef struct arrival {
  contribution c;
  uint32_t next; /* position in the pool + 1; 0: the last */
} arrival;

typedef struct cell {
  uint64_t key;
  uint32_t first;
  bool reached; /* depends on an x, or is one */
  bool source;  /* is one */
  bool stopped; /* the walk ends here: whatever made it gets nothing */
} cell;

typedef struct engine {
  tfsdk_runtime *rt;
  tfsdk_ctx *ctx;
  cell *table;
  size_t n, cap;
  TFSDK__VEC(arrival) pool;
  uint32_t unused;                 /* free ones, a chain too */
  TFSDK__VEC(contribution) slices; /* what tagged values stand for */
} engine;

#define SLICES_TAG ((uint64_t)1 << 63)

static size_t probe(const cell *table, size_t cap, uint64_t key) {
  size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (cap - 1);
  while (table[i].key != 0 && table[i].key != key) i = (i + 1) & (cap - 1);
  return i;
}

static cell *find(const engine *e, uint64_t key) {
  if (e->cap == 0 || key == 0) return NULL;
  cell *c = &e->table[probe(e->table, e->cap, key)];
  return c->key ? c : NULL;
}

static cell *get(engine *e, uint64_t key) {
  if (2 * (e->n + 1) > e->cap) {
    size_t cap = e->cap ? e->cap * 2 : 64;
    cell *bigger = tfsdk__zalloc(e->rt, cap * sizeof *bigger);
    if (bigger == NULL) return NULL;
    for (size_t i = 0; i < e->cap; i++)
      if (e->table[i].key != 0) bigger[probe(bigger, cap, e->table[i].key)] = e->table[i];
    tfsdk__free(e->rt, e->table);
    e->table = bigger;
    e->cap = cap;
  }
  cell *c = &e->table[probe(e->table, e->cap, key)];
  if (c->key == 0) {
    c->key = key;
    e->n++;
  }
  return c;
}

/* Define-by-run frees what a gradient has emitted as soon as the next is asked, so contributions
 * that wait hold their tensors themselves. In a graph values are edges: nothing to hold. */
static bool is_eager(const engine *e) {
  return tfsdk__context_of(e->ctx)->kind == TFSDK__CTX_EAGER;
}

static void hold(engine *e, const contribution *c) {
  if (!is_eager(e)) return;
  if (c->value.id != 0) tfsdk_tensor_retain(tfsdk_eager_tensor(c->value));
  if (c->indices.id != 0) tfsdk_tensor_retain(tfsdk_eager_tensor(c->indices));
  if (c->values.id != 0) tfsdk_tensor_retain(tfsdk_eager_tensor(c->values));
}

static void drop_all(engine *e, cell *c) {
  while (c->first != 0) {
    const uint32_t at = c->first;
    arrival *l = &e->pool.data[at - 1];
    if (is_eager(e)) {
      tfsdk_tensor_release(tfsdk_eager_tensor(l->c.value));
      tfsdk_tensor_release(tfsdk_eager_tensor(l->c.indices));
      tfsdk_tensor_release(tfsdk_eager_tensor(l->c.values));
    }
    c->first = l->next;
    l->next = e->unused;
    e->unused = at;
  }
}

static void deinit(engine *e) {
  for (size_t i = 0; i < e->cap; i++) drop_all(e, &e->table[i]);
  tfsdk__free(e->rt, e->table);
  tfsdk__free(e->rt, e->pool.data);
  tfsdk__free(e->rt, e->slices.data);
}

static tfsdk_status *put(engine *e, cell *to, const contribution *c) {
  uint32_t at = e->unused;
  if (at != 0) {
    e->unused = e->pool.data[at - 1].next;
  } else {
    if (!TFSDK__GROW(e->rt, &e->pool, 1)) return TFSDK__NOMEM(e->rt);
    at = (uint32_t)++e->pool.n;
  }
  hold(e, c);
  e->pool.data[at - 1] = (arrival){*c, to->first};
  to->first = at;
  return NULL;
}

static tfsdk_status *contribute(engine *e, uint64_t key, const contribution *c) {
  cell *to = get(e, key);
  return to != NULL ? put(e, to, c) : TFSDK__NOMEM(e->rt);
}

static const arrival *first_of(const engine *e, const cell *c) {
  return c->first != 0 ? &e->pool.data[c->first - 1] : NULL;
}
static const arrival *next_of(const engine *e, const arrival *l) {
  return l->next != 0 ? &e->pool.data[l->next - 1] : NULL;
}

/* ------------------------------------------------------------------------------- dense and rows */

static tfsdk_val row_count(engine *e, const contribution *c) {
  int32_t n = (int32_t)c->dim0;
  if (c->dim0 >= 0) return tfsdk_constant(e->ctx, TFSDK_INT32, 0, NULL, &n);
  int32_t zero = 0;
  tfsdk_val shape = tfsdk_emit1(e->ctx, TFSDK__OP_SHAPE, c->like);
  tfsdk_val at = tfsdk_constant(e->ctx, TFSDK_INT32, 0, NULL, &zero);
  return tfsdk_emit3(e->ctx, "GatherV2", shape, at, at);
}

static tfsdk_val densify(engine *e, const contribution *c) {
  if (c->value.id != 0 || c->values.id == 0) return c->value;
  return tfsdk_emit3(e->ctx, TFSDK__OP_SEGMENT_SUM, c->values, c->indices, row_count(e, c));
}

static contribution join_rows(engine *e, const cell *c, size_t n, tfsdk_val *in) {
  contribution out = first_of(e, c)->c;
  int32_t zero = 0;
  size_t i = 0;
  in[n] = tfsdk_constant(e->ctx, TFSDK_INT32, 0, NULL, &zero);
  for (const arrival *l = first_of(e, c); l != NULL; l = next_of(e, l)) in[i++] = l->c.values;
  out.values = tfsdk_emit(e->ctx, TFSDK__OP_CONCAT, in, n + 1, NULL, 0);
  i = 0;
  for (const arrival *l = first_of(e, c); l != NULL; l = next_of(e, l)) in[i++] = l->c.indices;
  out.indices = tfsdk_emit(e->ctx, TFSDK__OP_CONCAT, in, n + 1, NULL, 0);
  return out;
}

/* All of them are rows, with indices of one type. */
static bool all_rows(const engine *e, const cell *c) {
  const arrival *first = first_of(e, c);
  for (const arrival *l = first; l != NULL; l = next_of(e, l))
    if (l->c.values.id == 0 ||
        tfsdk_type(e->ctx, l->c.indices).dtype != tfsdk_type(e->ctx, first->c.indices).dtype)
      return false;
  return true;
}

/* The sum of all that arrived. */
static contribution total(engine *e, cell *c) {
  contribution sum = {{0}, {0}, {0}, {0}, -1};
  size_t n = 0, i = 0;
  if (c == NULL || c->first == 0) return sum;
  if (first_of(e, c)->next == 0) return first_of(e, c)->c;
  for (const arrival *l = first_of(e, c); l != NULL; l = next_of(e, l)) n++;
  tfsdk_val *in = tfsdk__alloc(e->rt, (n + 1) * sizeof *in);
  if (in == NULL) {
    tfsdk__context_stick(e->ctx, TFSDK__NOMEM(e->rt));
    return sum;
  }
  if (all_rows(e, c)) {
    sum = join_rows(e, c, n, in);
  } else {
    for (const arrival *l = first_of(e, c); l != NULL; l = next_of(e, l))
      in[i++] = densify(e, &l->c);
    sum.value = tfsdk_emit(e->ctx, TFSDK__OP_ADD_N, in, n, NULL, 0);
  }
  tfsdk__free(e->rt, in);
  hold(e, &sum);
  drop_all(e, c);
  arrival *only = &e->pool.data[e->unused - 1];
  c->first = e->unused;
  e->unused = only->next;
  *only = (arrival){sum, 0};
  return sum;
}

/* ---------------------------------------------------------------------------- one gradient call */

typedef struct call {
  tfsdk_gradcall base; /* first */
  engine *e;
  const tfsdk__record *r;
  contribution *dy; /* per output */
} call;

static call *call_of(tfsdk_gradcall *g) { return (call *)g; }

static tfsdk_val undeclared(call *c, const char *what, uint32_t i) {
  tfsdk__context_stick(
      c->e->ctx, TFSDK_FAIL(&c->base, FAILED_PRECONDITION,
                            "the gradient of %s reads %s %u, which its record does not declare",
                            c->r->op->def.name, what, i));
  return tfsdk_none();
}

static tfsdk_val api_input(tfsdk_gradcall *g, uint32_t i) {
  call *c = call_of(g);
  if (i >= c->r->n_in) return undeclared(c, "input", i);
  if (c->r->rule != NULL) return c->r->in[i];
  uint32_t a = tfsdk__op_arg_of(c->r->op, c->r->attrs, c->r->n_in, i);
  if (((c->r->op->def.grad_in | c->r->op->def.grad_shape) >> a & 1) == 0)
    return undeclared(c, "input", i);
  return c->r->in[i];
}

static tfsdk_val api_output(tfsdk_gradcall *g, uint32_t i) {
  call *c = call_of(g);
  uint32_t a = c->r->op->def.n_out == 1 ? 0 : i;
  if (c->r->rule != NULL && i < c->r->n_out) return c->r->out[i];
  if (i >= c->r->n_out || a >= 64 || (c->r->op->def.grad_out >> a & 1) == 0)
    return undeclared(c, "output", i);
  return c->r->out[i];
}

static tfsdk_val api_dy(tfsdk_gradcall *g, uint32_t i) {
  call *c = call_of(g);
  if (i >= c->r->n_out) return tfsdk_none();
  contribution *d = &c->dy[i];
  if (d->value.id == 0 && d->values.id != 0) d->value = densify(c->e, d);
  return d->value;
}

static tfsdk_val api_dy_or_slices(tfsdk_gradcall *g, uint32_t i) {
  call *c = call_of(g);
  if (i >= c->r->n_out) return tfsdk_none();
  if (c->dy[i].value.id != 0 || c->dy[i].values.id == 0) return c->dy[i].value;
  if (!TFSDK__GROW(c->e->rt, &c->e->slices, 1)) {
    tfsdk__context_stick(c->e->ctx, TFSDK__NOMEM(c->e->rt));
    return tfsdk_none();
  }
  tfsdk_val tagged = {SLICES_TAG | c->e->slices.n};
  c->e->slices.data[c->e->slices.n++] = c->dy[i];
  return tagged;
}

static int32_t api_wants(tfsdk_gradcall *g, uint32_t i) {
  call *c = call_of(g);
  cell *to = i < c->r->n_in ? find(c->e, c->r->in_key[i]) : NULL;
  return to != NULL && to->reached;
}

/* dtype and shape of a dense gradient must be the input's. A resource input stands for its
 * variable. */
static tfsdk_status *check_dx(call *c, uint32_t i, tfsdk_val dx) {
  if (c->r->in[i].id == 0) return NULL;
  if (is_eager(c->e)) { /* the usual case needs no words */
    const tfsdk_tensor *x = tfsdk_eager_tensor(c->r->in[i]), *d = tfsdk_eager_tensor(dx);
    if (x->dtype == d->dtype && x->rank == d->rank &&
        memcmp(x->dim, d->dim, x->rank * sizeof *x->dim) == 0)
      return NULL;
  }
  tfsdk_typed_shape want = tfsdk_type(c->e->ctx, c->r->in[i]), got = tfsdk_type(c->e->ctx, dx);
  bool ok = want.dtype == got.dtype || want.dtype == TFSDK_RESOURCE;
  if (ok && want.shape.rank >= 0 && got.shape.rank >= 0) {
    ok = want.shape.rank == got.shape.rank;
    for (int32_t k = 0; ok && k < want.shape.rank; k++)
      ok = want.shape.dim[k] < 0 || got.shape.dim[k] < 0 || want.shape.dim[k] == got.shape.dim[k];
  }
  if (ok) return NULL;
  return TFSDK_FAIL(&c->base, INTERNAL,
                    "the gradient of input %u of %s is %s %s; the input is %s %s", i,
                    c->r->op->def.name, tfsdk_dtype_name(got.dtype), tfsdk_shape_text(&got.shape).s,
                    tfsdk_dtype_name(want.dtype), tfsdk_shape_text(&want.shape).s);
}

static tfsdk_status *api_set_dx(tfsdk_gradcall *g, uint32_t i, tfsdk_val dx) {
  call *c = call_of(g);
  contribution k = {dx, {0}, {0}, {0}, -1};
  if (tfsdk__context_has_error(c->e->ctx)) return tfsdk__context_take_error(c->e->ctx);
  if (i >= c->r->n_in) return TFSDK_FAIL(g, INTERNAL, "%s has no input %u", c->r->op->def.name, i);
  if (dx.id == 0 || !api_wants(g, i)) return NULL;
  if (dx.id & SLICES_TAG) {
    k = c->e->slices.data[dx.id & ~SLICES_TAG];
    if (c->r->in[i].id != 0) k.like = c->r->in[i];
  } else {
    TFSDK_TRY(check_dx(c, i, dx));
  }
  return contribute(c->e, c->r->in_key[i], &k);
}

static tfsdk_status *api_set_dx_slices(tfsdk_gradcall *g, uint32_t i, tfsdk_val indices,
                                       tfsdk_val values) {
  call *c = call_of(g);
  contribution k = {{0}, indices, values, {0}, -1};
  if (tfsdk__context_has_error(c->e->ctx)) return tfsdk__context_take_error(c->e->ctx);
  if (!api_wants(g, i) || values.id == 0) return NULL;
  k.like = c->r->in[i];
  if (k.like.id != 0) {
    tfsdk_typed_shape t = tfsdk_type(c->e->ctx, k.like);
    if (t.shape.rank > 0) k.dim0 = t.shape.dim[0];
  }
  if (k.like.id == 0)
    return TFSDK_FAIL(g, INTERNAL,
                      "%s gives rows of an input that it does not declare in grad_shape",
                      c->r->op->def.name);
  return contribute(c->e, c->r->in_key[i], &k);
}

static const tfsdk_grad_api grad_api = {
    sizeof(tfsdk_grad_api), 0,         api_input,  api_output,       api_dy,
    api_dy_or_slices,       api_wants, api_set_dx, api_set_dx_slices};

/* -------------------------------------------------------------------------------- the two walks */

static int32_t arg_dtype(const tfsdk__argtype *t, const tfsdk__attrlist *attrs, uint32_t member) {
  if (t->type_attr < 0) return t->dtype;
  const tfsdk_attrval *a = &attrs->list[t->type_attr];
  if (a->kind == TFSDK_ATTR_LIST_DTYPE) return member < a->n ? (int32_t)a->v.ints[member] : 0;
  return (int32_t)a->v.i;
}

static bool carries_gradient(int32_t dtype) {
  char k = tfsdk_dtype_kind(dtype);
  return k == 'f' || k == 'c' || k == 'r';
}

/* Marks what depends on the xs. */
static tfsdk_status *mark_forward(engine *e, const tfsdk__record *r) {
  bool depends = false;
  uint32_t at = 0;
  for (uint32_t a = 0; a < r->op->def.n_in && !depends; a++) {
    uint32_t n = r->op->simple ? 1 : tfsdk__op_arg_count(r->op, r->attrs, r->n_in, a);
    bool differentiable = r->rule != NULL || (r->op->def.in[a].flags &
                                              (TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY)) == 0;
    for (uint32_t k = 0; k < n; k++, at++) {
      cell *c = differentiable && carries_gradient(arg_dtype(&r->op->in[a], r->attrs, k))
                    ? find(e, r->in_key[at])
                    : NULL;
      depends = depends || (c != NULL && c->reached);
    }
  }
  if (!depends) return NULL;
  for (uint32_t o = 0; o < r->n_out; o++) {
    uint32_t a = r->op->def.n_out == 1 || o < r->op->def.n_out ? (r->op->def.n_out == 1 ? 0 : o)
                                                               : r->op->def.n_out - 1u;
    if (!carries_gradient(arg_dtype(&r->op->out[a], r->attrs,
                                    r->op->out[a].kind == TFSDK__TYPE_LIST_TYPES ? o : 0)))
      continue;
    cell *c = get(e, r->out_key[o]);
    if (c == NULL) return TFSDK__NOMEM(e->rt);
    c->reached = true;
  }
  return NULL;
}

static tfsdk_status *no_gradient(const tfsdk__record *r, const char *y) {
  return tfsdk__status_make(
      TFSDK_FAILED_PRECONDITION,
      "no gradient is defined for %s%s%s%s of plugin %s (%s), and it lies on the way from %s to "
      "the sources",
      r->op->def.name, r->name ? " '" : "", r->name ? r->name : "", r->name ? "'" : "",
      r->op->plugin->manifest.name,
      r->op->def.no_grad_reason ? r->op->def.no_grad_reason : "no reason given", y);
}

/* A rule is code of the user: filters hold for what it emits. */
static tfsdk_status *follow_rule(engine *e, tfsdk__rule *rule, tfsdk_gradcall *g) {
  tfsdk__context *c = tfsdk__context_of(e->ctx);
  const bool off = c->filters_off;
  c->filters_off = false;
  tfsdk_status *s = rule->def.grad(rule->def.user, e->ctx, g);
  c->filters_off = off;
  return s;
}

static tfsdk_status *walk_back(engine *e, const tfsdk__record *r, const char *y) {
  contribution room[8], *dy = room;
  bool any = false, wanted = false;
  for (uint32_t o = 0; o < r->n_out && !any; o++) {
    cell *c = find(e, r->out_key[o]);
    any = c != NULL && c->first != 0 && c->reached && !c->stopped;
  }
  for (uint32_t i = 0; any && i < r->n_in && !wanted; i++) {
    cell *c = find(e, r->in_key[i]);
    wanted = c != NULL && c->reached;
  }
  if (!any || !wanted) return NULL;
  if (!r->op->differentiable && r->rule == NULL) return no_gradient(r, y);
  if (r->n_out > 8 && (dy = tfsdk__alloc(e->rt, r->n_out * sizeof *dy)) == NULL)
    return TFSDK__NOMEM(e->rt);
  size_t mark = is_eager(e) ? tfsdk_eager_mark(e->rt) : 0;
  for (uint32_t o = 0; o < r->n_out; o++) {
    cell *c = find(e, r->out_key[o]);
    dy[o] = total(e, c != NULL && c->stopped ? NULL : c);
  }
  call c = {{&r->op->plugin->host, &grad_api, &r->op->def, e->ctx, tfsdk__attrlist_view(r->attrs),
             r->n_in, r->n_out},
            e,
            r,
            dy};
  tfsdk_status *s =
      r->rule != NULL ? follow_rule(e, r->rule, &c.base) : r->op->def.grad(e->ctx, &c.base);
  if (s == NULL) s = tfsdk__context_take_error(e->ctx);
  if (dy != room) tfsdk__free(e->rt, dy);
  for (uint32_t o = 0; o < r->n_out; o++) { /* nobody asks for these again */
    cell *done = find(e, r->out_key[o]);
    if (done != NULL && !done->source) drop_all(e, done);
  }
  e->slices.n = 0;
  if (is_eager(e)) tfsdk_eager_release_vals(e->rt, mark);
  if (s != NULL) {
    tfsdk__status_prefix(s, "in the gradient of %s%s%s%s", r->op->def.name, r->name ? " '" : "",
                         r->name ? r->name : "", r->name ? "'" : "");
    if (r->where != NULL) tfsdk__status_add(s, "where", "%s", r->where);
  }
  return s;
}

static tfsdk_status *start(engine *e, const uint64_t *y_key, const tfsdk_val *y,
                           const tfsdk_val *grad_y, size_t n_y) {
  for (size_t i = 0; i < n_y; i++) {
    contribution c = {{0}, {0}, {0}, {0}, -1};
    tfsdk_typed_shape t = tfsdk_type(e->ctx, y[i]);
    if (!carries_gradient(t.dtype))
      return tfsdk__status_make(
          TFSDK_INVALID_ARGUMENT,
          "the gradient of a value of type %s is asked for; it must be a floating one",
          tfsdk_dtype_name(t.dtype));
    if (grad_y != NULL && grad_y[i].id != 0) {
      tfsdk_typed_shape g = tfsdk_type(e->ctx, grad_y[i]);
      bool ok = g.dtype == t.dtype &&
                (g.shape.rank < 0 || t.shape.rank < 0 || g.shape.rank == t.shape.rank);
      for (int32_t k = 0; ok && g.shape.rank > 0 && t.shape.rank > 0 && k < g.shape.rank; k++)
        ok = g.shape.dim[k] < 0 || t.shape.dim[k] < 0 || g.shape.dim[k] == t.shape.dim[k];
      if (!ok)
        return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                  "the gradient given for y %zu is %s %s; y is %s %s", i,
                                  tfsdk_dtype_name(g.dtype), tfsdk_shape_text(&g.shape).s,
                                  tfsdk_dtype_name(t.dtype), tfsdk_shape_text(&t.shape).s);
      c.value = grad_y[i];
    } else {
      c.value = tfsdk_emit1(e->ctx, TFSDK__OP_ONES_LIKE, y[i]);
    }
    TFSDK_TRY(tfsdk__context_take_error(e->ctx));
    TFSDK_TRY(contribute(e, y_key[i], &c));
  }
  return NULL;
}

/* Results live as other eager values do: in the context's pool. */
static tfsdk_status *lend_to_pool(engine *e, const contribution *c) {
  const tfsdk_val vals[3] = {c->value, c->indices, c->values};
  for (int i = 0; i < 3; i++)
    if (vals[i].id != 0)
      TFSDK_TRY(tfsdk__eager_keep(e->rt, tfsdk_tensor_retain(tfsdk_eager_tensor(vals[i]))));
  return NULL;
}

/* The tensors of a long tape have left the cache when the walk comes to them. */
enum { AHEAD = 3 };
static void fetch_values(const tfsdk__record *r) {
  for (uint32_t i = 0; i < r->n_in; i++)
    if (r->in[i].id != 0) __builtin_prefetch(tfsdk_eager_tensor(r->in[i]));
  for (uint32_t i = 0; i < r->n_out; i++)
    if (r->out[i].id != 0) __builtin_prefetch(tfsdk_eager_tensor(r->out[i]));
}

static tfsdk_status *run(engine *e, const tfsdk__record *records, size_t n_records,
                         const uint64_t *y_key, const tfsdk_val *y, const tfsdk_val *grad_y,
                         size_t n_y, const uint64_t *x_key, size_t n_x, const uint64_t *stop,
                         size_t n_stop, tfsdk_gradient *out) {
  const char *y_name = "y";
  for (size_t i = 0; i < n_x; i++) {
    cell *c = get(e, x_key[i]);
    if (c == NULL) return TFSDK__NOMEM(e->rt);
    c->reached = c->source = true;
  }
  for (size_t k = 0; k < n_stop; k++) {
    cell *c = get(e, stop[k]);
    if (c == NULL) return TFSDK__NOMEM(e->rt);
    c->stopped = true;
  }
  for (size_t i = 0; i < n_records; i++) {
    TFSDK_TRY(mark_forward(e, &records[i]));
    for (size_t k = 0; k < n_stop; k++) { /* what only a stopped value carries on does not count */
      cell *c = find(e, stop[k]);
      bool is_x = false;
      for (size_t j = 0; j < n_x; j++) is_x = is_x || x_key[j] == stop[k];
      if (c != NULL && !is_x) c->reached = false;
    }
    for (uint32_t o = 0; o < records[i].n_out; o++)
      if (n_y > 0 && records[i].out_key[o] == y_key[0] && records[i].name != NULL)
        y_name = records[i].name;
  }
  TFSDK_TRY(start(e, y_key, y, grad_y, n_y));
  for (size_t i = n_records; i-- > 0;) {
    if (i >= AHEAD && is_eager(e)) fetch_values(&records[i - AHEAD]);
    TFSDK_TRY(walk_back(e, &records[i], y_name));
  }
  for (size_t i = 0; i < n_x; i++) {
    contribution c = total(e, find(e, x_key[i]));
    if (is_eager(e)) TFSDK_TRY(lend_to_pool(e, &c));
    memset(&out[i], 0, sizeof out[i]);
    if (c.value.id == 0 && c.values.id != 0) {
      out[i].indices = c.indices;
      out[i].values = c.values;
      out[i].dense_shape = row_count(e, &c);
    } else {
      out[i].value = c.value;
    }
    TFSDK_TRY(tfsdk__context_take_error(e->ctx));
  }
  return NULL;
}

tfsdk_status *tfsdk__backprop(tfsdk_ctx *c, const tfsdk__record *records, size_t n_records,
                              const uint64_t *y_key, const tfsdk_val *y, const tfsdk_val *grad_y,
                              size_t n_y, const uint64_t *x_key, size_t n_x, const uint64_t *stop,
                              size_t n_stop, tfsdk_gradient *out) {
  engine e = {.rt = tfsdk__context_of(c)->rt, .ctx = c};
  const bool off = tfsdk__context_of(c)->filters_off;
  tfsdk__context_of(c)->filters_off = true;
  tfsdk_status *s = tfsdk__context_take_error(c);
  if (s == NULL)
    s = run(&e, records, n_records, y_key, y, grad_y, n_y, x_key, n_x, stop, n_stop, out);
  tfsdk__context_of(c)->filters_off = off;
  deinit(&e);
  return s;
}

tfsdk_status *tfsdk_gradient_densify(tfsdk_ctx *c, tfsdk_gradient *g) {
  if (g->value.id != 0 || g->values.id == 0) return NULL;
  g->value = tfsdk_emit3(c, TFSDK__OP_SEGMENT_SUM, g->values, g->indices, g->dense_shape);
  TFSDK_TRY(tfsdk__context_take_error(c));
  g->indices = g->values = g->dense_shape = tfsdk_none();
  return NULL;
}

/* ----------------------------------------------------------------------------------- of a graph */

static void mark_ancestors(const tfsdk_graph *g, const tfsdk_val *ys, size_t n_ys,
                           unsigned char *needed) {
  for (size_t i = 0; i < n_ys; i++) needed[tfsdk__val_node(ys[i])] = 1;
  for (size_t i = g->nodes.n; i-- > 0;) {
    const tfsdk__node *n = g->nodes.data[i];
    for (uint32_t k = 0; needed[i] && k < n->n_in; k++)
      if (n->in[k].id != 0) needed[tfsdk__val_node(n->in[k])] = 1;
  }
}

static tfsdk_status *check_vals(tfsdk_graph *g, const tfsdk_val *v, size_t n, const char *what) {
  for (size_t i = 0; i < n; i++) {
    bool ok = v[i].id != 0 && tfsdk__val_node(v[i]) < g->nodes.n &&
              tfsdk__val_index(v[i]) < g->nodes.data[tfsdk__val_node(v[i])]->n_out;
    if (!ok)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "%s %zu is not a value of this graph", what,
                                i);
  }
  return NULL;
}

tfsdk_status *tfsdk_gradients(tfsdk_graph *g, const tfsdk_val *ys, size_t n_ys, const tfsdk_val *xs,
                              size_t n_xs, const tfsdk_val *grad_ys, const tfsdk_val *stop,
                              size_t n_stop, tfsdk_gradient *out) {
  tfsdk_runtime *rt = g->ctx.rt;
  TFSDK_TRY(check_vals(g, ys, n_ys, "y"));
  TFSDK_TRY(check_vals(g, xs, n_xs, "x"));
  size_t n = g->nodes.n, n_out = 0, at = 0, k = 0;
  unsigned char *needed = tfsdk__zalloc(rt, n + 1);
  if (needed == NULL) return TFSDK__NOMEM(rt);
  mark_ancestors(g, ys, n_ys, needed);
  for (size_t i = 0; i < n; i++) n_out += needed[i] ? g->nodes.data[i]->n_out : 0;
  tfsdk__record *records = tfsdk__alloc(rt, (n + 1) * sizeof *records);
  tfsdk_val *outs = tfsdk__alloc(rt, (n_out + 1) * sizeof *outs);
  tfsdk_status *s = records && outs ? NULL : TFSDK__NOMEM(rt);
  for (size_t i = 0; s == NULL && i < n; i++) {
    const tfsdk__node *node = g->nodes.data[i];
    if (!needed[i]) continue;
    tfsdk_val *o = outs + k;
    for (uint32_t j = 0; j < node->n_out; j++) o[j] = tfsdk__val(node->id, j);
    k += node->n_out;
    /* a tfsdk_val is its id: edges are their own keys */
    records[at++] =
        (tfsdk__record){node->op, node->attrs, node->n_in, node->n_out, &node->in[0].id, &o[0].id,
                        node->in, o,           node->name, node->where, node->rule};
  }
  if (s == NULL) s = tfsdk_ctx_push_name_scope(&g->ctx.base, "gradients");
  if (s == NULL) {
    s = tfsdk__backprop(&g->ctx.base, records, at, &ys[0].id, ys, grad_ys, n_ys, &xs[0].id, n_xs,
                        n_stop ? &stop[0].id : NULL, n_stop, out);
    tfsdk_ctx_pop_name_scope(&g->ctx.base);
  }
  tfsdk__free(rt, outs);
  tfsdk__free(rt, records);
  tfsdk__free(rt, needed);
  return s;
}
