/* CumulativeLogsumexp: y_k = ln(e^x_0 + ... + e^x_k) along an axis, without overflow.
 *
 * With the weights W_jk = e^(x_j - y_k) for j <= k, which for each k are a softmax:
 *     gradient   dx_j = sum over k of W_jk dy_k = e^(x_j - y_j) R_j,  R_j = dy_j + e^(y_j -
 * y_(j+1)) R_(j+1) tangent    t_k  = sum over j of W_jk v_j:   t_k = e^(x_k - y_k) v_k + e^(y_(k-1)
 * - y_k) t_(k-1) y never falls along the scan, so that no exponent is positive. Differentiating W
 * gives both ops' own gradients in terms of each other. An exclusive scan begins with -inf; its
 * backward ops read one position later and write one later. */
#include "scan.h"

/* ln(e^s + e^x); -inf is the neutral element */
static inline double log_add(double s, double x) {
  double hi = s > x ? s : x, lo = s > x ? x : s;
  if (!(lo > -INFINITY) || isinf(hi)) return lo != lo || hi != hi ? lo + hi : hi;
  return hi + log1p(exp(lo - hi));
}
SCAN(compute, TFSDK_EW_FLOATS_AS_DOUBLE, -INFINITY, log_add(s, x))

/* e^(a - b), 0 where a is -inf, also against itself */
static inline double weight(double a, double b) { return a > -INFINITY ? exp(a - b) : 0; }

static tfsdk_status *lines(tfsdk_run *r, const scan *job, int is_grad) {
  double *x, *y, *u;
  void *p = NULL;
  const int64_t n = job->n;
  if (job->lines == 0) return NULL;
  TFSDK_TRY(r->api->workspace(r, (size_t)n * 3 * sizeof(double), &p));
  x = (double *)p;
  y = x + n;
  u = y + n;
  for (int64_t line = 0; line < job->lines; line++) {
    double s = -INFINITY, t = 0;
    scan_load(job, &r->in[0], line, 0, x);
    scan_load(job, &r->in[1], line, is_grad ? job->exclusive : 0, u);
    for (int64_t k = 0; k < n; k++) y[k] = s = log_add(s, x[k]);
    if (is_grad) {
      for (int64_t j = n - 1; j >= 0; j--) {
        t = j == n - 1 ? u[j] : u[j] + weight(y[j], y[j + 1]) * t;
        u[j] = weight(x[j], y[j]) * t;
      }
    } else {
      for (int64_t k = 0; k < n; k++) {
        t = weight(x[k], y[k]) * u[k] + (k > 0 ? weight(y[k - 1], y[k]) * t : 0);
        u[k] = t;
      }
    }
    scan_store(job, &r->out[0], line, is_grad ? 0 : job->exclusive, u);
  }
  return NULL;
}
static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  const scan job = scan_begin(r, &r->in[2]);
  (void)state;
  return lines(r, &job, 1);
}
static tfsdk_status *compute_tangent(void *state, tfsdk_run *r) {
  const scan job = scan_begin(r, &r->in[2]);
  (void)state;
  return lines(r, &job, 0);
}

static tfsdk_val call(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op, tfsdk_val x, tfsdk_val u,
                      tfsdk_val axis) {
  tfsdk_val args[3];
  args[0] = x;
  args[1] = u;
  args[2] = axis;
  return scan_emit(c, g, op, args, 3, 0);
}
#define GRAD    "CumulativeLogsumexpGrad"
#define TANGENT "CumulativeLogsumexpTangent"

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, call(c, g, GRAD, tfsdk_input(g, 0), tfsdk_dy(g, 0), tfsdk_input(g, 1)));
}
/* dx = grad(x, dy):   d/d(dy) = tangent(x, u),   d/dx = u dx - grad(x, dy tangent(x, u)) */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_input(g, 1), axis = tfsdk_input(g, 2);
  tfsdk_val u = tfsdk_dy(g, 0), t = call(c, g, TANGENT, x, u, axis);
  TFSDK_TRY(tfsdk_set_dx(g, 1, t));
  if (!tfsdk_wants(g, 0)) return tfsdk_ctx_error(c);
  return tfsdk_set_dx(
      g, 0, v_sub(c, v_mul(c, u, tfsdk_output(g, 0)), call(c, g, GRAD, x, v_mul(c, dy, t), axis)));
}
/* t = tangent(x, v):   d/dv = grad(x, u),   d/dx = v grad(x, u) - grad(x, u t) */
static tfsdk_status *tangent_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), v = tfsdk_input(g, 1), axis = tfsdk_input(g, 2);
  tfsdk_val u = tfsdk_dy(g, 0), back = call(c, g, GRAD, x, u, axis);
  TFSDK_TRY(tfsdk_set_dx(g, 1, back));
  if (!tfsdk_wants(g, 0)) return tfsdk_ctx_error(c);
  return tfsdk_set_dx(
      g, 0,
      v_sub(c, v_mul(c, v, back), call(c, g, GRAD, x, v_mul(c, u, tfsdk_output(g, 0)), axis)));
}

static tfsdk_status *infer(tfsdk_infer *c) { return scan_infer(c, c->n_in - 1); }

static const tfsdk_arg in[] = {{"x", "T", "rank 1 or more", 0, 0}, SCAN_ARG_AXIS};
static const tfsdk_arg grad_in[] = {
    {"x", "T", "the forward op's input", 0, 0}, {"dy", "T", "of x's shape", 0, 0}, SCAN_ARG_AXIS};
static const tfsdk_arg tangent_in[] = {{"x", "T", "the forward op's input", 0, 0},
                                       {"v", "T", "a direction, of x's shape", 0, 0},
                                       SCAN_ARG_AXIS};
SCAN_OUT
SCAN_ATTRS(TFSDK_T_FLOATS)
static const char *const samples[] = {"T[2,3,4] ; int32(1)", "T[2,3] ; int64(-1) | reverse=true",
                                      NULL};
static const char *const back_samples[] = {
    "T[2,3] ; T[2,3] ; int32(1)", "T[2,3] ; T[2,3] ; int32(0) | exclusive=true; reverse=true",
    NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("CumulativeLogsumexp", "running log of the sum of exponentials along an axis"),
     SCAN_RECORD(in, 1), .infer = infer,
     .doc =
         "out[k] = ln(e^x[0] + ... + e^x[k]) along the axis, without overflow; exclusive: without "
         "x[k], beginning with -inf.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
    {TFSDK_OP_HEAD(GRAD, "the gradient of CumulativeLogsumexp"), SCAN_RECORD(grad_in, 2),
     .infer = infer,
     .doc = "out[j] = sum over k of dy[k] e^(x[j] - y[k]), y the forward op's output.",
     .reference = compute_grad, .grad = grad_grad, .grad_in = 7, .grad_out = 1,
     .samples = back_samples},
    {TFSDK_OP_HEAD(TANGENT, "the derivative of CumulativeLogsumexp in a direction"),
     SCAN_RECORD(tangent_in, 2), .infer = infer,
     .doc = "out[k] = sum over j of v[j] e^(x[j] - y[k]), y the forward op's output.",
     .reference = compute_tangent, .grad = tangent_grad, .grad_in = 7, .grad_out = 1,
     .samples = back_samples},
};
TFSDK_UNIT_OPS(cumulative_logsumexp, ops);
