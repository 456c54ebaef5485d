/* Running one op: bringing the inputs to its kernel's device, giving outputs their memory,
 * computing. Graphs and define-by-run both end here. */
#include "group.h"
#include "run.h"

#define SMALL 12

/* The call of one op at a time. */
typedef struct call {
  tfsdk__run run; /* first */
  const tfsdk__execution *e;
  tfsdk_typed_shape *shape;
} call;

static tfsdk__run *run_of(tfsdk_run *r) { return (tfsdk__run *)r; }

static bool host_output(const tfsdk__run *r, uint32_t o) {
  const tfsdk__bound *b = r->bound;
  uint32_t a = b->op->def.n_out == 1 ? 0 : o < b->op->def.n_out ? o : b->op->def.n_out - 1u;
  return (b->op->def.out[a].flags & TFSDK_ARG_HOST) ||
         (b->kernel && a < 64 && (b->kernel->def.host_out >> a & 1));
}

static void set_out(tfsdk__run *r, uint32_t i, tfsdk_tensor *take) {
  tfsdk_tensor_release(r->out[i]);
  r->out[i] = take;
  tfsdk__tensor_fill_view(take, &r->base.out[i]);
}

static tfsdk_status *bad_output(tfsdk_run *r, uint32_t i) {
  return i < r->n_out ? NULL
                      : TFSDK_FAIL(r, INTERNAL, "the kernel set output %u of %u", i, r->n_out);
}

static tfsdk_status *check_shape(tfsdk__run *r, uint32_t i, uint32_t rank, const int64_t *dim) {
  tfsdk_shape given = tfsdk_shape_scalar();
  const tfsdk_shape *want = &r->shape[i].shape;
  bool ok = rank <= TFSDK_MAX_RANK && (want->rank < 0 || want->rank == (int32_t)rank);
  given.rank = rank <= TFSDK_MAX_RANK ? (int32_t)rank : 0;
  for (uint32_t k = 0; ok && k < rank; k++) {
    given.dim[k] = dim[k];
    ok = want->rank < 0 || want->dim[k] < 0 || want->dim[k] == dim[k];
  }
  if (ok) return NULL;
  return TFSDK_FAIL(&r->base, INTERNAL,
                    "the kernel gave output %u the shape %s; the shape rule says %s", i,
                    tfsdk_shape_text(&given).s, tfsdk_shape_text(want).s);
}

static tfsdk_status *api_alloc_out(tfsdk_run *base, uint32_t i, uint32_t rank, const int64_t *dim) {
  tfsdk__run *r = run_of(base);
  tfsdk_tensor *t;
  TFSDK_TRY(bad_output(base, i));
  TFSDK_TRY(check_shape(r, i, rank, dim));
  if (r->planned) return NULL; /* it has its memory */
  tfsdk__device *d = host_output(r, i) ? tfsdk__device_host(r->rt) : r->device;
  TFSDK_TRY(tfsdk__tensor_alloc(d, r->shape[i].dtype, rank, dim, &t));
  set_out(r, i, t);
  return NULL;
}

static tfsdk_status *api_alloc_strings(tfsdk_run *base, uint32_t i, uint32_t rank,
                                       const int64_t *dim, uint64_t bytes) {
  tfsdk__run *r = run_of(base);
  tfsdk_tensor *t;
  TFSDK_TRY(bad_output(base, i));
  TFSDK_TRY(check_shape(r, i, rank, dim));
  TFSDK_TRY(tfsdk__tensor_alloc_strings(r->rt, rank, dim, bytes, &t));
  set_out(r, i, t);
  return NULL;
}

/* A plan has given the output memory of its own: passing a tensor on is a copy there. */
static tfsdk_status *copy_out(tfsdk__run *r, const void *data, uint64_t bytes, uint32_t o) {
  tfsdk_view *v = &r->base.out[o];
  if (bytes != v->byte_size)
    return TFSDK_FAIL(&r->base, INTERNAL, "%llu bytes are passed on as output %u, which has %llu",
                      (unsigned long long)bytes, o, (unsigned long long)v->byte_size);
  if (bytes > 0 && v->data != data) memmove(v->data, data, bytes);
  return NULL;
}

