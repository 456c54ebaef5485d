/* What every op is held to. */
#include "kit.h"

#include <math.h>

void check_record(report *r, const tfsdk_opdef *op) {
  if (!wants_check(r, "record")) return;
  uint32_t before = r->failed;
  if (op->summary == NULL || !*op->summary) fail(r, "record", "no summary");
  if (op->doc == NULL || !*op->doc) fail(r, "record", "no doc");
  if (op->samples == NULL || op->samples[0] == NULL) fail(r, "record", "no samples");
  if (op->grad == NULL && (op->no_grad_reason == NULL || !*op->no_grad_reason))
    fail(r, "record", "neither gradient nor reason");
  for (uint32_t i = 0; i < op->n_in; i++)
    if (op->in[i].doc == NULL || !*op->in[i].doc)
      fail(r, "record", "input '%s' has no doc", op->in[i].name);
  for (uint32_t i = 0; i < op->n_out; i++)
    if (op->out[i].doc == NULL || !*op->out[i].doc)
      fail(r, "record", "output '%s' has no doc", op->out[i].name);
  for (uint32_t i = 0; i < op->n_attr; i++)
    if (op->attr[i].doc == NULL || !*op->attr[i].doc)
      fail(r, "record", "attribute '%s' has no doc", op->attr[i].name);
  if (before == r->failed) pass(r);
}

/* --------------------------------------------------------------- values: kernels, modes, inputs */

static void compare(report *r, const char *check, const char *op, result *want, result *got,
                    bool exact) {
  char why[200];
  if (want->n != got->n) {
    fail(r, check, "%u outputs instead of %u", got->n, want->n);
    return;
  }
  for (uint32_t i = 0; i < want->n; i++)
    if (!same(want->out[i], got->out[i],
              exact ? -1 : tolerance_of(op, tfsdk_tensor_dtype(want->out[i])), why, sizeof why)) {
      fail(r, check, "output %u: %s", i, why);
      return;
    }
  pass(r);
}

static uint64_t checksum(tfsdk_tensor **in, uint32_t n) {
  uint64_t h = 1469598103934665603u;
  for (uint32_t i = 0; i < n; i++) {
    tfsdk_view v;
    if (in[i] == NULL) continue;
    tfsdk_status_release(tfsdk_tensor_view(in[i], &v));
    for (uint64_t k = 0; k < v.byte_size; k++)
      h = (h ^ ((unsigned char *)v.data)[k]) * 1099511628211u;
  }
  return h;
}

static void compare_runtimes(report *r, const char *check, const runtimes *rts, const sample *s,
                             uint64_t seed, bool errors_allowed) {
  tfsdk_tensor *a[MAX_IN], *b[MAX_IN];
  result x = {{NULL}, 0}, y = {{NULL}, 0};
  tfsdk_status *st = make_inputs(rts->reference, s, seed, a);
  if (st != NULL) {
    fail_status(r, check, st);
    return;
  }
  st = make_inputs(rts->plain, s, seed, b);
  if (st != NULL) {
    release_all(a, s->n_in);
    fail_status(r, check, st);
    return;
  }
  fresh_seeds();
  uint64_t before = checksum(b, s->n_in);
  tfsdk_status *sx = run_eager(rts->reference, s, a, &x), *sy = run_eager(rts->plain, s, b, &y);
  if (checksum(b, s->n_in) != before) fail(r, check, "an input was written to");
  if (sx == NULL && sy == NULL)
    compare(r, check, s->op->name, &x, &y, false);
  else if ((sx == NULL) != (sy == NULL))
    fail(r, check, "the %s kernel fails and the other does not: %s", sx ? "reference" : "chosen",
         tfsdk_status_text(sx ? sx : sy));
  else if (errors_allowed)
    pass(r);
  else
    fail(r, check, "%s", tfsdk_status_text(sx));
  tfsdk_status_release(sx);
  tfsdk_status_release(sy);
  result_free(&x);
  result_free(&y);
  release_all(a, s->n_in);
  release_all(b, s->n_in);
}

