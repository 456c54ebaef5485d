/* Running one op: bringing the inputs to its kernel's device, giving outputs their memory,
 * computing. Graphs and define-by-run both end here. */
#include "internal.h"

#define SMALL 12

typedef struct run {
  tfsdk_run base; /* first */
  tfsdk_runtime *rt;
  const tfsdk__execution *e;
  tfsdk__device *device;
  tfsdk_tensor **in; /* on the kernel's device */
  tfsdk_tensor **out;
  tfsdk_typed_shape *shape; /* of the outputs */
  tfsdk__buffer *held[8];   /* workspaces */
  tfsdk_tensor *lent[8];    /* variables' values lent to the kernel */
  uint32_t n_held, n_lent;
} run;

static run *run_of(tfsdk_run *r) { return (run *)r; }

static bool host_output(const run *r, uint32_t o) {
  const tfsdk__bound *b = r->e->bound;
  uint32_t a = b->op->def.n_out == 1 ? 0 : o < b->op->def.n_out ? o : b->op->def.n_out - 1u;
  return (b->op->def.out[a].flags & TFSDK_ARG_HOST) ||
         (b->kernel && a < 64 && (b->kernel->def.host_out >> a & 1));
}

static void set_out(run *r, uint32_t i, tfsdk_tensor *take) {
  tfsdk_tensor_release(r->out[i]);
  r->out[i] = take;
  tfsdk__tensor_fill_view(take, &r->base.out[i]);
}

static tfsdk_status *bad_output(tfsdk_run *r, uint32_t i) {
  return i < r->n_out ? NULL
                      : TFSDK_FAIL(r, INTERNAL, "the kernel set output %u of %u", i, r->n_out);
}

static tfsdk_status *check_shape(run *r, uint32_t i, uint32_t rank, const int64_t *dim) {
  tfsdk_shape given = tfsdk_shape_scalar(), *want = &r->shape[i].shape;
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
  run *r = run_of(base);
  tfsdk_tensor *t;
  TFSDK_TRY(bad_output(base, i));
  TFSDK_TRY(check_shape(r, i, rank, dim));
  tfsdk__device *d = host_output(r, i) ? tfsdk__device_host(r->rt) : r->device;
  TFSDK_TRY(tfsdk__tensor_alloc(d, r->shape[i].dtype, rank, dim, &t));
  set_out(r, i, t);
  return NULL;
}

static tfsdk_status *api_alloc_strings(tfsdk_run *base, uint32_t i, uint32_t rank,
                                       const int64_t *dim, uint64_t bytes) {
  run *r = run_of(base);
  tfsdk_tensor *t;
  TFSDK_TRY(bad_output(base, i));
  TFSDK_TRY(check_shape(r, i, rank, dim));
  TFSDK_TRY(tfsdk__tensor_alloc_strings(r->rt, rank, dim, bytes, &t));
  set_out(r, i, t);
  return NULL;
}

/* An alias has an id of its own, so that tapes can tell it from its source. */
static tfsdk_status *alias_out(run *r, tfsdk_tensor *src, uint32_t o) {
  const tfsdk_shape *s = &r->shape[o].shape;
  tfsdk_tensor *t;
  bool whole = tfsdk_shape_whole(s) && tfsdk_shape_elements(s) == src->n_elem;
  TFSDK_TRY(tfsdk__tensor_alias(src, whole ? (uint32_t)s->rank : src->rank,
                                whole ? s->dim : src->dim, &t));
  set_out(r, o, t);
  return NULL;
}

static tfsdk_status *api_forward(tfsdk_run *base, uint32_t i, uint32_t o) {
  run *r = run_of(base);
  TFSDK_TRY(bad_output(base, o));
  return alias_out(r, r->in[i], o);
}

static tfsdk_status *api_forward_attr(tfsdk_run *base, const tfsdk_attrval *a, uint32_t o) {
  run *r = run_of(base);
  TFSDK_TRY(bad_output(base, o));
  return alias_out(r, (tfsdk_tensor *)(uintptr_t)a->v.tensor, o);
}

static tfsdk_status *api_workspace(tfsdk_run *base, size_t bytes, void **out) {
  run *r = run_of(base);
  if (r->n_held == 8)
    return TFSDK_FAIL(base, INTERNAL, "the kernel asks for more than 8 workspaces");
  TFSDK_TRY(tfsdk__buffer_create(r->device, bytes ? bytes : 1, &r->held[r->n_held]));
  *out = r->held[r->n_held++]->data;
  return NULL;
}

