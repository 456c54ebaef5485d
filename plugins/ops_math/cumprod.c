/* Cumprod: running products along an axis, y_k = x_0 x_1 .. x_k.
 *
 * Gradient, exact with any number of zeros, in one pass each way (no division):
 *     dx_j = P_j S_j   with  P_j = x_0 .. x_(j-1)   and   S_j = dy_j + x_(j+1) S_(j+1)
 *
 * Second order: with v in the direction of x, the derivative of a scan along v comes from running
 * the same recurrences on dual numbers x + e v (e^2 = 0): CumprodTangent is that of Cumprod,
 * CumprodGradTangent that of CumprodGrad. As a matrix of second derivatives is symmetric, the
 * latter is also the gradient of CumprodGrad with respect to x. Exclusive scans read dy one
 * position later, and write one later. */
#include "scan.h"

SCAN(compute_float, TFSDK_EW_FLOATS_AS_DOUBLE, 1, s *x)
SCAN(compute_int, TFSDK_EW_INTS_WRAP, 1, s *x)
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return tfsdk_dtype_kind(r->in[0].dtype) == 'f' ? compute_float(state, r) : compute_int(state, r);
}

/* dx and, along the tangent v of x, its derivative dt. v may be NULL. In place: dx may be dy. */
static void backward(int64_t n, const double *x, const double *v, const double *dy, double *dx,
                     double *dt) {
  double p = 1, pt = 0, s = 0, st = 0;
  for (int64_t j = n - 1; j >= 0; j--) { /* S into dx and dt */
    if (v != NULL) st = j == n - 1 ? 0 : v[j + 1] * s + x[j + 1] * st;
    s = j == n - 1 ? dy[j] : dy[j] + x[j + 1] * s;
    dx[j] = s;
    if (v != NULL) dt[j] = st;
  }
  for (int64_t j = 0; j < n; j++) {
    if (v != NULL) {
      dt[j] = pt * dx[j] + p * dt[j];
      pt = pt * x[j] + p * v[j];
    }
    dx[j] *= p;
    p *= x[j];
  }
}

static tfsdk_status *room_for(tfsdk_run *r, const scan *job, int64_t lines, double **out) {
  void *p = NULL;
  if (job->lines == 0) return NULL;
  TFSDK_TRY(r->api->workspace(r, (size_t)(job->n * lines) * sizeof(double), &p));
  *out = (double *)p;
  return NULL;
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  const scan job = scan_begin(r, &r->in[2]);
  double *x = NULL, *dx;
  (void)state;
  TFSDK_TRY(room_for(r, &job, 2, &x));
  dx = x + job.n;
  for (int64_t line = 0; line < job.lines; line++) {
    scan_load(&job, &r->in[0], line, 0, x);
    scan_load(&job, &r->in[1], line, job.exclusive, dx);
    backward(job.n, x, NULL, dx, dx, NULL);
    scan_store(&job, &r->out[0], line, 0, dx);
  }
  return NULL;
}

/* The derivative of y_k along v: sum over j of v_j times the product of the others. */
static tfsdk_status *compute_tangent(void *state, tfsdk_run *r) {
  const scan job = scan_begin(r, &r->in[2]);
  double *x = NULL, *v;
  (void)state;
  TFSDK_TRY(room_for(r, &job, 2, &x));
  v = x + job.n;
  for (int64_t line = 0; line < job.lines; line++) {
    double p = 1, pt = 0;
    scan_load(&job, &r->in[0], line, 0, x);
    scan_load(&job, &r->in[1], line, 0, v);
    for (int64_t k = 0; k < job.n; k++) {
      pt = pt * x[k] + p * v[k];
      p *= x[k];
      v[k] = pt;
    }
    scan_store(&job, &r->out[0], line, job.exclusive, v);
  }
  return NULL;
}

static tfsdk_status *compute_grad_tangent(void *state, tfsdk_run *r) {
  const scan job = scan_begin(r, &r->in[3]);
  double *x = NULL, *dy, *v, *dt;
  (void)state;
  TFSDK_TRY(room_for(r, &job, 4, &x));
  dy = x + job.n;
  v = dy + job.n;
  dt = v + job.n;
  for (int64_t line = 0; line < job.lines; line++) {
    scan_load(&job, &r->in[0], line, 0, x);
    scan_load(&job, &r->in[1], line, job.exclusive, dy);
    scan_load(&job, &r->in[2], line, 0, v);
    backward(job.n, x, v, dy, dy, dt);
    scan_store(&job, &r->out[0], line, 0, dt);
  }
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val args[3];
  args[0] = tfsdk_input(g, 0);
  args[1] = tfsdk_dy(g, 0);
  args[2] = tfsdk_input(g, 1);
  return tfsdk_set_dx(g, 0, scan_emit(c, g, "CumprodGrad", args, 3, 0));
}

