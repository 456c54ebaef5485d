/* Random graphs, run with all passes on, with each pass left out, and with none.
 *
 *     random_graphs [--seed N] [--count N] [--threads N] [--verbose]
 *
 * A graph is a network grown at random over one to three placeholders: element-wise chains with
 * broadcasting, reductions, products, convolutions, batch norm, shapes turned and cut, variables
 * that are read and changed, control dependencies; then a loss, its gradients, and updates. It is
 * run three times, so that what a run leaves behind in variables counts.
 *
 * Without `simplify` every result and variable must be the same to the bit as with no pass at all:
 * that is what the other passes promise. With it, rewriting rules may round differently: results
 * agree within TOLERANCE of the largest element. Values are kept small by the choice of ops. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfsdk/emit.h>
#include <tfsdk/tfsdk.h>

#define TOLERANCE 2e-3
enum { MAX_VALUES = 400, MAX_FETCH = 24, MAX_VARS = 4, RUNS = 3 };

typedef struct graph {
  tfsdk_runtime *rt;
  tfsdk_graph *g;
  tfsdk_ctx *c;
  uint64_t state;
  tfsdk_val value[MAX_VALUES]; /* float32, of whole shapes as fed */
  tfsdk_shape shape[MAX_VALUES];
  uint32_t n;
  tfsdk_val feed[3];
  tfsdk_tensor *fed[3];
  uint32_t n_feed;
  tfsdk_variable *var[MAX_VARS];
  uint32_t n_var;
  tfsdk_val fetch[MAX_FETCH];
  uint32_t n_fetch, n_numbers; /* numbers first, then updates */
} graph;

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t bits(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static uint32_t below(graph *w, uint32_t n) { return (uint32_t)(bits(&w->state) % n); }
static float number(graph *w) { return (float)((double)(bits(&w->state) % 4096) / 2048 - 1); }

static void check(tfsdk_status *s, const char *what) {
  if (s == NULL) return;
  fprintf(stderr, "%s: %s\n", what, tfsdk_status_text(s));
  exit(1);
}

static tfsdk_shape shape_of(int32_t rank, const int64_t *dim) {
  tfsdk_shape s = {.rank = rank};
  for (int32_t i = 0; i < rank; i++) s.dim[i] = dim[i];
  return s;
}

static tfsdk_tensor *random_tensor(graph *w, const tfsdk_shape *s) {
  void *data;
  tfsdk_tensor *t;
  check(tfsdk_tensor_create_empty(w->rt, TFSDK_FLOAT32, (uint32_t)s->rank, s->dim, &data, &t),
        "a tensor");
  for (int64_t i = 0; i < tfsdk_tensor_elements(t); i++) ((float *)data)[i] = number(w);
  return t;
}

static tfsdk_val constant(graph *w, const tfsdk_shape *s) {
  tfsdk_tensor *t = random_tensor(w, s);
  tfsdk_attrval a[2] = {tfsdk_a_tensor("value", t), tfsdk_a_dtype("dtype", TFSDK_FLOAT32)};
  tfsdk_val v = tfsdk_emit(w->c, "Const", NULL, 0, a, 2);
  tfsdk_tensor_release(t);
  return v;
}

static void keep(graph *w, tfsdk_val v, tfsdk_shape s) {
  if (w->n == MAX_VALUES || v.id == 0) return;
  w->value[w->n] = v;
  w->shape[w->n++] = s;
}

static tfsdk_val one_attr(graph *w, const char *op, tfsdk_val *in, size_t n, tfsdk_attrval a) {
  return tfsdk_emit(w->c, op, in, n, &a, 1);
}

/* ---------------------------------------------------------------------------------------- growing */

static void add_inputs(graph *w) {
  static const int64_t dims[][4] = {{6, 5, 4, 3},    {2, 7, 6, 8},   {33, 17, 0, 0},
                                    {70, 16, 0, 0},  {5, 300, 0, 0}, {1, 9, 9, 16},
                                    {1500, 4, 0, 0}, {12, 1, 0, 0},  {160, 230, 0, 0},
                                    {5, 31, 23, 12}}; /* the last two: prologue */
  w->n_feed = 1 + below(w, 3);
  for (uint32_t i = 0; i < w->n_feed; i++) {
    uint32_t k = below(w, 10);
    tfsdk_shape s = shape_of(dims[k][2] ? 4 : 2, dims[k]), known = s;
    if (below(w, 2)) known.dim[0] = -1;
    tfsdk_attrval a[2] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32),
                          tfsdk_a_shape("shape", known.dim, (uint32_t)known.rank)};
    w->feed[i] = tfsdk_emit(w->c, "Placeholder", NULL, 0, a, 2);
    w->fed[i] = random_tensor(w, &s);
    keep(w, w->feed[i], s);
  }
}