static void api_par_for(tfsdk_run *base, int64_t n, int64_t grain, tfsdk_range_fn *fn, void *user) {
  run *r = run_of(base);
  if (n <= 0) return;
  if (n > grain && r->device->driver != NULL && r->device->driver->def.par_for != NULL)
    r->device->driver->def.par_for(r->device->dev, n, grain < 1 ? 1 : grain, fn, user);
  else
    fn(user, 0, n);
}

static tfsdk_status *api_rng(tfsdk_run *base, uint64_t blocks, uint32_t key[2], uint64_t *counter) {
  tfsdk__stream_state *s = run_of(base)->e->random;
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
  run *r = run_of(base);
  *out = i < base->n_in && r->in[i] != NULL ? r->in[i]->cell : NULL;
  return *out ? NULL : TFSDK_FAIL(base, INVALID_ARGUMENT, "input %u is not a variable", i);
}

static tfsdk_status *lend(run *r, tfsdk_tensor *take) {
  if (r->n_lent == 8) {
    tfsdk_tensor_release(take);
    return TFSDK_FAIL(&r->base, INTERNAL, "the kernel reads more than 8 variables");
  }
  r->lent[r->n_lent++] = take;
  return NULL;
}

static tfsdk_status *api_var_view(tfsdk_run *base, uint32_t i, tfsdk_view *out) {
  run *r = run_of(base);
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
  run *r = run_of(base);
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
  run *r = run_of(base);
  tfsdk__cell *c;
  tfsdk_tensor *t, *alias;
  TFSDK_TRY(cell_of(base, i, &c));
  TFSDK_TRY(bad_output(base, o));
  if (c->dtype != r->shape[o].dtype)
    return TFSDK_FAIL(base, INVALID_ARGUMENT, "variable '%s' holds %s, but output %u is %s",
                      c->name, tfsdk_dtype_name(c->dtype), o, tfsdk_dtype_name(r->shape[o].dtype));
  TFSDK_TRY(tfsdk__cell_read(c, &t));
  tfsdk_status *s = tfsdk__tensor_alias(t, t->rank, t->dim, &alias);
  tfsdk_tensor_release(t);
  if (s == NULL) set_out(r, o, alias);
  return s;
}

static tfsdk_status *api_var_assign(tfsdk_run *base, uint32_t i, uint32_t value) {
  run *r = run_of(base);
  tfsdk__cell *c;
  tfsdk_tensor *alias;
  TFSDK_TRY(cell_of(base, i, &c));
  tfsdk_tensor *t = r->in[value];
  TFSDK_TRY(tfsdk__tensor_alias(t, t->rank, t->dim, &alias));
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
  run *r = run_of(base);
  tfsdk__cell *c;
  tfsdk_tensor *t;
  if (r->e->cells == NULL) return TFSDK_FAIL(base, INTERNAL, "variables are not available here");
  TFSDK_TRY(bad_output(base, o));
  TFSDK_TRY(tfsdk__cells_get(r->rt, r->e->cells, name, dtype, shape, &c));
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
  const char *name = run_of(base)->e->node_name;
  return name != NULL && *name ? name : base->op->name;
}

static void api_finish(tfsdk_run *base, int64_t begin, int64_t end) {
  (void)base;
  (void)begin;
  (void)end;
}

static const tfsdk_run_api run_api = {sizeof(tfsdk_run_api),
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
                                      api_finish};

/* -------------------------------------------------------------------------------------- running */

/* Whether input i is wanted in host memory, or only its shape. */
static uint32_t input_flags(const tfsdk__execution *e, uint32_t i) {
  const tfsdk__bound *b = e->bound;
  uint32_t a = tfsdk__op_arg_of(b->op, e->attrs, e->n_in, i);
  uint32_t flags = b->op->def.in[a].flags;
  if (b->kernel != NULL && a < 64 && (b->kernel->def.host_in >> a & 1)) flags |= TFSDK_ARG_HOST;
  return flags;
}