/* An alias has an id of its own, so that tapes can tell it from its source. */
static tfsdk_status *alias_out(tfsdk__run *r, tfsdk_tensor *src, uint32_t o) {
  const tfsdk_shape *s = &r->shape[o].shape;
  tfsdk_tensor *t;
  if (r->planned) return copy_out(r, src->data, src->byte_size, o);
  bool whole = tfsdk_shape_whole(s) && tfsdk_shape_elements(s) == src->n_elem;
  TFSDK_TRY(tfsdk__tensor_alias(src, whole ? (uint32_t)s->rank : src->rank,
                                whole ? s->dim : src->dim, &t));
  set_out(r, o, t);
  return NULL;
}

static tfsdk_status *api_forward(tfsdk_run *base, uint32_t i, uint32_t o) {
  tfsdk__run *r = run_of(base);
  TFSDK_TRY(bad_output(base, o));
  if (r->planned) return copy_out(r, base->in[i].data, base->in[i].byte_size, o);
  return alias_out(r, r->in[i], o);
}

static tfsdk_status *api_forward_attr(tfsdk_run *base, const tfsdk_attrval *a, uint32_t o) {
  tfsdk__run *r = run_of(base);
  TFSDK_TRY(bad_output(base, o));
  return alias_out(r, (tfsdk_tensor *)(uintptr_t)a->v.tensor, o);
}

static tfsdk_status *api_workspace(tfsdk_run *base, size_t bytes, void **out) {
  tfsdk__run *r = run_of(base);
  if (r->n_held == TFSDK__RUN_SLOTS)
    return TFSDK_FAIL(base, INTERNAL, "the kernel asks for more than 8 workspaces");
  tfsdk__buffer **b = &r->held[r->n_held];
  if (r->workspaces != NULL) {
    b = &r->workspaces->kept[r->n_held];
    if (*b != NULL && ((*b)->bytes < bytes || (*b)->device != r->device)) {
      tfsdk__buffer_release(*b);
      *b = NULL;
    }
  }
  if (r->workspaces == NULL || *b == NULL)
    TFSDK_TRY(tfsdk__buffer_create(r->device, bytes ? bytes : 1, b));
  r->n_held++;
  *out = (*b)->data;
  return NULL;
}

static void api_par_for(tfsdk_run *base, int64_t n, int64_t grain, tfsdk_range_fn *fn, void *user) {
  tfsdk__run *r = run_of(base);
  if (n <= 0) return;
  if (n > grain && r->device->driver != NULL && r->device->driver->def.par_for != NULL)
    r->device->driver->def.par_for(r->device->dev, n, grain < 1 ? 1 : grain, fn, user);
  else
    fn(user, 0, n);
}

static tfsdk_status *api_rng(tfsdk_run *base, uint64_t blocks, uint32_t key[2], uint64_t *counter) {
  tfsdk__stream_state *s = run_of(base)->random;
  if (s == NULL)
    return TFSDK_FAIL(base, INTERNAL, "an op that draws random numbers lacks the RANDOM flag");
  key[0] = s->key[0];
  key[1] = s->key[1];
  *counter = s->counter;
  s->counter += blocks;
  return NULL;
}

static int32_t api_cancelled(tfsdk_run *base) {
  (void)base;
  return 0;
}

static tfsdk_status *cell_of(tfsdk_run *base, uint32_t i, tfsdk__cell **out) {
  tfsdk__run *r = run_of(base);
  *out = i < base->n_in && r->in[i] != NULL ? r->in[i]->cell : NULL;
  return *out ? NULL : TFSDK_FAIL(base, INVALID_ARGUMENT, "input %u is not a variable", i);
}

static tfsdk_status *lend(tfsdk__run *r, tfsdk_tensor *take) {
  if (r->n_lent == TFSDK__RUN_SLOTS) {
    tfsdk_tensor_release(take);
    return TFSDK_FAIL(&r->base, INTERNAL, "the kernel reads more than 8 variables");
  }
  r->lent[r->n_lent++] = take;
  return NULL;
}

static tfsdk_status *api_var_view(tfsdk_run *base, uint32_t i, tfsdk_view *out) {
  tfsdk__run *r = run_of(base);
  tfsdk__cell *c;
  tfsdk_tensor *t, *here;
  TFSDK_TRY(cell_of(base, i, &c));
  TFSDK_TRY(tfsdk__cell_read(c, &t));
  tfsdk_status *s = tfsdk__tensor_on(t, r->device, &here);
  tfsdk_tensor_release(t);
  if (s != NULL) return s;
  TFSDK_TRY(lend(r, here));
  tfsdk__tensor_fill_view(here, out);
  return NULL;
}