static void add_variable(graph *w, tfsdk_shape s) {
  if (w->n_var == MAX_VARS) return;
  char name[16];
  snprintf(name, sizeof name, "v%u", w->n_var);
  tfsdk_varspec spec = {
      .struct_size = sizeof spec, .dtype = TFSDK_FLOAT32, .shape = s, .init = constant(w, &s)};
  tfsdk_val read;
  check(tfsdk_variable_create(w->c, name, &spec, &w->var[w->n_var]), "a variable");
  check(tfsdk_variable_value(w->var[w->n_var++], w->c, &read), "a variable's value");
  keep(w, read, s);
}

static void unary(graph *w, uint32_t i) {
  static const char *const ops[] = {"Neg",      "Relu",         "Tanh", "Sigmoid", "Abs",
                                    "Identity", "StopGradient", "Erf",  "Relu6",   "Softplus"};
  keep(w, tfsdk_emit1(w->c, ops[below(w, 10)], w->value[i]), w->shape[i]);
}

/* A partner of a random broadcasting shape, or one that is there. */
static tfsdk_val partner(graph *w, uint32_t i) {
  tfsdk_shape s = w->shape[i];
  for (uint32_t k = 0; k < 6; k++) {
    uint32_t j = below(w, w->n);
    if (tfsdk_same_shape(&w->shape[j], &s)) return w->value[j];
  }
  switch (below(w, 6)) {
  case 0: s.rank = 0; break;
  case 1: /* a row */
    if (s.rank > 0) {
      s.dim[0] = s.dim[s.rank - 1];
      s.rank = 1;
    }
    break;
  case 2: /* a column */
    if (s.rank > 1) s.dim[s.rank - 1] = 1;
    break;
  case 3: /* stretched in the middle */
    if (s.rank > 2) s.dim[1] = 1;
    break;
  case 4: /* ones and zeros: rules for neutral elements */
    return tfsdk_scalar(w->c, TFSDK_FLOAT32, below(w, 2));
  default: break;
  }
  return constant(w, &s);
}

static void binary(graph *w, uint32_t i) {
  static const char *const ops[] = {
      "AddV2", "Sub", "Mul", "Maximum", "Minimum", "Add", "SquaredDifference"};
  tfsdk_val a = w->value[i], b = partner(w, i), z;
  if (below(w, 3) == 0) {
    tfsdk_val t = a;
    a = b;
    b = t;
  }
  z = tfsdk_emit2(w->c, ops[below(w, 7)], a, b);
  if (below(w, 3) == 0) z = tfsdk_emit1(w->c, "Tanh", z);
  keep(w, z, w->shape[i]);
}

static void choose(graph *w, uint32_t i) {
  tfsdk_val b = partner(w, i), x = w->value[i];
  tfsdk_val yes = tfsdk_emit2(w->c, below(w, 2) ? "Greater" : "LessEqual", x, b);
  if (below(w, 2)) yes = tfsdk_emit1(w->c, "LogicalNot", yes);
  keep(w, tfsdk_emit3(w->c, "SelectV2", yes, x, tfsdk_emit1(w->c, "Neg", x)), w->shape[i]);
}

