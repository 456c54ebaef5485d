/* LRN: local response normalisation over channels (Krizhevsky, Sutskever, Hinton, 2012, section
 * 3.3; TensorFlow's parameters),  y = x N^-beta,  N = bias + alpha W(x^2),  where W sums over the
 * channels c - radius .. c + radius.
 *
 * W is symmetric, so with u upstream of y
 *     LRNGrad = u N^-beta - 2 alpha beta x W(u x N^(-beta - 1)),
 * and the gradient of that is emitted from ordinary ops, W as a convolution with ones along the
 * channels. */
#include <math.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include "row.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_TRY(tfsdk_with_rank(c, 0, 4, &c->out[0].shape));
  return NULL;
}

static tfsdk_status *infer_grad(tfsdk_infer *c) {
  tfsdk_shape same = tfsdk_shape_unknown();
  TFSDK_TRY(tfsdk_with_rank(c, 1, 4, &same));
  TFSDK_TRY(tfsdk_merge(c, &same, &c->in[0].shape, "'input_image' and 'input_grads'", &same));
  TFSDK_TRY(tfsdk_merge(c, &same, &c->in[2].shape, "'input_image' and 'output_image'", &same));
  c->out[0].shape = same;
  return NULL;
}

typedef struct params {
  int64_t radius;
  double bias, alpha, beta;
} params;

static params params_of(const tfsdk_attrs *a) {
  params p = {tfsdk_attr_int(a, "depth_radius"), tfsdk_attr_float(a, "bias"),
              tfsdk_attr_float(a, "alpha"), tfsdk_attr_float(a, "beta")};
  return p;
}

/* out[c] = sum of v over the window round c */
static void window_sum(const params *p, const double *v, int64_t n, double *out) {
  for (int64_t c = 0; c < n; c++) {
    int64_t from = c > p->radius ? c - p->radius : 0;
    int64_t to = p->radius < n - 1 - c ? c + p->radius : n - 1;
    out[c] = 0;
    for (int64_t i = from; i <= to; i++) out[c] += v[i];
  }
}
static void norms(const params *p, const double *x, int64_t n, double *square, double *norm) {
  for (int64_t c = 0; c < n; c++) square[c] = x[c] * x[c];
  window_sum(p, square, n, norm);
  for (int64_t c = 0; c < n; c++) norm[c] = p->bias + p->alpha * norm[c];
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  params p = params_of(&r->attr);
  int64_t n = x->dim[3];
  void *work;
  (void)state;
  if (x->n_elem == 0) return NULL;
  TFSDK_TRY(r->api->workspace(r, 3 * (size_t)n * sizeof(double), &work));
  double *row = (double *)work, *square = row + n, *norm = square + n;
  for (int64_t at = 0; at < x->n_elem; at += n) {
    nn_load_f(x->dtype, x->data, at, 1, n, row);
    norms(&p, row, n, square, norm);
    for (int64_t c = 0; c < n; c++) row[c] *= pow(norm[c], -p.beta);
    nn_store_f(x->dtype, r->out[0].data, at, 1, n, row);
  }
  return NULL;
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  const tfsdk_view *u = &r->in[0], *x = &r->in[1];
  params p = params_of(&r->attr);
  int64_t n = x->dim[3];
  void *work;
  (void)state;
  if (x->n_elem == 0) return NULL;
  TFSDK_TRY(r->api->workspace(r, 5 * (size_t)n * sizeof(double), &work));
  double *row = (double *)work, *up = row + n, *square = up + n, *norm = square + n,
         *sum = norm + n;
  for (int64_t at = 0; at < x->n_elem; at += n) {
    nn_load_f(x->dtype, x->data, at, 1, n, row);
    nn_load_f(u->dtype, u->data, at, 1, n, up);
    norms(&p, row, n, square, norm);
    for (int64_t c = 0; c < n; c++) square[c] = up[c] * row[c] * pow(norm[c], -p.beta - 1);
    window_sum(&p, square, n, sum);
    for (int64_t c = 0; c < n; c++)
      row[c] = up[c] * pow(norm[c], -p.beta) - 2 * p.alpha * p.beta * row[c] * sum[c];
    nn_store_f(x->dtype, r->out[0].data, at, 1, n, row);
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------ gradients */

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[3] = {tfsdk_dy(g, 0), tfsdk_input(g, 0), tfsdk_output(g, 0)};
  tfsdk_attrval attr[4] = {tfsdk_a_int("depth_radius", tfsdk_attr_int(&g->attr, "depth_radius")),
                           tfsdk_a_float("bias", tfsdk_attr_float(&g->attr, "bias")),
                           tfsdk_a_float("alpha", tfsdk_attr_float(&g->attr, "alpha")),
                           tfsdk_a_float("beta", tfsdk_attr_float(&g->attr, "beta"))};
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "LRNGrad", in, 3, attr, 4));
}

static tfsdk_val mul(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) { return tfsdk_emit2(c, "Mul", a, b); }
static tfsdk_val scaled(tfsdk_ctx *c, tfsdk_val a, double by) {
  return mul(c, a, tfsdk_scalar_like(c, a, by));
}
static tfsdk_val power(tfsdk_ctx *c, tfsdk_val a, double exponent) {
  return tfsdk_emit2(c, "Pow", a, tfsdk_scalar_like(c, a, exponent));
}