/* Copy on write: in place only while the cell alone holds the memory. */
static tfsdk_status *api_var_mutable(tfsdk_run *base, uint32_t i, tfsdk_view *out) {
  tfsdk__run *r = run_of(base);
  tfsdk__cell *c;
  tfsdk_status *s = NULL;
  TFSDK_TRY(cell_of(base, i, &c));
  pthread_mutex_lock(&c->lock);
  tfsdk_tensor *t = c->value, *fresh = NULL;
  if (t == NULL)
    s = tfsdk__status_make(TFSDK_FAILED_PRECONDITION,
                           "variable '%s' has no value yet: run its initializer first", c->name);
  else if (t->byte_size > 0) {
    tfsdk__device *from = tfsdk__tensor_where(t);
    bool here = from == r->device || (from->host_memory && r->device->host_memory);
    bool alone = atomic_load(&t->refs) == 1 && atomic_load(&t->buffer->refs) == 1 &&
                 t->buffer->release == NULL;
    if (!here)
      s = tfsdk__tensor_on(t, r->device, &fresh);
    else if (!alone) {
      s = tfsdk__tensor_alloc(from, t->dtype, t->rank, t->dim, &fresh);
      if (s == NULL && from->host_memory)
        memcpy(fresh->data, t->data, t->byte_size);
      else if (s == NULL)
        s = from->driver->def.copy(from->dev, NULL, fresh->data, TFSDK_HEAP_DEVICE, t->data,
                                   TFSDK_HEAP_DEVICE, t->byte_size);
      if (s != NULL) tfsdk_tensor_release(fresh);
    }
    if (s == NULL && fresh != NULL) {
      c->value = fresh;
      tfsdk_tensor_release(t);
      t = fresh;
    }
    if (s == NULL)
      tfsdk_tensor_release(atomic_exchange(&t->host, NULL)); /* a stale copy on the host */
  }
  if (s == NULL) {
    if (t->buffer != NULL) tfsdk__buffer_changed(t->buffer);
    tfsdk__tensor_fill_view(t, out);
  }
  pthread_mutex_unlock(&c->lock);
  return s;
}

static tfsdk_status *api_var_read(tfsdk_run *base, uint32_t i, uint32_t o) {
  tfsdk__run *r = run_of(base);
  tfsdk__cell *c;
  tfsdk_tensor *t, *alias;
  TFSDK_TRY(cell_of(base, i, &c));
  TFSDK_TRY(bad_output(base, o));
  if (c->dtype != r->shape[o].dtype)
    return TFSDK_FAIL(base, INVALID_ARGUMENT, "variable '%s' holds %s, but output %u is %s",
                      c->name, tfsdk_dtype_name(c->dtype), o, tfsdk_dtype_name(r->shape[o].dtype));
  TFSDK_TRY(tfsdk__cell_read(c, &t));
  tfsdk_status *s = r->planned ? copy_out(r, t->data, t->byte_size, o)
                               : tfsdk__tensor_alias(t, t->rank, t->dim, &alias);
  tfsdk_tensor_release(t);
  if (s == NULL && !r->planned) set_out(r, o, alias);
  return s;
}

static tfsdk_status *api_var_assign(tfsdk_run *base, uint32_t i, uint32_t value) {
  tfsdk__run *r = run_of(base);
  tfsdk__cell *c;
  tfsdk_tensor *alias;
  TFSDK_TRY(cell_of(base, i, &c));
  tfsdk_tensor *t = r->in[value];
  const tfsdk_view *v = &base->in[value];
  if (t != NULL)
    TFSDK_TRY(tfsdk__tensor_alias(t, t->rank, t->dim, &alias));
  else { /* memory of the plan */
    TFSDK_TRY(tfsdk__tensor_alloc(r->device, v->dtype, v->rank, v->dim, &alias));
    if (v->byte_size > 0) memcpy(alias->data, v->data, v->byte_size);
  }
  tfsdk_status *s = tfsdk__cell_assign(c, alias);
  tfsdk_tensor_release(alias);
  return s;
}