static void compare_modes(report *r, const runtimes *rts, const sample *s) {
  tfsdk_tensor *in[MAX_IN];
  result x = {{NULL}, 0}, y = {{NULL}, 0}, again = {{NULL}, 0};
  fresh_seeds();
  tfsdk_status *st = make_inputs(rts->plain, s, 7, in);
  if (st == NULL) {
    /* random ops: run_graph counts the outputs by running eagerly, so the eager draw comes first */
    st = run_eager(rts->plain, s, in, &x);
    if (st == NULL && !(s->op->flags & TFSDK_OP_RANDOM)) st = run_eager(rts->plain, s, in, &again);
    if (st == NULL) st = run_graph(rts->plain, s, in, GRAPH_PLAIN, &y);
    if (st == NULL) compare(r, "modes", s->op->name, &x, &y, true);
    result_free(&y);
    if (st == NULL && s->op->rewrite != NULL) {
      st = run_graph(rts->plain, s, in, GRAPH_REWRITTEN, &y);
      if (st == NULL) compare(r, "rewrite", s->op->name, &x, &y, false);
    }
    if (st == NULL && again.n) compare(r, "repeat", s->op->name, &x, &again, true);
    release_all(in, s->n_in);
  }
  result_free(&x);
  result_free(&y);
  result_free(&again);
  if (st != NULL) fail_status(r, "modes", st);
}

void check_values(report *r, const runtimes *rts, const sample *s) {
  if (wants_check(r, "kernels")) compare_runtimes(r, "kernels", rts, s, 11, false);
  if (wants_check(r, "modes")) compare_modes(r, rts, s);
}

/* Other extents, and empty ones: a result or a clean error, the same from every kernel. */
/* In a group, tile by tile, a kernel gives what it gives alone. Where that is an error (a literal
 * input does not go with the new extents) there is nothing to compare. */
static void compare_fused(report *r, const runtimes *rts, const sample *s, enum graph_kind kind) {
  const char *check = kind == GRAPH_FUSED ? "fused" : "supplied";
  tfsdk_tensor *in[MAX_IN];
  result x = {{NULL}, 0}, y = {{NULL}, 0};
  tfsdk_status *st = make_inputs(rts->plain, s, 13, in);
  const bool made = st == NULL;
  if (made && (kind == GRAPH_FUSED || asks_for_elements(rts->plain, s, in))) {
    tfsdk_status *alone = run_eager(rts->plain, s, in, &x);
    if (alone == NULL) st = run_graph(rts->plain, s, in, kind, &y);
    if (alone == NULL && st == NULL) compare(r, check, s->op->name, &x, &y, true);
    tfsdk_status_release(alone);
  }
  if (made) release_all(in, s->n_in);
  result_free(&x);
  result_free(&y);
  if (st != NULL) fail_status(r, check, st);
}

/* Each extent in turn so large that plans find it worth while to supply the elements of input 0. */
static void check_supplied(report *r, const runtimes *rts, const tfsdk_opdef *op, const char *text,
                           int32_t T) {
  const int64_t enough = 40000, too_much = 1000000;
  int64_t extents[64];
  sample s;
  char why[200];
  if ((op->flags & (TFSDK_OP_ELEMENTWISE | TFSDK_OP_STATEFUL)) || op->n_in == 0 ||
      !sample_parse(op, text, T, &s, why, sizeof why))
    return;
  uint32_t n =
      s.in[0].absent || s.in[0].literal || s.in[0].variable ? 0 : sample_extents(&s, extents);
  sample_free(&s);
  for (uint32_t k = 0; k < n; k++)
    for (int64_t to = 4, done = 0; !done; to *= 2) {
      if (!sample_parse(op, text, T, &s, why, sizeof why)) return;
      int64_t all = 0;
      sample_rename(&s, extents[k], to);
      for (uint32_t i = 0; i < s.n_in; i++) all += tfsdk_shape_elements(&s.in[i].shape);
      done = all > too_much || to > too_much || tfsdk_shape_elements(&s.in[0].shape) >= enough;
      if (tfsdk_shape_elements(&s.in[0].shape) >= enough && all <= too_much)
        compare_fused(r, rts, &s, GRAPH_SUPPLIED);
      sample_free(&s);
    }
}