static tfsdk_status *bring_inputs(run *r, tfsdk_view *views) {
  const tfsdk__execution *e = r->e;
  tfsdk__device *host = tfsdk__device_host(r->rt);
  for (uint32_t i = 0; i < e->n_in; i++) {
    if (e->in[i] == NULL) {
      memset(&views[i], 0, sizeof views[i]);
      views[i].flags = TFSDK_VIEW_ABSENT;
      continue;
    }
    tfsdk__device *from = tfsdk__tensor_where(e->in[i]);
    if (from == r->device || (from->host_memory && r->device->host_memory)) {
      if (r->device->host_memory || e->in[i]->byte_size == 0 ||
          !(input_flags(e, i) & TFSDK_ARG_HOST)) {
        r->in[i] = tfsdk_tensor_retain(e->in[i]);
        tfsdk__tensor_fill_view(r->in[i], &views[i]);
        continue;
      }
    }
    uint32_t flags = input_flags(e, i);
    tfsdk__device *to =
        (flags & TFSDK_ARG_HOST) || e->in[i]->dtype == TFSDK_STRING ? host : r->device;
    if (flags & TFSDK_ARG_SHAPE_ONLY)
      r->in[i] = tfsdk_tensor_retain(e->in[i]);
    else
      TFSDK_TRY(tfsdk__tensor_on(e->in[i], to, &r->in[i]));
    tfsdk__tensor_fill_view(r->in[i], &views[i]);
    if (flags & TFSDK_ARG_SHAPE_ONLY) views[i].flags |= TFSDK_VIEW_SHAPE_ONLY;
  }
  return NULL;
}

static tfsdk_status *infer_now(run *r, tfsdk_typed_shape *in, tfsdk_view *values,
                               const tfsdk_view **value) {
  const tfsdk__execution *e = r->e;
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
    if (op->def.const_in >> tfsdk__op_arg_of(op, e->attrs, e->n_in, i) & 1 &&
        !(e->in[i]->flags & TFSDK__TENSOR_SHAPE_ONLY)) {
      TFSDK_TRY(tfsdk_tensor_view(e->in[i], &values[i]));
      value[i] = &values[i];
    }
  }
  return tfsdk__infer_run(op, e->attrs, in, e->n_in, value, e->out_dtype, r->shape, e->n_out);
}

/* May output o take over input i's memory? Only when the plan says that nobody needs the input any
 * more and nobody else holds it, the sizes agree, and it is memory of where the output belongs. */
static bool can_reuse(const run *r, uint32_t o, uint32_t *out_i) {
  const tfsdk_opdef *def = &r->e->bound->op->def;
  if (def->may_alias == NULL || r->e->reuse == 0 || o >= def->n_out || def->may_alias[o] < 0)
    return false;
  uint32_t i = (uint32_t)def->may_alias[o];
  if (i >= r->e->n_in || i >= 32 || !(r->e->reuse >> i & 1) || r->in[i] == NULL) return false;
  tfsdk_tensor *t = r->in[i];
  tfsdk__device *want = host_output(r, o) ? tfsdk__device_host(r->rt) : r->device,
                *have = tfsdk__tensor_where(t);
  *out_i = i;
  if (have != want && !(have->host_memory && want->host_memory)) return false;
  /* held by the caller and by r->in: two references on the tensor, one on the buffer */
  return t->buffer != NULL && t->buffer->release == NULL && t->dtype == r->shape[o].dtype &&
         t == r->e->in[i] && t->n_elem == tfsdk_shape_elements(&r->shape[o].shape) &&
         atomic_load(&t->refs) == 2 && atomic_load(&t->buffer->refs) == 1;
}

static tfsdk_status *give_outputs(run *r) {
  tfsdk__device *host = tfsdk__device_host(r->rt);
  for (uint32_t o = 0; o < r->e->n_out; o++) {
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
    if (r->e->bound->op->def.flags & TFSDK_OP_OWN_OUTPUTS) continue;
    if (s->dtype == TFSDK_STRING || s->dtype == TFSDK_RESOURCE || !tfsdk_shape_whole(&s->shape))
      continue;
    tfsdk_tensor *t;
    if (can_reuse(r, o, &i)) {
      tfsdk__buffer_changed(r->in[i]->buffer);
      TFSDK_TRY(tfsdk__tensor_alias(r->in[i], (uint32_t)s->shape.rank, s->shape.dim, &t));
    } else
      TFSDK_TRY(tfsdk__tensor_alloc(host_output(r, o) ? host : r->device, s->dtype,
                                    (uint32_t)s->shape.rank, s->shape.dim, &t));
    set_out(r, o, t);
  }
  return NULL;
}

static tfsdk_status *compute(run *r) {
  tfsdk__bound *b = r->e->bound;
  if (b->kernel->def.prepare != NULL) {
    uint64_t h = 1;
    for (uint32_t i = 0; i < r->e->n_in; i++)
      if (r->in[i] != NULL)
        h = tfsdk__hash(r->in[i]->dim, r->in[i]->rank * sizeof(int64_t), h + r->in[i]->rank);
    if (h == 0) h = 1;
    if (b->prepared != h) {
      TFSDK_TRY(b->kernel->def.prepare(b->state, &r->base));
      b->prepared = h;
    }
  }
  TFSDK_TRY(b->kernel->def.compute(b->state, &r->base));
  for (uint32_t o = 0; o < r->e->n_out; o++)
    if (r->out[o] == NULL)
      return TFSDK_FAIL(&r->base, INTERNAL, "the kernel %s gave no output %u", b->kernel->def.label,
                        o);
  return NULL;
}