static int32_t api_var_initialized(tfsdk_run *base, uint32_t i) {
  tfsdk__cell *c;
  tfsdk_status *s = cell_of(base, i, &c);
  tfsdk_status_release(s);
  if (s != NULL) return 0;
  pthread_mutex_lock(&c->lock);
  int32_t yes = c->value != NULL;
  pthread_mutex_unlock(&c->lock);
  return yes;
}

static tfsdk_status *api_var_handle(tfsdk_run *base, const char *name, int32_t dtype,
                                    const tfsdk_shape *shape, uint32_t o) {
  tfsdk__run *r = run_of(base);
  tfsdk__cell *c;
  tfsdk_tensor *t;
  if (r->cells == NULL) return TFSDK_FAIL(base, INTERNAL, "variables are not available here");
  TFSDK_TRY(bad_output(base, o));
  TFSDK_TRY(tfsdk__cells_get(r->rt, r->cells, name, dtype, shape, &c));
  TFSDK_TRY(tfsdk__tensor_resource(c, &t));
  set_out(r, o, t);
  return NULL;
}

static void api_print(tfsdk_run *base, const char *line) {
  tfsdk_runtime *rt = run_of(base)->rt;
  if (rt->options.log != NULL)
    rt->options.log(rt->options.log_user, TFSDK_LOG_NONE, line);
  else
    fprintf(stderr, "%s\n", line);
}

static const char *api_node_name(tfsdk_run *base) {
  const char *name = run_of(base)->node_name;
  return name != NULL && *name ? name : base->op->name;
}

static void api_finish(tfsdk_run *base, int64_t begin, int64_t end) {
  const tfsdk__group *g = run_of(base)->follows;
  if (g != NULL) tfsdk__group_rows(g, begin, end);
}

static const void *api_supply(tfsdk_run *base, int64_t begin, int64_t end, void *room) {
  const tfsdk__group *g = run_of(base)->supplies;
  if (g != NULL) return tfsdk__group_supply(g, begin, end, room);
  const tfsdk_view *x = &base->in[0]; /* it lies in memory */
  return (const char *)x->data + begin * (int64_t)tfsdk_dtype_size(x->dtype);
}

const tfsdk_run_api tfsdk__run_api = {sizeof(tfsdk_run_api),
                                      0,
                                      api_alloc_out,
                                      api_alloc_strings,
                                      api_forward,
                                      api_forward_attr,
                                      api_workspace,
                                      api_par_for,
                                      api_rng,
                                      api_cancelled,
                                      api_var_view,
                                      api_var_mutable,
                                      api_var_read,
                                      api_var_assign,
                                      api_var_initialized,
                                      api_var_handle,
                                      api_print,
                                      api_node_name,
                                      api_finish,
                                      api_supply};

/* ------------------------------------------------------------------- what every call consists of */

void tfsdk__run_init(tfsdk__run *r, tfsdk_runtime *rt, tfsdk__bound *b,
                     const tfsdk__attrlist *attrs, const char *node_name, uint32_t n_in,
                     uint32_t n_out) {
  const tfsdk__kernel *k = b->kernel;
  memset(r, 0, sizeof *r);
  r->base.host = k && k->plugin ? &k->plugin->host : &b->op->plugin->host;
  r->base.api = &tfsdk__run_api;
  r->base.op = &b->op->def;
  r->base.n_in = n_in;
  r->base.n_out = n_out;
  r->base.attr = tfsdk__attrlist_view(attrs);
  r->base.device = b->device->driver != NULL ? b->device->dev : NULL;
  r->rt = rt;
  r->bound = b;
  r->device = b->device;
  r->node_name = node_name;
}

void tfsdk__run_end(tfsdk__run *r) {
  for (uint32_t i = 0; i < r->n_lent; i++) tfsdk_tensor_release(r->lent[i]);
  if (r->workspaces == NULL)
    for (uint32_t i = 0; i < r->n_held; i++) tfsdk__buffer_release(r->held[i]);
  r->n_lent = r->n_held = 0;
}

static uint64_t hash_shapes(const tfsdk_view *v, uint32_t n, uint64_t h) {
  for (uint32_t i = 0; i < n; i++)
    h = tfsdk__hash(v[i].dim, v[i].rank * sizeof(int64_t), h + v[i].rank);
  return h;
}