void check_shapes(report *r, const runtimes *rts, const tfsdk_opdef *op, const char *text,
                  int32_t T) {
  int64_t extents[64];
  sample s;
  char why[200];
  uint64_t state = 99;
  if (!wants_check(r, "shapes") && !wants_check(r, "empty") && !wants_check(r, "fused") &&
      !wants_check(r, "supplied"))
    return;
  if (!sample_parse(op, text, T, &s, why, sizeof why)) return;
  uint32_t n = sample_extents(&s, extents);
  sample_free(&s);
  for (uint32_t k = 0; k < n && wants_check(r, "empty"); k++) {
    if (!sample_parse(op, text, T, &s, why, sizeof why)) return;
    sample_rename(&s, extents[k], 0);
    compare_runtimes(r, "empty", rts, &s, 3, true);
    sample_free(&s);
  }
  for (int draw = 0; draw < 3 && n > 0 && wants_check(r, "shapes"); draw++) {
    if (!sample_parse(op, text, T, &s, why, sizeof why)) return;
    for (uint32_t k = 0; k < n; k++) sample_rename(&s, extents[k], -1000 - (int64_t)k);
    for (uint32_t k = 0; k < n; k++)
      sample_rename(&s, -1000 - (int64_t)k,
                    draw == 2 && k == n - 1        ? 33
                    : extents[k] == 1 && draw == 0 ? 1
                                                   : 1 + (int64_t)(random_bits(&state) % 9));
    compare_runtimes(r, "shapes", rts, &s, 5, true);
    sample_free(&s);
  }
  if ((op->flags & TFSDK_OP_ELEMENTWISE) && wants_check(r, "fused") &&
      sample_parse(op, text, T, &s, why, sizeof why)) {
    for (uint32_t k = 0; k < n; k++) /* several tiles, and a rest */
      if (extents[k] != 1) sample_rename(&s, extents[k], k == n - 1 ? 1301 : 2 + (int64_t)k);
    compare_fused(r, rts, &s, GRAPH_FUSED);
    sample_free(&s);
  }
  if (wants_check(r, "supplied")) check_supplied(r, rts, op, text, T);
}

/* -------------------------------------------------------------------------------------- gradients
 */

static tfsdk_status *perturbed(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                               uint32_t which, int64_t at, double by, double *loss) {
  tfsdk_view v;
  tfsdk_tensor *copy, *saved = in[which];
  TFSDK_TRY(tfsdk_tensor_view(saved, &v));
  TFSDK_TRY(tfsdk_tensor_create(rt, v.dtype, v.rank, v.dim, v.data, (size_t)v.byte_size, &copy));
  tfsdk_view w;
  TFSDK_TRY(tfsdk_tensor_view(copy, &w));
  ((double *)w.data)[at] += by; /* nobody else has seen it yet */
  in[which] = copy;
  tfsdk_status *st = loss_of(rt, s, in, 17, loss);
  in[which] = saved;
  tfsdk_tensor_release(copy);
  return st;
}

/* Whether an op gives float32 whatever it takes: differences are as coarse as its results then. */
static bool gives_float32(const tfsdk_opdef *op) {
  for (uint32_t i = 0; i < op->n_out; i++)
    if (strcmp(op->out[i].type, "float32") == 0) return true;
  return false;
}

