/* CTCBeamSearchDecoder: the likeliest label sequences, searched prefix by prefix (Graves & Jaitly, ICML 2014,
 * algorithm 1).
 *
 * Of a prefix is known the probability of all paths so far that become it, apart for those that end with
 * a blank and with its last label. Each step keeps the beam_width likeliest prefixes. A prefix that has
 * fallen out can come back as long as a longer one of it is there: it is then the same node. */
#include "ctc.h"

typedef struct mass { /* logarithms */
  double blank, label, total;
} mass;

typedef struct prefix {
  int64_t parent, label, child, sibling; /* -1: none */
  mass old, now; /* at the step before, and at this one; no mass: not in the beam */
} prefix;

typedef struct candidate {
  int64_t node, parent, label; /* node -1: a new prefix of parent and label */
  mass now;
} candidate;

typedef struct beam {
  prefix *node;
  int64_t n_node, width, n_kept, n_best;
  int64_t *kept;   /* the likeliest first */
  candidate *best; /* width + 1 of them, sorted */
} beam;

static const mass nothing = {-INFINITY, -INFINITY, -INFINITY};

static int fits(const beam *s, double total) {
  return total > -INFINITY && (s->n_best < s->width || total > s->best[s->n_best - 1].now.total);
}

/* Of equally likely ones the earlier stays in front. Who falls out has no mass any more. */
static void offer(beam *s, candidate c) {
  if (s->n_best == s->width && s->best[s->n_best - 1].node >= 0)
    s->node[s->best[s->n_best - 1].node].now = nothing;
  if (s->n_best < s->width) s->n_best++;
  int64_t at = s->n_best - 1;
  while (at > 0 && c.now.total > s->best[at - 1].now.total) at--;
  memmove(s->best + at + 1, s->best + at, (size_t)(s->n_best - at - 1) * sizeof c);
  s->best[at] = c;
  if (c.node >= 0) s->node[c.node].now = c.now;
}

static int64_t child_of(const beam *s, int64_t parent, int64_t label) {
  int64_t i = s->node[parent].child;
  while (i >= 0 && s->node[i].label != label) i = s->node[i].sibling;
  return i;
}

/* The mass that flows from a prefix into its continuation by `label`. */
static double flow(const prefix *p, int64_t label) {
  return p->label == label ? p->old.blank : p->old.total;
}

/* What prefixes in the beam keep at this step. */
static void stay(beam *s, const double *logp, int64_t blank) {
  for (int64_t i = 0; i < s->n_kept; i++) s->node[s->kept[i]].old = s->node[s->kept[i]].now;
  for (int64_t i = 0; i < s->n_kept; i++) {
    const prefix *p = &s->node[s->kept[i]];
    mass m = {p->old.total + logp[blank], -INFINITY, 0};
    if (p->parent >= 0) {
      const prefix *q = &s->node[p->parent];
      const double more = q->now.total > -INFINITY ? flow(q, p->label) : -INFINITY;
      m.label = ctc_add(p->old.label, more) + logp[p->label];
    }
    m.total = ctc_add(m.blank, m.label);
    offer(s, (candidate){s->kept[i], p->parent, p->label, m});
  }
}

/* Their continuations. As in TensorFlow one prefix is looked at after the other while the beam changes: one that has
 * fallen out, and was looked at as a continuation since, is not continued itself. */
static void grow(beam *s, const double *logp, int64_t classes, int64_t blank) {
  const int64_t n = s->n_kept;
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = s->kept[i];
    if (!fits(s, s->node[at].old.total)) continue;
    for (int64_t k = 0; k < classes; k++) {
      const int64_t child = k == blank ? -1 : child_of(s, at, k);
      if (k == blank || (child >= 0 && s->node[child].now.total > -INFINITY)) continue;
      const double l = flow(&s->node[at], k) + logp[k];
      if (fits(s, l))
        offer(s, (candidate){child, at, k, {-INFINITY, l, l}});
      else if (child >= 0)
        s->node[child].old = nothing;
    }
  }
}