static void cast(graph *w, uint32_t i) {
  int32_t via = below(w, 2) ? TFSDK_FLOAT64 : TFSDK_FLOAT32;
  tfsdk_val v = one_attr(w, "Cast", &w->value[i], 1, tfsdk_a_dtype("DstT", via));
  v = tfsdk_emit1(w->c, "Tanh", v);
  keep(w, one_attr(w, "Cast", &v, 1, tfsdk_a_dtype("DstT", TFSDK_FLOAT32)), w->shape[i]);
}

static void reduce(graph *w, uint32_t i) {
  static const char *const ops[] = {"Sum", "Mean", "Max", "Min"};
  tfsdk_shape s = w->shape[i], t = {.rank = 0};
  if (s.rank == 0) return;
  bool kept = below(w, 2) != 0;
  int64_t axis = below(w, (uint32_t)s.rank);
  tfsdk_val in[2] = {w->value[i], tfsdk_int_vector(w->c, &axis, 1)};
  tfsdk_val v = one_attr(w, ops[below(w, 4)], in, 2, tfsdk_a_bool("keep_dims", kept));
  for (int32_t d = 0; d < s.rank; d++) {
    if (d != axis) t.dim[t.rank++] = s.dim[d];
    if (d == axis && kept) t.dim[t.rank++] = 1;
  }
  v = tfsdk_emit1(w->c, "Tanh", v);
  if (kept && below(w, 2)) /* and back: the pattern of a normalisation */
    keep(w, tfsdk_emit2(w->c, "Sub", w->value[i], v), s);
  else
    keep(w, v, t);
}

static void product(graph *w, uint32_t i) {
  tfsdk_shape s = w->shape[i];
  if (s.rank != 2) return;
  int64_t n = 1 + below(w, 40), m = s.dim[0], k = s.dim[1];
  bool ta = below(w, 2) != 0, tb = below(w, 2) != 0;
  int64_t swap[2] = {1, 0}, b_dim[2] = {tb ? n : k, tb ? k : n}, y_dim[2] = {m, n};
  tfsdk_val a = w->value[i];
  tfsdk_shape bs = shape_of(2, b_dim);
  if (ta) a = tfsdk_emit2(w->c, "Transpose", a, tfsdk_int_vector(w->c, swap, 2));
  if (below(w, 3) == 0) add_variable(w, bs);
  tfsdk_val in[2] = {a, constant(w, &bs)};
  if (w->n_var > 0) {
    const tfsdk_shape *vs = tfsdk_variable_shape(w->var[w->n_var - 1]);
    if (tfsdk_same_shape(vs, &bs))
      check(tfsdk_variable_value(w->var[w->n_var - 1], w->c, &in[1]), "a value");
  }
  tfsdk_attrval flags[2] = {tfsdk_a_bool("transpose_a", ta), tfsdk_a_bool("transpose_b", tb)};
  tfsdk_val y = tfsdk_emit(w->c, "MatMul", in, 2, flags, 2);
  y = tfsdk_emit2(w->c, "Mul", y, tfsdk_scalar(w->c, TFSDK_FLOAT32, 1.0 / (double)k));
  int64_t row[1] = {n};
  tfsdk_shape r = shape_of(1, row);
  if (below(w, 2)) y = tfsdk_emit2(w->c, "BiasAdd", y, constant(w, &r));
  if (below(w, 2)) y = tfsdk_emit1(w->c, "Relu", y);
  keep(w, y, shape_of(2, y_dim));
}