/* Central differences of fourth order in float64. */
static tfsdk_status *difference(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                                uint32_t which, int64_t at, double *out) {
  const double h = gives_float32(s->op) ? 0.05 : 1e-4;
  double a, b, c, d;
  TFSDK_TRY(perturbed(rt, s, in, which, at, h, &a));
  TFSDK_TRY(perturbed(rt, s, in, which, at, -h, &b));
  TFSDK_TRY(perturbed(rt, s, in, which, at, 2 * h, &c));
  TFSDK_TRY(perturbed(rt, s, in, which, at, -2 * h, &d));
  *out = (8 * (a - b) - (c - d)) / (12 * h);
  return NULL;
}

static tfsdk_status *against_differences(report *r, tfsdk_runtime *rt, const sample *s,
                                         tfsdk_tensor **in, tfsdk_tensor **grad,
                                         const unsigned char *wanted) {
  const double tolerance = gives_float32(s->op) ? 1e-4 : 2e-6;
  for (uint32_t i = 0; i < s->n_in; i++) {
    tfsdk_view g = {0};
    int64_t n = wanted[i] ? tfsdk_tensor_elements(in[i]) : 0;
    if (grad[i] != NULL) TFSDK_TRY(tfsdk_tensor_view(grad[i], &g));
    for (int64_t k = 0; k < n && k < 24; k++) {
      double want, got = grad[i] ? tfsdk_view_number(&g, k) : 0;
      TFSDK_TRY(difference(rt, s, in, i, k, &want));
      if (!(fabs(want - got) <= tolerance * (1 + fabs(want)))) {
        fail(r, "gradient", "input %u element %lld: %.9g, but differences give %.9g", i,
             (long long)k, got, want);
        return NULL;
      }
    }
  }
  pass(r);
  return NULL;
}

static void compare_gradients(report *r, const char *check, tfsdk_tensor **want, tfsdk_tensor **got,
                              const unsigned char *which, uint32_t n) {
  char why[200];
  for (uint32_t i = 0; i < n; i++) {
    if (!which[i]) continue;
    if ((want[i] == NULL) != (got[i] == NULL)) {
      fail(r, check, "input %u has a gradient in one way only", i);
      return;
    }
    if (want[i] != NULL && !same(want[i], got[i], -1, why, sizeof why)) {
      fail(r, check, "input %u: %s", i, why);
      return;
    }
  }
  pass(r);
}

static uint32_t arg_of(const sample *s, uint32_t i) {
  uint32_t lists = 0, list = 0;
  for (uint32_t a = 0; a < s->op->n_in; a++)
    if (strchr(s->op->in[a].type, '*') || strncmp(s->op->in[a].type, "list:", 5) == 0) {
      lists++;
      list = a;
    }
  if (lists == 0) return i;
  uint32_t members = (s->n_in - (s->op->n_in - lists)) / lists;
  if (i < list - (lists - 1)) return i;
  uint32_t a = list - (lists - 1) + (members ? (i - (list - (lists - 1))) / members : 0);
  return a <= list ? a : list + 1 + (i - (list - (lists - 1)) - members * lists);
}

