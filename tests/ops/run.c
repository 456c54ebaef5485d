/* Running a sample: define-by-run and as a graph, forwards and backwards. */
#include "kit.h"

void result_free(result *r) {
  release_all(r->out, r->n);
  r->n = 0;
}

static tfsdk_status *count_outputs(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                                   uint32_t *n);

/* Variables of a sample's `var:` inputs in a context, initialised with the input values. */
typedef struct variables {
  tfsdk_variable *v[MAX_IN];
} variables;

static void free_variables(variables *vs) {
  for (uint32_t i = 0; i < MAX_IN; i++) tfsdk_variable_release(vs->v[i]);
}

static tfsdk_status *make_variable(tfsdk_ctx *c, tfsdk_tensor *value, tfsdk_val init,
                                   tfsdk_variable **out) {
  tfsdk_varspec spec = {
      .struct_size = sizeof spec, .dtype = tfsdk_tensor_dtype(value), .init = init};
  spec.shape.rank = tfsdk_tensor_rank(value);
  for (int32_t i = 0; i < spec.shape.rank; i++) spec.shape.dim[i] = tfsdk_tensor_dims(value)[i];
  return tfsdk_variable_create(c, "v", &spec, out);
}

/* eager inputs: variables become resource tensors */
static tfsdk_status *eager_inputs(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                                  tfsdk_tensor **real, variables *vs) {
  memset(vs, 0, sizeof *vs);
  for (uint32_t i = 0; i < s->n_in; i++) {
    real[i] = in[i];
    if (!s->in[i].variable) continue;
    TFSDK_TRY(make_variable(tfsdk_eager_ctx(rt), in[i], tfsdk_eager_val(in[i]), &vs->v[i]));
    real[i] = tfsdk_eager_tensor(tfsdk_variable_handle(vs->v[i]));
  }
  return NULL;
}

static bool attr_is(const tfsdk_opdef *op, const char *name) {
  for (uint32_t i = 0; i < op->n_attr; i++)
    if (strcmp(op->attr[i].name, name) == 0) return true;
  return false;
}

static int64_t op_seed = 1000;
void fresh_seeds(void) { op_seed++; }

/* Random ops get seeds that nobody has used in this runtime, so that the first draws of both modes
 * (and of both runtimes) agree. */
static uint32_t attrs_of(const sample *s, tfsdk_attrval *out) {
  uint32_t n = 0;
  bool seeded = (s->op->flags & TFSDK_OP_RANDOM) && attr_is(s->op, "seed2");
  for (uint32_t i = 0; i < s->n_attr; i++)
    if (!seeded || (strcmp(s->attr[i].name, "seed") != 0 && strcmp(s->attr[i].name, "seed2") != 0))
      out[n++] = s->attr[i];
  if (!seeded) return n;
  out[n++] = tfsdk_a_int("seed", 77);
  out[n++] = tfsdk_a_int("seed2", op_seed);
  return n;
}

static tfsdk_status *run_eager_op(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **real,
                                  tfsdk_tensor **out) {
  tfsdk_attrval attr[MAX_ATTR + 2];
  uint32_t n = attrs_of(s, attr);
  return tfsdk_eager_run(rt, s->op->name, real, s->n_in, attr, n, out, MAX_OUT);
}

tfsdk_status *run_eager(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in, result *out) {
  tfsdk_tensor *real[MAX_IN];
  variables vs;
  memset(out, 0, sizeof *out);
  tfsdk_status *st = eager_inputs(rt, s, in, real, &vs);
  if (st == NULL) st = run_eager_op(rt, s, real, out->out);
  while (st == NULL && out->n < MAX_OUT && out->out[out->n] != NULL) out->n++;
  for (uint32_t i = 0; st == NULL && i < s->n_in; i++)
    if (vs.v[i] != NULL) st = tfsdk_variable_read(vs.v[i], &out->out[out->n++]);
  free_variables(&vs);
  if (st != NULL) result_free(out);
  return st;
}

static tfsdk_status *count_outputs(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                                   uint32_t *n) {
  result r;
  TFSDK_TRY(run_eager(rt, s, in, &r));
  *n = r.n;
  for (uint32_t i = 0; i < s->n_in; i++) *n -= s->in[i].variable;
  result_free(&r);
  return NULL;
}