static void convolve(graph *w, uint32_t i) {
  tfsdk_shape s = w->shape[i];
  if (s.rank != 4) return;
  int64_t c = s.dim[3], n = below(w, 2) ? c : 1 + below(w, 20), size = below(w, 2) ? 3 : 1;
  int64_t f_dim[4] = {size, size, c, n}, row[1] = {n}, ones[4] = {1, 1, 1, 1};
  tfsdk_shape fs = shape_of(4, f_dim), r = shape_of(1, row), t = s;
  tfsdk_val in[2] = {w->value[i], constant(w, &fs)}, y;
  tfsdk_attrval a[2] = {tfsdk_a_ints("strides", ones, 4), tfsdk_a_string("padding", "SAME")};
  t.dim[3] = n;
  y = tfsdk_emit(w->c, "Conv2D", in, 2, a, 2);
  y = tfsdk_emit2(w->c, "Mul", y,
                  tfsdk_scalar(w->c, TFSDK_FLOAT32, 1.0 / (double)(size * size * c)));
  if (below(w, 2)) y = tfsdk_emit2(w->c, "BiasAdd", y, constant(w, &r));
  if (n == c && below(w, 2)) y = tfsdk_emit2(w->c, "AddV2", y, w->value[i]);
  if (below(w, 2)) y = tfsdk_emit1(w->c, "Relu", y);
  keep(w, y, t);
}

static void normalise(graph *w, uint32_t i) {
  tfsdk_shape s = w->shape[i];
  if (s.rank != 4) return;
  bool training = below(w, 2) != 0;
  int64_t row[1] = {s.dim[3]};
  tfsdk_shape r = shape_of(1, row);
  tfsdk_val in[5] = {w->value[i], constant(w, &r), constant(w, &r), constant(w, &r)}, out[6];
  in[4] = tfsdk_emit1(w->c, "Square", constant(w, &r));
  tfsdk_attrval a[2] = {tfsdk_a_bool("is_training", training), tfsdk_a_float("epsilon", 0.25)};
  tfsdk_emit_n(w->c, "FusedBatchNormV3", in, 5, a, 2, out, 6);
  tfsdk_val y = below(w, 2) ? tfsdk_emit1(w->c, "Relu", out[0]) : out[0];
  keep(w, tfsdk_emit1(w->c, "Tanh", y), s);
  if (below(w, 2)) keep(w, out[1], r);
}

static void reshape(graph *w, uint32_t i) {
  tfsdk_shape s = w->shape[i], t = s;
  tfsdk_val v = w->value[i];
  int64_t n = tfsdk_shape_elements(&s), all[2], order[4];
  switch (below(w, 5)) {
  case 0: /* flat, or as rows */
    all[0] = s.rank > 1 ? n / s.dim[s.rank - 1] : n;
    all[1] = s.rank > 1 ? s.dim[s.rank - 1] : 1;
    keep(w, tfsdk_emit2(w->c, "Reshape", v, tfsdk_int_vector(w->c, all, 2)), shape_of(2, all));
    return;
  case 1: /* permuted */
    if (s.rank < 2) return;
    for (int32_t d = 0; d < s.rank; d++) order[d] = (d + 1) % s.rank;
    for (int32_t d = 0; d < s.rank; d++) t.dim[d] = s.dim[order[d]];
    v = tfsdk_emit2(w->c, "Transpose", v, tfsdk_int_vector(w->c, order, (uint32_t)s.rank));
    if (s.rank == 2 && below(w, 2)) { /* there and back */
      v = tfsdk_emit2(w->c, "Transpose", v, tfsdk_int_vector(w->c, order, 2));
      t = s;
    }
    keep(w, v, t);
    return;
  case 2: /* to the shape that a tensor has when it runs */
    v = tfsdk_emit2(w->c, "Reshape", tfsdk_emit1(w->c, "Neg", v),
                    tfsdk_emit1(w->c, "Shape", w->value[i]));
    keep(w, v, s);
    return;
  case 3: { /* two of them side by side */
    if (s.rank < 1 || n > 20000) return;
    tfsdk_val in[3] = {v, tfsdk_emit1(w->c, "Sigmoid", v), tfsdk_int_scalar(w->c, 0)};
    t.dim[0] *= 2;
    keep(w, one_attr(w, "ConcatV2", in, 3, tfsdk_a_int("N", 2)), t);
    return;
  }
  default: { /* a part of it */
    int64_t begin[12] = {0}, size[12];
    if (s.rank < 1) return;
    for (int32_t d = 0; d < s.rank; d++) size[d] = t.dim[d] = (s.dim[d] + 1) / 2;
    keep(w,
         tfsdk_emit3(w->c, "Slice", v, tfsdk_int_vector(w->c, begin, (uint32_t)s.rank),
                     tfsdk_int_vector(w->c, size, (uint32_t)s.rank)),
         t);
  }
  }
}