void check_gradients(report *r, const runtimes *rts, const sample *s) {
  tfsdk_tensor *in[MAX_IN], *tape[MAX_IN] = {NULL}, *graph[MAX_IN] = {NULL},
                            *alone[MAX_IN] = {NULL};
  unsigned char wanted[MAX_IN] = {0}, one[MAX_IN];
  uint32_t n_wanted = 0;
  if (s->op->grad == NULL || s->nograd || !wants_check(r, "gradient")) return;
  for (uint32_t i = 0; i < s->n_in; i++) {
    uint32_t a = arg_of(s, i);
    bool ok = !s->in[i].absent && !s->in[i].variable && is_float(s->in[i].dtype) &&
              a < s->op->n_in && !(s->op->in[a].flags & (TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY));
    wanted[i] = ok;
    n_wanted += ok;
  }
  if (n_wanted == 0) return;
  tfsdk_status *st = make_inputs(rts->plain, s, 23, in);
  if (st == NULL) st = grad_eager(rts->plain, s, in, wanted, 17, tape);
  if (st == NULL && !(s->op->flags & TFSDK_OP_RANDOM)) {
    st = grad_graph(rts->plain, s, in, wanted, 17, graph);
    if (st == NULL) compare_gradients(r, "gradient-modes", tape, graph, wanted, s->n_in);
    for (uint32_t i = 0; st == NULL && i < s->n_in && n_wanted > 1; i++) {
      if (!wanted[i]) continue;
      memset(one, 0, sizeof one);
      one[i] = 1;
      st = grad_eager(rts->plain, s, in, one, 17, alone);
      if (st == NULL) compare_gradients(r, "gradient-wants", tape, alone, one, s->n_in);
      release_all(alone, s->n_in);
    }
    bool all64 = true;
    for (uint32_t i = 0; i < s->n_in; i++)
      all64 = all64 && (!wanted[i] || s->in[i].dtype == TFSDK_FLOAT64);
    for (uint32_t i = 0; i < s->n_attr;
         i++) /* a result of fewer digits has no use for differences */
      all64 = all64 && (s->attr[i].kind != TFSDK_ATTR_DTYPE || s->attr[i].v.i == TFSDK_FLOAT64 ||
                        !is_float((int32_t)s->attr[i].v.i));
    result y = {{NULL}, 0};
    if (st == NULL && all64) st = run_eager(rts->plain, s, in, &y);
    for (uint32_t i = 0; i < y.n; i++)
      all64 = all64 && (!is_float(tfsdk_tensor_dtype(y.out[i])) ||
                        tfsdk_tensor_dtype(y.out[i]) == TFSDK_FLOAT64);
    result_free(&y);
    if (st == NULL && all64 && !(s->op->flags & TFSDK_OP_STATEFUL))
      st = against_differences(r, rts->plain, s, in, tape, wanted);
  }
  if (st != NULL) fail_status(r, "gradient", st);
  release_all(tape, s->n_in);
  release_all(graph, s->n_in);
  release_all(in, s->n_in);
}

/* ----------------------------------------------------------------------------------------- memory
 */

void check_memory(report *r, const runtimes *rts, const sample *s) {
  tfsdk_tensor *in[MAX_IN];
  result y = {{NULL}, 0};
  tfsdk_memory_info before, after;
  tfsdk_runtime *rt = rts->plain;
  if (!wants_check(r, "memory")) return;
  tfsdk_status *st = make_inputs(rt, s, 31, in);
  if (st != NULL) {
    fail_status(r, "memory", st);
    return;
  }
  st = run_eager(rt, s, in, &y);
  result_free(&y);
  tfsdk_runtime_memory(rt, NULL, &before);
  if (st == NULL) {
    st = run_eager(rt, s, in, &y);
    result_free(&y);
  }
  tfsdk_runtime_memory(rt, NULL, &after);
  uint64_t n = after.allocations - before.allocations;
  if (after.damaged)
    fail(r, "memory", "%llu guard zones were overwritten", (unsigned long long)after.damaged);
  for (uint64_t i = 1; st == NULL && i <= n && i <= 60; i++) {
    tfsdk_runtime_memory(rt, NULL, &before);
    tfsdk_runtime_fail_allocation(rt, i, 0);
    tfsdk_status *e = run_eager(rt, s, in, &y);
    tfsdk_runtime_fail_allocation(rt, 0, 0);
    result_free(&y);
    tfsdk_runtime_memory(rt, NULL, &after);
    if (e != NULL && tfsdk_status_code(e) != TFSDK_RESOURCE_EXHAUSTED)
      fail(r, "memory", "allocation %llu failing gives: %s", (unsigned long long)i,
           tfsdk_status_text(e));
    else if (!s->in[0].variable && after.live_tensors > before.live_tensors)
      fail(r, "memory", "allocation %llu failing leaves %llu tensors", (unsigned long long)i,
           (unsigned long long)(after.live_tensors - before.live_tensors));
    tfsdk_status_release(e);
    if (r->failed > 20) break;
  }
  release_all(in, s->n_in);
  if (st != NULL)
    fail_status(r, "memory", st);
  else
    pass(r);
}