/* Outputs count as well: the value of an input may tell their shape. */
tfsdk_status *tfsdk__run_compute(tfsdk__run *r) {
  tfsdk__bound *b = r->bound;
  if (b->kernel->def.prepare != NULL && !(r->known_shapes && b->prepared != 0)) {
    uint64_t h = hash_shapes(r->base.out, r->base.n_out, hash_shapes(r->base.in, r->base.n_in, 1));
    if (h == 0) h = 1;
    if (b->prepared != h) {
      b->prepared = 0; /* a kernel that fails here must be asked again */
      TFSDK_TRY(b->kernel->def.prepare(b->state, &r->base));
      b->prepared = h;
    }
  }
  return b->kernel->def.compute(b->state, &r->base);
}

void tfsdk__run_add_facts(tfsdk_status *s, const tfsdk__run *r) {
  tfsdk__buf b = {0};
  for (uint32_t i = 0; i < r->base.n_in; i++) {
    const tfsdk_view *v = &r->base.in[i];
    if (v->flags & TFSDK_VIEW_ABSENT) {
      tfsdk__buf_add(&b, "%s-", i ? ", " : "");
      continue;
    }
    tfsdk_shape shape = tfsdk_shape_of_view(v);
    tfsdk__buf_add(&b, "%s%s%s", i ? ", " : "", tfsdk_dtype_name(v->dtype),
                   tfsdk_shape_text(&shape).s);
  }
  tfsdk__status_add(s, "op", "%s", r->bound->op->def.name);
  if (r->node_name != NULL && *r->node_name) tfsdk__status_add(s, "node", "%s", r->node_name);
  if (b.n) tfsdk__status_add(s, "inputs", "%s", b.s);
  tfsdk__buf_deinit(&b);
  if (r->bound->kernel != NULL)
    tfsdk__status_add(s, "device", "%s (kernel %s)", r->device->name, r->bound->kernel->def.label);
}

/* ------------------------------------------------------------------------------ one op at a time */

/* Whether input i is wanted in host memory, or only its shape. */
static uint32_t input_flags(const tfsdk__execution *e, uint32_t i) {
  const tfsdk__bound *b = e->bound;
  uint32_t a = tfsdk__op_arg_of(b->op, e->attrs, e->n_in, i);
  uint32_t flags = b->op->def.in[a].flags;
  if (b->kernel != NULL && a < 64 && (b->kernel->def.host_in >> a & 1)) flags |= TFSDK_ARG_HOST;
  return flags;
}

static void view_inputs(const tfsdk__execution *e, tfsdk_view *views) {
  for (uint32_t i = 0; i < e->n_in; i++) {
    if (e->in[i] != NULL)
      tfsdk__tensor_fill_view(e->in[i], &views[i]);
    else {
      memset(&views[i], 0, sizeof views[i]);
      views[i].flags = TFSDK_VIEW_ABSENT;
    }
  }
}

/* Inputs that lie elsewhere are copied to the kernel's device. */
static tfsdk_status *bring_inputs(call *c, tfsdk_view *views) {
  tfsdk__run *r = &c->run;
  const tfsdk__execution *e = c->e;
  for (uint32_t i = 0; i < e->n_in; i++) {
    if (e->in[i] == NULL) continue;
    tfsdk__device *from = tfsdk__tensor_where(e->in[i]);
    bool near = from == r->device || (from->host_memory && r->device->host_memory);
    if (near && r->device->host_memory) {
      r->in[i] = tfsdk_tensor_retain(e->in[i]);
      continue;
    }
    uint32_t flags = input_flags(e, i);
    tfsdk__device *to = (flags & TFSDK_ARG_HOST) || e->in[i]->dtype == TFSDK_STRING
                            ? tfsdk__device_host(r->rt)
                            : r->device;
    if (flags & TFSDK_ARG_SHAPE_ONLY)
      r->in[i] = tfsdk_tensor_retain(e->in[i]);
    else
      TFSDK_TRY(tfsdk__tensor_on(e->in[i], to, &r->in[i]));
    tfsdk__tensor_fill_view(r->in[i], &views[i]);
    if (flags & TFSDK_ARG_SHAPE_ONLY) views[i].flags |= TFSDK_VIEW_SHAPE_ONLY;
  }
  return NULL;
}