static void sum_several(graph *w, uint32_t i) {
  tfsdk_val in[4] = {w->value[i], partner(w, i), w->value[i], w->value[i]};
  uint32_t n = 1 + below(w, 4);
  tfsdk_typed_shape t = tfsdk_type(w->c, in[1]), s = tfsdk_type(w->c, in[0]);
  if (!tfsdk_same_shape(&t.shape, &s.shape)) in[1] = w->value[i];
  tfsdk_val v = one_attr(w, "AddN", in, n, tfsdk_a_int("N", n));
  keep(w, tfsdk_emit1(w->c, "Tanh", v), w->shape[i]);
}

static void grow(graph *w) {
  uint32_t steps = 5 + below(w, 40);
  for (uint32_t k = 0; k < steps; k++) {
    uint32_t i = below(w, 3) ? w->n - 1 - below(w, w->n < 4 ? w->n : 4) : below(w, w->n);
    switch (below(w, 16)) {
    case 0:
    case 1:
    case 2: unary(w, i); break;
    case 3:
    case 4:
    case 5:
    case 6: binary(w, i); break;
    case 7: choose(w, i); break;
    case 8: cast(w, i); break;
    case 9: reduce(w, i); break;
    case 10: product(w, i); break;
    case 11: convolve(w, i); break;
    case 12: normalise(w, i); break;
    case 13:
    case 14: reshape(w, i); break;
    default: sum_several(w, i); break;
    }
  }
}

/* ----------------------------------------------------------------------------- loss and updates */

static tfsdk_val total(graph *w, tfsdk_val v) {
  tfsdk_typed_shape t = tfsdk_type(w->c, v);
  int64_t axes[12], n = t.shape.rank < 0 ? 0 : t.shape.rank;
  for (int64_t d = 0; d < n; d++) axes[d] = d;
  return tfsdk_emit2(w->c, "Mean", v, tfsdk_int_vector(w->c, axes, (uint32_t)n));
}

