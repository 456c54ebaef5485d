/* ctc.h - connectionist temporal classification: one row of a batch (Graves et al., ICML 2006).
 *
 * A label sequence l stands for all paths of T classes that become l when repeats are merged and blanks
 * are left out. Its loss is -log of the sum of the paths' probabilities. With blanks between and around
 * the labels, l' has 2 L + 1 states; alpha(t, s) and beta(t, s) sum the paths that lead to a state and
 * on from it, as logarithms in double precision, whatever the type of the tensor. */
#ifndef NN_CTC_H
#define NN_CTC_H

#include <math.h>
#include <tfsdk/emit.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

#include "row.h"

typedef struct ctc_row {
  int64_t steps, classes, blank;
  int64_t at, stride;   /* element of class 0 at step 0; from step to step */
  const int64_t *label; /* n_label of them */
  int64_t n_label;
  int merge; /* 0: a label that repeats in a path is two */
} ctc_row;

/* How many doubles of work space ctc_solve needs. */
static inline int64_t ctc_room(int64_t steps, int64_t classes, int64_t n_label) {
  return steps * classes + 2 * steps * (2 * n_label + 1) + classes + 1;
}

static inline double ctc_add(double a, double b) { /* log(exp a + exp b) */
  double hi = a > b ? a : b, lo = a > b ? b : a;
  return lo == -INFINITY ? hi : hi + log1p(exp(lo - hi));
}

static inline int64_t ctc_state(const ctc_row *c, int64_t s) {
  return s & 1 ? c->label[s / 2] : c->blank;
}
/* May a path stay in state s, or come to it from s - 2? */
static inline int ctc_stays(const ctc_row *c, int64_t s) { return c->merge || (s & 1) == 0; }
static inline int ctc_skips(const ctc_row *c, int64_t s) {
  return (s & 1) && s >= 2 && !(c->merge && c->label[s / 2] == c->label[s / 2 - 1]);
}

static inline void ctc_forward(const ctc_row *c, const double *logp, double *alpha) {
  const int64_t n = 2 * c->n_label + 1;
  for (int64_t t = 0; t < c->steps; t++)
    for (int64_t s = 0; s < n; s++) {
      double sum = t == 0 && s < 2 ? 0 : -INFINITY;
      const double *before = alpha + (t - 1) * n;
      if (t > 0) {
        if (ctc_stays(c, s)) sum = before[s];
        if (s > 0) sum = ctc_add(sum, before[s - 1]);
        if (ctc_skips(c, s)) sum = ctc_add(sum, before[s - 2]);
      }
      alpha[t * n + s] = sum + logp[t * c->classes + ctc_state(c, s)];
    }
}

/* Without the probability of the state's own step. */
static inline void ctc_backward(const ctc_row *c, const double *logp, double *beta) {
  const int64_t n = 2 * c->n_label + 1;
  for (int64_t t = c->steps; t-- > 0;)
    for (int64_t s = n; s-- > 0;) {
      double sum = t == c->steps - 1 && s >= n - 2 ? 0 : -INFINITY;
      const double *after = beta + (t + 1) * n, *p = logp + (t + 1) * c->classes;
      if (t < c->steps - 1) {
        if (ctc_stays(c, s)) sum = after[s] + p[ctc_state(c, s)];
        if (s + 1 < n) sum = ctc_add(sum, after[s + 1] + p[ctc_state(c, s + 1)]);
        if (s + 2 < n && ctc_skips(c, s + 2))
          sum = ctc_add(sum, after[s + 2] + p[ctc_state(c, s + 2)]);
      }
      beta[t * n + s] = sum;
    }
}

/* The loss of the row; `gradient` (a tensor like the logits, zero before) gets d loss / d logits. Where
 * no path fits the loss is infinite and the gradient softmax(logits), as TensorFlow has it. */
static inline double ctc_solve(const ctc_row *c, int32_t dtype, const void *logits, void *gradient,
                               double *room) {
  const int64_t n = 2 * c->n_label + 1, k = c->classes;
  double *logp = room, *alpha = logp + c->steps * k, *beta = alpha + c->steps * n,
         *row = beta + c->steps * n, total = -INFINITY;
  if (c->steps == 0) return c->n_label == 0 ? 0 : INFINITY;
  for (int64_t t = 0; t < c->steps; t++) {
    double top = -INFINITY, sum = 0, *p = logp + t * k;
    nn_load_f(dtype, logits, c->at + t * c->stride, 1, k, p);
    for (int64_t i = 0; i < k; i++) top = p[i] > top ? p[i] : top;
    for (int64_t i = 0; i < k; i++) sum += exp(p[i] - top);
    for (int64_t i = 0; i < k; i++) p[i] -= top + log(sum);
  }
  ctc_forward(c, logp, alpha);
  ctc_backward(c, logp, beta);
  for (int64_t s = n < 2 ? 0 : n - 2; s < n; s++)
    total = ctc_add(total, alpha[(c->steps - 1) * n + s]);
  for (int64_t t = 0; t < c->steps; t++) {
    for (int64_t i = 0; i < k; i++) row[i] = exp(logp[t * k + i]);
    for (int64_t s = 0; s < n && total > -INFINITY; s++)
      row[ctc_state(c, s)] -= exp(alpha[t * n + s] + beta[t * n + s] - total);
    nn_store_f(dtype, gradient, c->at + t * c->stride, 1, k, row);
  }
  return -total;
}

/* Shapes of logits [time, batch, classes] and of a vector over the batch. */
static inline tfsdk_status *ctc_infer(tfsdk_infer *c, uint32_t lengths, tfsdk_shape *logits,
                                      int64_t *batch) {
  tfsdk_shape vector;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 3, logits));
  TFSDK_TRY(tfsdk_with_rank(c, lengths, 1, &vector));
  TFSDK_REQUIRE(c, logits->dim[1] < 0 || vector.dim[0] < 0 || logits->dim[1] == vector.dim[0],
                "%lld sequence lengths for a batch of %lld", (long long)vector.dim[0],
                (long long)logits->dim[1]);
  *batch = logits->dim[1] >= 0 ? logits->dim[1] : vector.dim[0];
  logits->dim[1] = *batch;
  return NULL;
}

static inline tfsdk_status *ctc_check_length(const tfsdk_run *r, int64_t b, int64_t length,
                                             int64_t steps) {
  TFSDK_REQUIRE(r, length >= 0 && length <= steps,
                "the sequence length of row %lld is %lld; there are %lld steps", (long long)b,
                (long long)length, (long long)steps);
  return NULL;
}

/* The gradient is an output; it has none of its own, and says so. */
static inline tfsdk_status *ctc_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  static const char why[] = "the gradient of ctc_loss has no gradient: the loss computes it itself";
  if (tfsdk_has_dy(g, 1)) return TFSDK_FAIL(g, UNIMPLEMENTED, "%s", why);
  if (!tfsdk_has_dy(g, 0)) return NULL;
  tfsdk_val end = tfsdk_int_scalar(c, -1), first = tfsdk_int_scalar(c, 0), d = tfsdk_output(g, 1);
  tfsdk_val dy =
      tfsdk_emit2(c, "ExpandDims", tfsdk_emit2(c, "ExpandDims", tfsdk_dy(g, 0), end), first);
  tfsdk_attrval message = tfsdk_a_string("message", why);
  d = tfsdk_emit(c, "PreventGradient", &d, 1, &message, 1);
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Mul", dy, d));
}

#endif