static void add_facts(tfsdk_status *s, const run *r) {
  const tfsdk__execution *e = r->e;
  tfsdk__buf b = {0};
  for (uint32_t i = 0; i < e->n_in; i++) {
    tfsdk_typed_shape t;
    if (e->in[i] == NULL) {
      tfsdk__buf_add(&b, "%s-", i ? ", " : "");
      continue;
    }
    tfsdk__tensor_typed_shape(e->in[i], &t);
    tfsdk__buf_add(&b, "%s%s%s", i ? ", " : "", tfsdk_dtype_name(t.dtype),
                   tfsdk_shape_text(&t.shape).s);
  }
  tfsdk__status_add(s, "op", "%s", e->bound->op->def.name);
  if (e->node_name != NULL && *e->node_name) tfsdk__status_add(s, "node", "%s", e->node_name);
  if (b.n) tfsdk__status_add(s, "inputs", "%s", b.s);
  tfsdk__buf_deinit(&b);
  if (e->bound->kernel != NULL)
    tfsdk__status_add(s, "device", "%s (kernel %s)", r->device->name, e->bound->kernel->def.label);
}

static tfsdk_status *run_it(run *r, tfsdk_view *views, tfsdk_typed_shape *in_shape,
                            tfsdk_view *values, const tfsdk_view **value) {
  const tfsdk__execution *e = r->e;
  tfsdk__op *op = e->bound->op;
  if (e->out_shape != NULL)
    memcpy(r->shape, e->out_shape, e->n_out * sizeof *r->shape);
  else
    TFSDK_TRY(infer_now(r, in_shape, values, value));
  if (op->def.flags & TFSDK_OP_PLACEHOLDER)
    return TFSDK_FAIL(&r->base, INVALID_ARGUMENT, "a value of type %s and shape %s must be fed",
                      tfsdk_dtype_name(e->out_dtype[0]), tfsdk_shape_text(&r->shape[0].shape).s);
  if (op->def.flags & TFSDK_OP_VIEW) {
    for (uint32_t o = 0; o < e->n_out; o++) {
      if (!tfsdk_shape_whole(&r->shape[o].shape))
        return TFSDK_FAIL(&r->base, INTERNAL, "the shape rule of a VIEW op left the shape %s open",
                          tfsdk_shape_text(&r->shape[o].shape).s);
      TFSDK_TRY(tfsdk__tensor_alias(e->in[o], (uint32_t)r->shape[o].shape.rank,
                                    r->shape[o].shape.dim, &r->out[o]));
    }
    return NULL;
  }
  TFSDK_TRY(bring_inputs(r, views));
  TFSDK_TRY(give_outputs(r));
  return compute(r);
}

tfsdk_status *tfsdk__execute(tfsdk_runtime *rt, const tfsdk__execution *e, tfsdk_tensor **out) {
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
  run r;
  tfsdk__kernel *k = e->bound->kernel;
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
  memset(&r, 0, sizeof r);
  r.base.host = k && k->plugin ? &k->plugin->host : &e->bound->op->plugin->host;
  r.base.api = &run_api;
  r.base.op = &e->bound->op->def;
  r.base.n_in = e->n_in;
  r.base.n_out = e->n_out;
  r.base.in = in_view;
  r.base.out = out_view;
  r.base.attr = tfsdk__attrlist_view(e->attrs);
  r.device = e->bound->device;
  r.base.device = r.device->driver != NULL ? r.device->dev : NULL;
  r.rt = rt;
  r.e = e;
  r.in = tensor;
  r.out = out;
  r.shape = out_shape;
  for (uint32_t i = 0; i < e->n_in; i++) tensor[i] = NULL;
  for (uint32_t o = 0; o < e->n_out; o++) out[o] = NULL;
  tfsdk_status *s = run_it(&r, in_view, in_shape, values, value);
  if (s != NULL) {
    add_facts(s, &r);
    for (uint32_t o = 0; o < e->n_out; o++) {
      tfsdk_tensor_release(out[o]);
      out[o] = NULL;
    }
  }
  for (uint32_t i = 0; i < e->n_in; i++) tfsdk_tensor_release(tensor[i]);
  for (uint32_t i = 0; i < r.n_lent; i++) tfsdk_tensor_release(r.lent[i]);
  for (uint32_t i = 0; i < r.n_held; i++) tfsdk__buffer_release(r.held[i]);
  tfsdk__free(rt, big);
  return s;
}