static void finish(graph *w) {
  tfsdk_shape row = {.rank = 1, .dim = {7}};
  if (w->n_var == 0) add_variable(w, row);
  tfsdk_val loss = total(w, w->value[w->n - 1]);
  for (uint32_t k = 0; k < 3; k++)
    loss = tfsdk_emit2(w->c, "AddV2", loss, total(w, w->value[below(w, w->n)]));
  w->fetch[w->n_fetch++] = loss;
  for (uint32_t k = 0; k < 5; k++) w->fetch[w->n_fetch++] = w->value[below(w, w->n)];
  w->fetch[w->n_fetch++] = w->fetch[1]; /* the same twice */
  tfsdk_val x[MAX_VARS + 3];
  tfsdk_gradient dx[MAX_VARS + 3];
  uint32_t n_x = 0;
  for (uint32_t i = 0; i < w->n_var; i++)
    check(tfsdk_variable_value(w->var[i], w->c, &x[n_x++]), "a value");
  for (uint32_t i = 0; i < w->n_feed; i++) x[n_x++] = w->feed[i];
  /* as in training loops: gradients and updates wait for something with an effect */
  bool waits = below(w, 2) != 0;
  if (waits) {
    tfsdk_val in[2] = {tfsdk_variable_handle(w->var[0]), tfsdk_emit1(w->c, "Neg", x[0])};
    tfsdk_val half[2] = {in[1], tfsdk_scalar(w->c, TFSDK_FLOAT32, 0.125)};
    in[1] = tfsdk_emit2(w->c, "Mul", half[0], half[1]);
    tfsdk_val change = tfsdk_emit(w->c, "AssignAddVariableOp", in, 2, NULL, 0);
    check(tfsdk_ctx_push_control(w->c, &change, 1), "control dependencies");
  }
  check(tfsdk_gradients(w->g, &loss, 1, x, n_x, NULL, NULL, 0, dx), "gradients");
  for (uint32_t i = w->n_var; i < n_x; i++)
    if (dx[i].value.id != 0 && w->n_fetch < MAX_FETCH - MAX_VARS)
      w->fetch[w->n_fetch++] = dx[i].value;
  w->n_numbers = w->n_fetch;
  for (uint32_t i = 0; i < w->n_var; i++) {
    if (dx[i].value.id == 0) continue;
    tfsdk_val in[3] = {tfsdk_variable_handle(w->var[i]), tfsdk_scalar(w->c, TFSDK_FLOAT32, 0.25),
                       dx[i].value};
    w->fetch[w->n_fetch++] = tfsdk_emit(w->c, "ResourceApplyGradientDescent", in, 3, NULL, 0);
  }
  if (waits) tfsdk_ctx_pop_control(w->c);
  check(tfsdk_ctx_error(w->c), "the graph");
}

static void make(graph *w, tfsdk_runtime *rt, uint64_t seed) {
  memset(w, 0, sizeof *w);
  w->rt = rt;
  w->state = seed * 0x632be59bd9b4e019u + 1;
  check(tfsdk_graph_create(rt, &w->g), "a graph");
  w->c = tfsdk_graph_ctx(w->g);
  add_inputs(w);
  check(tfsdk_ctx_error(w->c), "the inputs");
  grow(w);
  check(tfsdk_ctx_error(w->c), "the graph");
  finish(w);
}

static void destroy(graph *w) {
  for (uint32_t i = 0; i < w->n_feed; i++) tfsdk_tensor_release(w->fed[i]);
  for (uint32_t i = 0; i < w->n_var; i++) tfsdk_variable_release(w->var[i]);
  tfsdk_graph_release(w->g);
}

/* ------------------------------------------------------------------------------------- comparing */

typedef struct outcome {
  tfsdk_tensor *t[RUNS * MAX_FETCH + MAX_VARS];
  uint32_t n;
} outcome;

static tfsdk_status *run(graph *w, const char *passes, outcome *out) {
  tfsdk_session_options o = {.struct_size = sizeof o, .passes = passes};
  tfsdk_session *s;
  tfsdk_tensor *got[MAX_FETCH], *none[MAX_VARS];
  tfsdk_val init[MAX_VARS];
  out->n = 0;
  TFSDK_TRY(tfsdk_session_create(w->g, &o, &s));
  for (uint32_t i = 0; i < w->n_var; i++) init[i] = tfsdk_variable_initializer(w->var[i]);
  tfsdk_status *st = tfsdk_session_run(s, init, w->n_var, NULL, NULL, 0, none);
  for (int k = 0; st == NULL && k < RUNS; k++) {
    st = tfsdk_session_run(s, w->fetch, w->n_fetch, w->feed, w->fed, w->n_feed, got);
    for (uint32_t i = 0; st == NULL && i < w->n_numbers; i++) out->t[out->n++] = got[i];
  }
  for (uint32_t i = 0; st == NULL && i < w->n_var; i++)
    st = tfsdk_session_read(s, tfsdk_variable_name(w->var[i]), &out->t[out->n++]);
  tfsdk_session_release(s);
  return st;
}

static void outcome_free(outcome *o) {
  for (uint32_t i = 0; i < o->n; i++) tfsdk_tensor_release(o->t[i]);
  o->n = 0;
}