/* A graph with placeholders for the inputs; string and other inputs alike. */
typedef struct world {
  tfsdk_graph *g;
  tfsdk_session *s;
  tfsdk_val in[MAX_IN], feed[MAX_IN], out[MAX_OUT], init[MAX_IN];
  tfsdk_tensor *fed[MAX_IN];
  variables vs;
  uint32_t n_feed, n_out, n_init;
} world;

static void world_free(world *w) {
  free_variables(&w->vs);
  tfsdk_session_release(w->s);
  tfsdk_graph_release(w->g);
}

/* Element-wise ops that together change no bit: company for a group. */
static tfsdk_val there_and_back(tfsdk_ctx *c, tfsdk_val y) {
  int32_t dtype = tfsdk_type(c, y).dtype;
  switch (tfsdk_dtype_kind(dtype)) {
  case 'f':
  case 'i': return tfsdk_emit1(c, "Neg", tfsdk_emit1(c, "Neg", y));
  case 'b': return tfsdk_emit1(c, "LogicalNot", tfsdk_emit1(c, "LogicalNot", y));
  case 'u': return tfsdk_emit2(c, "AddV2", y, tfsdk_scalar(c, dtype, 0));
  default: return y;
  }
}

static tfsdk_status *world_make(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                                uint32_t n_out, enum graph_kind kind, world *w) {
  tfsdk_attrval attr[MAX_ATTR + 2];
  const char *chosen = getenv("TFSDK_PASSES");
  char passes[200];
  memset(w, 0, sizeof *w);
  TFSDK_TRY(tfsdk_graph_create(rt, &w->g));
  tfsdk_ctx *c = tfsdk_graph_ctx(w->g);
  for (uint32_t i = 0; i < s->n_in; i++) {
    if (s->in[i].absent) continue;
    bool host_value = s->in[i].literal && s->in[i].dtype != TFSDK_STRING && !s->in[i].variable;
    if (s->in[i].variable || host_value) {
      tfsdk_attrval value[2] = {tfsdk_a_tensor("value", in[i]),
                                tfsdk_a_dtype("dtype", s->in[i].dtype)};
      tfsdk_val k = tfsdk_emit(c, "Const", NULL, 0, value, 2);
      TFSDK_TRY(tfsdk_ctx_error(c));
      w->in[i] = k;
      if (!s->in[i].variable) continue;
      TFSDK_TRY(make_variable(c, in[i], k, &w->vs.v[i]));
      w->in[i] = tfsdk_variable_handle(w->vs.v[i]);
      w->init[w->n_init++] = tfsdk_variable_initializer(w->vs.v[i]);
      continue;
    }
    tfsdk_attrval p[2] = {
        tfsdk_a_dtype("dtype", s->in[i].dtype),
        tfsdk_a_shape("shape", s->in[i].shape.dim, (uint32_t)s->in[i].shape.rank)};
    w->in[i] = w->feed[w->n_feed] = tfsdk_emit(c, "Placeholder", NULL, 0, p, 2);
    w->fed[w->n_feed++] = in[i];
    TFSDK_TRY(tfsdk_ctx_error(c));
  }
  uint32_t n = attrs_of(s, attr);
  w->n_out = n_out;
  if (kind == GRAPH_SUPPLIED) w->in[0] = there_and_back(c, w->in[0]);
  TFSDK_TRY(c->api->emit(c, s->op->name, w->in, s->n_in, attr, n, w->out, n_out ? n_out : 1));
  if (kind == GRAPH_FUSED) w->out[0] = there_and_back(c, w->out[0]);
  TFSDK_TRY(tfsdk_ctx_error(c));
  snprintf(passes, sizeof passes, "%s%s", chosen ? chosen : "",
           kind == GRAPH_REWRITTEN ? "" : ",-simplify");
  tfsdk_session_options o = {.struct_size = sizeof o,
                             .passes = passes,
                             .device = rt == other_device.rt ? other_device.device : NULL};
  TFSDK_TRY(tfsdk_session_create(w->g, &o, &w->s));
  tfsdk_tensor *none[MAX_IN];
  return w->n_init ? tfsdk_session_run(w->s, w->init, w->n_init, NULL, NULL, 0, none) : NULL;
}