static tfsdk_status *infer_now(call *c, tfsdk_typed_shape *in, tfsdk_view *values,
                               const tfsdk_view **value) {
  const tfsdk__execution *e = c->e;
  tfsdk__op *op = e->bound->op;
  for (uint32_t i = 0; i < e->n_in; i++) {
    value[i] = NULL;
    if (e->in[i] == NULL) {
      memset(&in[i], 0, sizeof in[i]);
      in[i].flags = TFSDK_VIEW_ABSENT;
      in[i].shape.rank = -1;
      continue;
    }
    tfsdk__tensor_typed_shape(e->in[i], &in[i]);
    if (e->in[i]->cell != NULL && e->in[i]->cell->shape.rank < 0) in[i].shape.rank = -1;
    if (op->def.const_in != 0 &&
        (op->def.const_in >> tfsdk__op_arg_of(op, e->attrs, e->n_in, i) & 1) &&
        !(e->in[i]->flags & TFSDK__TENSOR_SHAPE_ONLY)) {
      TFSDK_TRY(tfsdk_tensor_view(e->in[i], &values[i]));
      value[i] = &values[i];
    }
  }
  return tfsdk__infer_run(op, e->attrs, in, e->n_in, value, e->out_dtype, c->shape, e->n_out);
}

/* May output o take over input i's memory? Only when the plan says that nobody needs the input any
 * more and nobody else holds it, the sizes agree, and it is memory of where the output belongs. */
static bool can_reuse(const call *c, uint32_t o, uint32_t *out_i) {
  const tfsdk__run *r = &c->run;
  const tfsdk_opdef *def = &r->bound->op->def;
  if (def->may_alias == NULL || c->e->reuse == 0 || o >= def->n_out || def->may_alias[o] < 0)
    return false;
  uint32_t i = (uint32_t)def->may_alias[o];
  if (i >= c->e->n_in || i >= 32 || !(c->e->reuse >> i & 1) || r->in[i] == NULL) return false;
  tfsdk_tensor *t = r->in[i];
  tfsdk__device *want = host_output(r, o) ? tfsdk__device_host(r->rt) : r->device,
                *have = tfsdk__tensor_where(t);
  *out_i = i;
  if (have != want && !(have->host_memory && want->host_memory)) return false;
  /* held by the caller and by r->in: two references on the tensor, one on the buffer */
  return t->buffer != NULL && t->buffer->release == NULL && t->dtype == r->shape[o].dtype &&
         t == c->e->in[i] && t->n_elem == tfsdk_shape_elements(&r->shape[o].shape) &&
         atomic_load(&t->refs) == 2 && atomic_load(&t->buffer->refs) == 1;
}

static tfsdk_status *give_outputs(call *c) {
  tfsdk__run *r = &c->run;
  for (uint32_t o = 0; o < r->base.n_out; o++) {
    const tfsdk_typed_shape *s = &r->shape[o];
    uint32_t i;
    memset(&r->base.out[o], 0, sizeof r->base.out[o]);
    r->base.out[o].dtype = s->dtype;
    if (s->dtype == TFSDK_STRING &&
        tfsdk_shape_whole(&s->shape)) { /* the shape, for alloc_strings */
      r->base.out[o].rank = (uint16_t)s->shape.rank;
      r->base.out[o].dim = s->shape.dim;
      r->base.out[o].n_elem = tfsdk_shape_elements(&s->shape);
    }
    if (r->bound->op->def.flags & TFSDK_OP_OWN_OUTPUTS) continue;
    if (s->dtype == TFSDK_STRING || s->dtype == TFSDK_RESOURCE || !tfsdk_shape_whole(&s->shape))
      continue;
    tfsdk_tensor *t;
    if (can_reuse(c, o, &i)) {
      tfsdk__buffer_changed(r->in[i]->buffer);
      TFSDK_TRY(tfsdk__tensor_alias(r->in[i], (uint32_t)s->shape.rank, s->shape.dim, &t));
    } else
      TFSDK_TRY(tfsdk__tensor_alloc(host_output(r, o) ? tfsdk__device_host(r->rt) : r->device,
                                    s->dtype, (uint32_t)s->shape.rank, s->shape.dim, &t));
    set_out(r, o, t);
  }
  return NULL;
}