/* The first difference, or false. */
static bool differ(const outcome *a, const outcome *b, bool exact, char *why, size_t n) {
  for (uint32_t i = 0; i < a->n && i < b->n; i++) {
    tfsdk_view x, y;
    check(tfsdk_tensor_view(a->t[i], &x), "a view");
    check(tfsdk_tensor_view(b->t[i], &y), "a view");
    if (x.n_elem != y.n_elem || x.rank != y.rank) {
      snprintf(why, n, "result %u has another shape", i);
      return true;
    }
    double largest = 1;
    for (int64_t k = 0; k < x.n_elem; k++)
      largest = fmax(largest, fabs((double)((const float *)x.data)[k]));
    for (int64_t k = 0; k < x.n_elem; k++) {
      float p = ((const float *)x.data)[k], q = ((const float *)y.data)[k];
      bool same =
          exact ? memcmp(&p, &q, sizeof p) == 0
                : (isnan(p) && isnan(q)) || fabs((double)p - (double)q) <= TOLERANCE * largest;
      if (same) continue;
      snprintf(why, n, "result %u, element %lld: %.9g instead of %.9g", i, (long long)k, (double)q,
               (double)p);
      return true;
    }
  }
  if (a->n == b->n) return false;
  snprintf(why, n, "%u results instead of %u", b->n, a->n);
  return true;
}

static const char *const variants[] = {
    "-simplify",           "-simplify,-fold",     "-simplify,-merge",
    "-simplify,-fuse",     "-simplify,-epilogue", "-simplify,-prologue",
    "-simplify,-schedule", "-simplify,-arena",    "all"};

static int one_graph(tfsdk_runtime *rt, uint64_t seed, bool verbose) {
  graph w;
  outcome plain, other;
  char why[200];
  int failed = 0;
  make(&w, rt, seed);
  check(run(&w, "none", &plain), "a run without passes");
  if (verbose)
    printf("seed %llu: %u nodes, %u values\n", (unsigned long long)seed,
           tfsdk_graph_node_count(w.g), plain.n);
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    bool exact = strncmp(variants[i], "-simplify", 9) == 0;
    tfsdk_status *s = run(&w, variants[i], &other);
    if (s != NULL) {
      printf("FAIL seed %llu, passes %s: %s\n", (unsigned long long)seed, variants[i],
             tfsdk_status_text(s));
      tfsdk_status_release(s);
      failed = 1;
    } else if (differ(&plain, &other, exact, why, sizeof why)) {
      printf("FAIL seed %llu, passes %s: %s\n", (unsigned long long)seed, variants[i], why);
      failed = 1;
    }
    outcome_free(&other);
  }
  outcome_free(&plain);
  destroy(&w);
  return failed;
}

int main(int argc, char **argv) {
  unsigned long long seed = 1, count = 1000, failed = 0;
  tfsdk_runtime_options o = {.struct_size = sizeof o, .threads = 2};
  bool verbose = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--verbose") == 0)
      verbose = true;
    else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0)
      seed = strtoull(argv[++i], NULL, 10);
    else if (i + 1 < argc && strcmp(argv[i], "--count") == 0)
      count = strtoull(argv[++i], NULL, 10);
    else if (i + 1 < argc && strcmp(argv[i], "--threads") == 0)
      o.threads = (uint32_t)strtoul(argv[++i], NULL, 10);
    else {
      fprintf(stderr, "usage: random_graphs [--seed N] [--count N] [--threads N] [--verbose]\n");
      return 2;
    }
  }
  tfsdk_runtime *rt;
  check(tfsdk_runtime_create(&o, &rt), "a runtime");
  for (unsigned long long k = 0; k < count; k++) {
    failed += (unsigned long long)one_graph(rt, seed + k, verbose);
    fflush(stdout);
  }
  tfsdk_runtime_release(rt);
  printf("%llu random graphs, %llu failed\n", count, failed);
  return failed != 0;
}