bool asks_for_elements(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in) {
  world w;
  char *text = NULL;
  for (uint32_t i = 0; i < s->op->n_out; i++)
    if (strchr(s->op->out[i].type, '*') != NULL || strncmp(s->op->out[i].type, "list:", 5) == 0)
      return false; /* how many there are, running tells */
  tfsdk_status *st = world_make(rt, s, in, s->op->n_out, GRAPH_SUPPLIED, &w);
  if (st == NULL) st = tfsdk_session_explain(w.s, w.out, w.n_out, w.feed, w.fed, w.n_feed, &text);
  bool yes = st == NULL && strstr(text, "computes first") != NULL;
  tfsdk_status_release(st); /* sizes that do not go together are no concern of this check */
  free(text);
  world_free(&w);
  return yes;
}

tfsdk_status *run_graph(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in, enum graph_kind kind,
                        result *out) {
  world w;
  uint32_t n_out;
  memset(out, 0, sizeof *out);
  TFSDK_TRY(count_outputs(rt, s, in, &n_out));
  tfsdk_status *st = world_make(rt, s, in, n_out, kind, &w);
  if (st == NULL)
    st = tfsdk_session_run(w.s, w.out, n_out ? n_out : 1, w.feed, w.fed, w.n_feed, out->out);
  if (st == NULL) out->n = n_out;
  for (uint32_t i = 0; st == NULL && i < s->n_in; i++)
    if (w.vs.v[i] != NULL)
      st = tfsdk_session_read(w.s, tfsdk_variable_name(w.vs.v[i]), &out->out[out->n++]);
  world_free(&w);
  if (st != NULL) result_free(out);
  return st;
}

/* ------------------------------------------------------------------------------------- backwards
 */

/* The upstream gradient of an output: the same numbers wherever it is asked for. */
static tfsdk_status *make_dy(tfsdk_runtime *rt, tfsdk_tensor *y, uint64_t seed, uint32_t k,
                             tfsdk_tensor **out) {
  void *data;
  uint64_t state = seed + 1000 * k;
  *out = NULL;
  if (!is_float(tfsdk_tensor_dtype(y))) return NULL;
  TFSDK_TRY(tfsdk_tensor_create_empty(rt, tfsdk_tensor_dtype(y), (uint32_t)tfsdk_tensor_rank(y),
                                      tfsdk_tensor_dims(y), &data, out));
  for (int64_t i = 0; i < tfsdk_tensor_elements(y); i++) {
    double x = ((double)(random_bits(&state) % 1024) - 511.5) / 256;
    if (tfsdk_tensor_dtype(y) == TFSDK_FLOAT64)
      ((double *)data)[i] = x;
    else if (tfsdk_tensor_dtype(y) == TFSDK_FLOAT32)
      ((float *)data)[i] = (float)x;
    else
      ((uint16_t *)data)[i] = tfsdk_tensor_dtype(y) == TFSDK_FLOAT16 ? tfsdk_to_half((float)x)
                                                                     : tfsdk_to_bfloat16((float)x);
  }
  return NULL;
}

static tfsdk_status *make_dys(tfsdk_runtime *rt, result *y, uint64_t seed, tfsdk_tensor **ys,
                              tfsdk_tensor **dys, uint32_t *n) {
  *n = 0;
  for (uint32_t k = 0; k < y->n; k++) {
    tfsdk_tensor *dy;
    TFSDK_TRY(make_dy(rt, y->out[k], seed, k, &dy));
    if (dy == NULL) continue;
    ys[*n] = y->out[k];
    dys[(*n)++] = dy;
  }
  return NULL;
}

tfsdk_status *loss_of(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in, uint64_t seed,
                      double *out) {
  result y;
  *out = 0;
  TFSDK_TRY(run_eager(rt, s, in, &y));
  tfsdk_status *st = NULL;
  for (uint32_t k = 0; st == NULL && k < y.n; k++) {
    tfsdk_tensor *dy;
    tfsdk_view a, b;
    st = make_dy(rt, y.out[k], seed, k, &dy);
    if (st != NULL || dy == NULL) continue;
    st = tfsdk_tensor_view(y.out[k], &a);
    if (st == NULL) st = tfsdk_tensor_view(dy, &b);
    for (int64_t i = 0; st == NULL && i < a.n_elem;
         i++) { /* "lowest finite" stands for an empty maximum */
      double y_i = tfsdk_view_number(&a, i);
      if (y_i > -1e300 && y_i < 1e300) *out += y_i * tfsdk_view_number(&b, i);
    }
    tfsdk_tensor_release(dy);
  }
  result_free(&y);
  return st;
}