static void go_on(beam *s, const double *logp, int64_t classes, int64_t blank) {
  s->n_best = 0;
  stay(s, logp, blank);
  grow(s, logp, classes, blank);
  for (int64_t i = 0; i < s->n_best; i++) {
    const candidate *c = &s->best[i];
    int64_t at = c->node;
    if (at < 0) {
      at = s->n_node++;
      s->node[at] = (prefix){
          .parent = c->parent, .label = c->label, .child = -1, .sibling = s->node[c->parent].child};
      s->node[c->parent].child = at;
    }
    s->node[at].now = c->now;
    s->kept[i] = at;
  }
  s->n_kept = s->n_best;
}

/* Logarithms of the softmax of one step of a row. */
static void log_softmax(const tfsdk_view *x, int64_t t, int64_t b, double *out) {
  const int64_t k = x->dim[2];
  double top = -INFINITY, sum = 0;
  nn_load_f(x->dtype, x->data, (t * x->dim[1] + b) * k, 1, k, out);
  for (int64_t i = 0; i < k; i++) top = out[i] > top ? out[i] : top;
  for (int64_t i = 0; i < k; i++) sum += exp(out[i] - top);
  for (int64_t i = 0; i < k; i++) out[i] -= top + log(sum);
}

static void search(beam *s, const tfsdk_view *x, int64_t b, int64_t steps, double *logp) {
  s->node[0] = (prefix){.parent = -1, .label = -1, .child = -1, .sibling = -1};
  s->node[0].now = (mass){0, -INFINITY, 0};
  s->n_node = s->n_kept = 1;
  s->kept[0] = 0;
  for (int64_t t = 0; t < steps; t++) {
    log_softmax(x, t, b, logp);
    go_on(s, logp, x->dim[2], x->dim[2] - 1);
  }
}

/* The labels of a prefix; equal neighbours once if `merge`. Gives how many. */
static int64_t read_prefix(const beam *s, int64_t at, int merge, int64_t *out) {
  int64_t n = 0, m = 0;
  for (int64_t i = at; s->node[i].parent >= 0; i = s->node[i].parent) n++;
  for (int64_t i = at, k = n; k-- > 0; i = s->node[i].parent) out[k] = s->node[i].label;
  for (int64_t i = 0; i < n; i++)
    if (!merge || i == 0 || out[i] != out[i - 1]) m++;
  if (m == n) return n;
  m = 0;
  for (int64_t i = 0; i < n; i++)
    if (m == 0 || out[i] != out[m - 1]) out[m++] = out[i];
  return m;
}