/* W: the images become volumes of one channel, convolved with ones along what was the channels. */
static tfsdk_val emit_window_sum(tfsdk_ctx *c, const params *p, tfsdk_val v) {
  static const int64_t ones[5] = {1, 1, 1, 1, 1};
  int64_t dims[5] = {1, 1, 2 * p->radius + 1, 1, 1}, last = -1;
  tfsdk_val fill[2] = {tfsdk_int_vector(c, dims, 5), tfsdk_scalar_like(c, v, 1)};
  tfsdk_val in[2] = {tfsdk_emit2(c, "ExpandDims", v, tfsdk_int_scalar(c, -1)),
                     tfsdk_emit(c, "Fill", fill, 2, NULL, 0)};
  tfsdk_attrval attr[2] = {tfsdk_a_ints("strides", ones, 5), tfsdk_a_string("padding", "SAME")};
  tfsdk_attrval squeeze = tfsdk_a_ints("squeeze_dims", &last, 1);
  tfsdk_val sum = tfsdk_emit(c, "Conv3D", in, 2, attr, 2);
  return tfsdk_emit(c, "Squeeze", &sum, 1, &squeeze, 1);
}

/* With v upstream of LRNGrad, P = N^-beta, Q = N^(-beta-1), R = N^(-beta-2), k = 2 alpha beta:
 *   d u = v P - k x Q W(v x)
 *   d x = -k x W(v u Q) - k (v W(u x Q) + W(v x) u Q - 2 alpha (beta + 1) x W(W(v x) u x R)) */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  params p = params_of(&g->attr);
  double k = 2 * p.alpha * p.beta;
  tfsdk_val u = tfsdk_input(g, 0), x = tfsdk_input(g, 1), v = tfsdk_dy(g, 0);
  tfsdk_val sum = scaled(c, emit_window_sum(c, &p, mul(c, x, x)), p.alpha);
  tfsdk_val n = tfsdk_emit2(c, "Add", sum, tfsdk_scalar_like(c, x, p.bias));
  tfsdk_val q = power(c, n, -p.beta - 1), wvx = emit_window_sum(c, &p, mul(c, v, x));
  if (tfsdk_wants(g, 0)) {
    tfsdk_val direct = mul(c, v, power(c, n, -p.beta));
    tfsdk_val across = scaled(c, mul(c, mul(c, x, q), wvx), k);
    TFSDK_TRY(tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Sub", direct, across)));
  }
  if (tfsdk_wants(g, 1)) {
    tfsdk_val uq = mul(c, u, q);
    tfsdk_val t = mul(c, x, emit_window_sum(c, &p, mul(c, v, uq)));
    t = tfsdk_emit2(c, "Add", t, mul(c, v, emit_window_sum(c, &p, mul(c, x, uq))));
    t = tfsdk_emit2(c, "Add", t, mul(c, wvx, uq));
    tfsdk_val w =
        emit_window_sum(c, &p, mul(c, mul(c, wvx, mul(c, u, x)), power(c, n, -p.beta - 2)));
    t = tfsdk_emit2(c, "Sub", t, scaled(c, mul(c, x, w), 2 * p.alpha * (p.beta + 1)));
    TFSDK_TRY(tfsdk_set_dx(g, 1, scaled(c, t, -k)));
  }
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"input", "T", "[batch, height, width, channels]", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of input's shape", 0, 0}};
static const tfsdk_arg in_grad[] = {{"input_grads", "T", "the gradient of LRN's output", 0, 0},
                                    {"input_image", "T", "LRN's input", 0, 0},
                                    {"output_image", "T",
                                     "LRN's output; not read, as it follows from the input",
                                     TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_attrdef attr[] = {
    {"depth_radius", "int", "5", "channels on each side that are summed", 0, 1e6},
    {"bias", "float", "1", "added to the sum, keeps it from 0", 0, 0},
    {"alpha", "float", "1", "factor of the sum of squares; not divided by the window", 0, 0},
    {"beta", "float", "0.5", "the exponent", 0, 0},
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the elements' type", 0, 0}};
static const char *const samples[] = {
    "T[1,2,3,4]",
    "T[1,2,2,13]",
    "T[1,2,3,5] | depth_radius=1 ; alpha=0.5 ; beta=1",
    "T[1,2,3,5] | depth_radius=2 ; bias=2 ; alpha=0.1 ; beta=0.75",
    "T[1,2,3,4] | depth_radius=0",
    "T[0,2,3,4]",
    NULL};
static const char *const samples_grad[] = {
    "T[1,2,3,4] ; T[1,2,3,4] ; T[1,2,3,4]",
    "T[1,2,2,5] ; T[1,2,2,5] ; T[1,2,2,5] | depth_radius=1 ; bias=2 ; alpha=0.5 ; beta=0.75", NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("LRN", "local response normalisation over channels"),
     .doc = "`output = input / (bias + alpha * sum of squares of the channels c - depth_radius .. "
            "c + depth_radius) ^ beta`. The radius is a half width, and alpha is not divided by "
            "the window, as in TensorFlow.",
     .in = in, .n_in = 1, .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer, .reference = compute, .grad = grad, .grad_in = 1, .grad_out = 1,
     .samples = samples},
    {TFSDK_OP_HEAD("LRNGrad", "the gradient of LRN"),
     .doc = "With N the sum in brackets and W the sum over the window: `input_grads * N ^ -beta - "
            "2 * alpha * beta * input_image * W(input_grads * input_image * N ^ (-beta - 1))`.",
     .in = in_grad, .n_in = 3, .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer_grad, .reference = compute_grad, .grad = grad_grad, .grad_in = 3,
     .samples = samples_grad}};
TFSDK_UNIT_OPS(lrn, ops);