static tfsdk_status *alias_inputs(tfsdk__run *r, const tfsdk__execution *e) {
  for (uint32_t o = 0; o < e->n_out; o++) {
    if (!tfsdk_shape_whole(&r->shape[o].shape))
      return TFSDK_FAIL(&r->base, INTERNAL, "the shape rule of a VIEW op left the shape %s open",
                        tfsdk_shape_text(&r->shape[o].shape).s);
    TFSDK_TRY(tfsdk__tensor_alias(e->in[o], (uint32_t)r->shape[o].shape.rank, r->shape[o].shape.dim,
                                  &r->out[o]));
  }
  return NULL;
}

static tfsdk_status *run_it(call *c, tfsdk_view *views, tfsdk_typed_shape *in_shape,
                            tfsdk_view *values, const tfsdk_view **value) {
  tfsdk__run *r = &c->run;
  const tfsdk__execution *e = c->e;
  uint32_t flags = r->bound->op->def.flags;
  view_inputs(e, views);
  TFSDK_TRY(infer_now(c, in_shape, values, value));
  if (flags & TFSDK_OP_PLACEHOLDER)
    return TFSDK_FAIL(&r->base, INVALID_ARGUMENT, "a value of type %s and shape %s must be fed",
                      tfsdk_dtype_name(e->out_dtype[0]), tfsdk_shape_text(&r->shape[0].shape).s);
  if (flags & TFSDK_OP_VIEW) return alias_inputs(r, e);
  TFSDK_TRY(bring_inputs(c, views));
  TFSDK_TRY(give_outputs(c));
  TFSDK_TRY(tfsdk__run_compute(r));
  for (uint32_t o = 0; o < e->n_out; o++)
    if (r->out[o] == NULL)
      return TFSDK_FAIL(&r->base, INTERNAL, "the kernel %s gave no output %u",
                        r->bound->kernel->def.label, o);
  return NULL;
}

tfsdk_status *tfsdk__execute(tfsdk_runtime *rt, const tfsdk__execution *e, tfsdk_tensor **out) {
  tfsdk__execution chosen;
  struct {
    tfsdk_view in[SMALL], out[SMALL], values[SMALL];
    const tfsdk_view *value[SMALL];
    tfsdk_typed_shape in_shape[SMALL], out_shape[SMALL];
    tfsdk_tensor *tensor[SMALL];
  } small;
  tfsdk_view *in_view = small.in, *out_view = small.out, *values = small.values;
  const tfsdk_view **value = small.value;
  tfsdk_typed_shape *in_shape = small.in_shape, *out_shape = small.out_shape;
  tfsdk_tensor **tensor = small.tensor;
  char *big = NULL;
  call c;
  if (e->bound->open) { /* which kernel is a matter of shapes, and here they are */
    chosen = *e;
    TFSDK_TRY(tfsdk__bind_now(rt, e, &chosen.bound));
    e = &chosen;
  }
  if (e->n_in > SMALL || e->n_out > SMALL) {
    size_t n = e->n_in, m = e->n_out;
    size_t bytes = (2 * n + m) * sizeof(tfsdk_view) + n * (sizeof *value + sizeof *tensor) +
                   (n + m) * sizeof *in_shape;
    big = tfsdk__alloc(rt, bytes);
    if (big == NULL) return TFSDK__NOMEM(rt);
    in_shape = (void *)big;
    out_shape = in_shape + n;
    in_view = (void *)(out_shape + m);
    values = in_view + n;
    out_view = values + n;
    value = (void *)(out_view + m);
    tensor = (void *)(value + n);
  }
  tfsdk__run *r = &c.run;
  tfsdk__run_init(r, rt, e->bound, e->attrs, e->node_name, e->n_in, e->n_out);
  c.e = e;
  c.shape = out_shape;
  r->base.in = in_view;
  r->base.out = out_view;
  r->in = tensor;
  r->out = out;
  r->shape = out_shape;
  r->random = e->random;
  r->cells = e->cells;
  for (uint32_t i = 0; i < e->n_in; i++) tensor[i] = NULL;
  for (uint32_t o = 0; o < e->n_out; o++) out[o] = NULL;
  tfsdk_status *s = run_it(&c, in_view, in_shape, values, value);
  if (s != NULL) {
    tfsdk__run_add_facts(s, r);
    for (uint32_t o = 0; o < e->n_out; o++) {
      tfsdk_tensor_release(out[o]);
      out[o] = NULL;
    }
  }
  for (uint32_t i = 0; i < e->n_in; i++) tfsdk_tensor_release(tensor[i]);
  tfsdk__run_end(r);
  tfsdk__free(rt, big);
  return s;
}