tfsdk_status *grad_eager(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                         const unsigned char *wanted, uint64_t seed, tfsdk_tensor **out) {
  tfsdk_tape *tape = NULL;
  result y = {{NULL}, 0};
  tfsdk_tensor *xs[MAX_IN], *ys[MAX_OUT], *dys[MAX_OUT], *got[MAX_IN] = {NULL};
  uint32_t n_x = 0, n_y = 0, index[MAX_IN];
  for (uint32_t i = 0; i < s->n_in; i++) out[i] = NULL;
  TFSDK_TRY(tfsdk_tape_create(rt, 0, 1, &tape));
  tfsdk_status *st = NULL;
  for (uint32_t i = 0; st == NULL && i < s->n_in; i++)
    if (wanted[i]) {
      st = tfsdk_tape_watch(tape, in[i]);
      index[n_x] = i;
      xs[n_x++] = in[i];
    }
  if (st == NULL) st = run_eager(rt, s, in, &y);
  if (st == NULL) st = make_dys(rt, &y, seed, ys, dys, &n_y);
  if (st == NULL) st = tfsdk_tape_gradient(tape, ys, n_y, xs, n_x, dys, got, NULL, NULL);
  for (uint32_t k = 0; k < n_x; k++) out[index[k]] = got[k];
  release_all(dys, n_y);
  result_free(&y);
  tfsdk_tape_release(tape);
  return st;
}

tfsdk_status *grad_graph(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                         const unsigned char *wanted, uint64_t seed, tfsdk_tensor **out) {
  world w;
  result y;
  tfsdk_tensor *ys[MAX_OUT], *dys[MAX_OUT] = {NULL}, *got[MAX_IN] = {NULL};
  tfsdk_val yv[MAX_OUT], dyv[MAX_OUT], xs[MAX_IN], fetch[MAX_IN];
  uint32_t n_x = 0, n_y = 0, n_f = 0, index[MAX_IN], k = 0;
  for (uint32_t i = 0; i < s->n_in; i++) out[i] = NULL;
  TFSDK_TRY(run_eager(rt, s, in, &y));
  tfsdk_status *st = make_dys(rt, &y, seed, ys, dys, &n_y);
  if (st == NULL)
    st = world_make(rt, s, in, y.n, GRAPH_PLAIN, &w);
  else
    memset(&w, 0, sizeof w);
  tfsdk_ctx *c = st ? NULL : tfsdk_graph_ctx(w.g);
  for (uint32_t o = 0; st == NULL && o < y.n; o++) {
    if (!is_float(tfsdk_tensor_dtype(y.out[o]))) continue;
    tfsdk_attrval value[2] = {tfsdk_a_tensor("value", dys[k]),
                              tfsdk_a_dtype("dtype", tfsdk_tensor_dtype(dys[k]))};
    yv[k] = w.out[o];
    dyv[k++] = tfsdk_emit(c, "Const", NULL, 0, value, 2);
    st = tfsdk_ctx_error(c);
  }
  for (uint32_t i = 0; i < s->n_in; i++)
    if (wanted[i]) {
      index[n_x] = i;
      xs[n_x++] = w.in[i];
    }
  tfsdk_gradient g[MAX_IN];
  if (st == NULL) st = tfsdk_gradients(w.g, yv, n_y, xs, n_x, dyv, NULL, 0, g);
  uint32_t place[MAX_IN];
  for (uint32_t i = 0; st == NULL && i < n_x; i++) {
    st = tfsdk_gradient_densify(c, &g[i]);
    if (st != NULL || g[i].value.id == 0) continue;
    place[n_f] = index[i];
    fetch[n_f++] = g[i].value;
  }
  if (st == NULL && n_f > 0) st = tfsdk_session_run(w.s, fetch, n_f, w.feed, w.fed, w.n_feed, got);
  for (uint32_t i = 0; st == NULL && i < n_f; i++) out[place[i]] = got[i];
  release_all(dys, n_y);
  result_free(&y);
  world_free(&w);
  return st;
}