static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val args[4];
  args[0] = tfsdk_input(g, 0);
  if (tfsdk_wants(g, 0)) {
    args[1] = tfsdk_input(g, 1);
    args[2] = tfsdk_dy(g, 0);
    args[3] = tfsdk_input(g, 2);
    TFSDK_TRY(tfsdk_set_dx(g, 0, scan_emit(c, g, "CumprodGradTangent", args, 4, 0)));
  }
  args[1] = tfsdk_dy(g, 0);
  args[2] = tfsdk_input(g, 2);
  return tfsdk_set_dx(g, 1, scan_emit(c, g, "CumprodTangent", args, 3, 0));
}

static tfsdk_status *infer(tfsdk_infer *c) { return scan_infer(c, c->n_in - 1); }

#define THIRD "third derivatives of a running product are not implemented"
static const tfsdk_arg in[] = {{"x", "T", "rank 1 or more", 0, 0}, SCAN_ARG_AXIS};
static const tfsdk_arg grad_in[] = {
    {"x", "T", "the input of Cumprod", 0, 0}, {"dy", "T", "of x's shape", 0, 0}, SCAN_ARG_AXIS};
static const tfsdk_arg tangent_in[] = {{"x", "T", "the input of Cumprod", 0, 0},
                                       {"v", "T", "a direction, of x's shape", 0, 0},
                                       SCAN_ARG_AXIS};
static const tfsdk_arg grad_tangent_in[] = {{"x", "T", "the input of Cumprod", 0, 0},
                                            {"dy", "T", "of x's shape", 0, 0},
                                            {"v", "T", "a direction, of x's shape", 0, 0},
                                            SCAN_ARG_AXIS};
SCAN_OUT
SCAN_ATTRS(TFSDK_T_NUMBERS)
static const char *const samples[] = {"T[2,3,4] ; int32(1)",
                                      "T[2,3] ; int64(-1) | exclusive=true; reverse=true",
                                      "float64{0,1,2,0} ; int32(0)", NULL};
static const char *const grad_samples[] = {
    "float64[2,3] ; float64[2,3] ; int32(1)",
    "float32{2,0,3} ; float32[3] ; int32(0) | exclusive=true; reverse=true", NULL};
static const char *const grad_tangent_samples[] = {
    "float64[2,3] ; float64[2,3] ; float64[2,3] ; int32(1) | exclusive=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Cumprod", "running product along an axis"), SCAN_RECORD(in, 1), .infer = infer,
     .doc = "out[k] = x[0] * ... * x[k] along the axis; exclusive: without x[k], beginning with 1. "
            "Integers wrap around. The gradient is exact where x has zeros.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
    {TFSDK_OP_HEAD("CumprodGrad", "the gradient of Cumprod"), SCAN_RECORD(grad_in, 2),
     .infer = infer,
     .doc = "out[j] = sum over k of dy[k] d(cumprod x)[k] / dx[j], without division.",
     .reference = compute_grad, .grad = grad_grad, .grad_in = 7, .samples = grad_samples},
    {TFSDK_OP_HEAD("CumprodTangent", "the derivative of Cumprod in a direction"),
     SCAN_RECORD(tangent_in, 2), .infer = infer,
     .doc = "out[k] = sum over j of v[j] d(cumprod x)[k] / dx[j].", .reference = compute_tangent,
     .no_grad_reason = THIRD, .samples = grad_samples},
    {TFSDK_OP_HEAD("CumprodGradTangent", "the derivative of CumprodGrad in a direction"),
     SCAN_RECORD(grad_tangent_in, 3), .infer = infer,
     .doc = "The second derivatives of sum(dy cumprod(x)) times the direction v.",
     .reference = compute_grad_tangent, .no_grad_reason = THIRD, .samples = grad_tangent_samples},
};
TFSDK_UNIT_OPS(cumprod, ops);