static tfsdk_status *write_path(tfsdk_run *r, uint32_t path, uint32_t paths, int64_t batch,
                                int64_t most, const int64_t *length, const int64_t *label) {
  int64_t dim[2] = {0, 2}, longest = 0;
  for (int64_t b = 0; b < batch; b++) {
    dim[0] += length[b * paths + path];
    longest = length[b * paths + path] > longest ? length[b * paths + path] : longest;
  }
  TFSDK_TRY(r->api->alloc_out(r, path, 2, dim));
  TFSDK_TRY(r->api->alloc_out(r, paths + path, 1, dim));
  int64_t *index = (int64_t *)r->out[path].data, *value = (int64_t *)r->out[paths + path].data;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < length[b * paths + path]; i++) {
      *index++ = b;
      *index++ = i;
      *value++ = label[(b * paths + path) * most + i];
    }
  ((int64_t *)r->out[2 * paths + path].data)[0] = batch;
  ((int64_t *)r->out[2 * paths + path].data)[1] = longest;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  const int64_t steps = x->dim[0], batch = x->dim[1], k = x->dim[2];
  const int64_t paths = tfsdk_attr_int(&r->attr, "top_paths");
  const int merge = tfsdk_attr_int(&r->attr, "merge_repeated") != 0;
  beam s = {.width = tfsdk_attr_int(&r->attr, "beam_width")};
  void *nodes, *best, *numbers, *logp;
  (void)state;
  TFSDK_REQUIRE(r, paths <= s.width, "'top_paths' is %lld, but 'beam_width' only %lld",
                (long long)paths, (long long)s.width);
  TFSDK_REQUIRE(r, k > 0 || batch == 0, "the logits have no classes; the last one is the blank");
  TFSDK_TRY(r->api->workspace(r, (size_t)(1 + steps * s.width) * sizeof *s.node, &nodes));
  TFSDK_TRY(r->api->workspace(r, (size_t)(s.width + 1) * sizeof *s.best, &best));
  TFSDK_TRY(r->api->workspace(
      r, (size_t)(s.width + 1 + batch * paths * (steps + 1)) * sizeof(int64_t), &numbers));
  TFSDK_TRY(r->api->workspace(r, (size_t)(k + 1) * sizeof(double), &logp));
  s.node = (prefix *)nodes;
  s.best = (candidate *)best;
  s.kept = (int64_t *)numbers;
  int64_t *length = s.kept + s.width + 1, *label = length + batch * paths;
  for (int64_t b = 0; b < batch; b++) {
    const int64_t n = ((const int32_t *)r->in[1].data)[b];
    TFSDK_TRY(ctc_check_length(r, b, n, steps));
    search(&s, x, b, n, (double *)logp);
    TFSDK_REQUIRE(r, s.n_kept >= paths,
                  "row %lld has %lld label sequences at all; 'top_paths' is %lld", (long long)b,
                  (long long)s.n_kept, (long long)paths);
    for (int64_t p = 0; p < paths; p++) {
      const int64_t at = b * paths + p;
      length[at] = read_prefix(&s, s.kept[p], merge, label + at * steps);
      nn_store_f(x->dtype, r->out[3 * paths].data, at, 1, 1, &s.node[s.kept[p]].now.total);
    }
  }
  for (int64_t p = 0; p < paths; p++)
    TFSDK_TRY(write_path(r, (uint32_t)p, (uint32_t)paths, batch, steps, length, label));
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  const uint32_t paths = (uint32_t)tfsdk_attr_int(&c->attr, "top_paths");
  tfsdk_shape x;
  int64_t batch = -1;
  TFSDK_TRY(ctc_infer(c, 1, &x, &batch));
  for (uint32_t p = 0; p < paths; p++) {
    c->out[p].shape = tfsdk_shape_of_rank(2);
    c->out[p].shape.dim[1] = 2;
    c->out[paths + p].shape = tfsdk_shape_of_rank(1);
    c->out[2 * paths + p].shape = tfsdk_shape_of_rank(1);
    c->out[2 * paths + p].shape.dim[0] = 2;
  }
  c->out[3 * paths].shape = tfsdk_shape_of_rank(2);
  c->out[3 * paths].shape.dim[0] = batch;
  c->out[3 * paths].shape.dim[1] = paths;
  return NULL;
}

static const tfsdk_arg in[] = {
    {"inputs", "T", "logits [time, batch, classes]; the last class is the blank", TFSDK_ARG_NONDIFF,
     0},
    {"sequence_length", "int32", "[batch]: how many steps of a row count", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"decoded_indices", "top_paths*int64", "[labels, 2] each: row and place of each label", 0, 0},
    {"decoded_values", "top_paths*int64", "[labels] each", 0, 0},
    {"decoded_shape", "top_paths*int64", "batch, and the length of the longest row", 0, 0},
    {"log_probability", "T", "[batch, top_paths]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"beam_width", "int", NULL, "how many prefixes are kept", 1, 1e6},
    {"top_paths", "int", NULL, "how many sequences are given, the likeliest first", 1, 1000},
    {"merge_repeated", "bool", "true", "equal neighbours of the result are one label", 0, 0},
    {"T", "dtype{float32,float64}", "float32", "the type of the logits", 0, 0}};
static const char *const samples[] = {
    "T[4,2,3] ; int32{4,3} | beam_width=10; top_paths=2",
    "float32[4,2,3] ; int32{2,3} | beam_width=3; top_paths=1; merge_repeated=false",
    "float32[0,0,3] ; int32[0] | beam_width=2; top_paths=1", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("CTCBeamSearchDecoder", "the likeliest label sequences of CTC logits"),
     .doc =
         "Prefix beam search: each step keeps the `beam_width` likeliest prefixes, so that a beam "
         "wider than their number is exact. `merge_repeated` merges equal neighbours of the "
         "*result*: A B B becomes A B even where a blank stood between (TensorFlow's default).",
     .in = in, .n_in = 2, .out = out, .n_out = 4, .attr = attr, .n_attr = 4, .infer = infer,
     .reference = compute, .no_grad_reason = "a choice of classes: a step function",
     .samples = samples}};
TFSDK_UNIT_OPS(ctc_beam_search_decoder, ops);
