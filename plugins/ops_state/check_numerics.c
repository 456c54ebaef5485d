/* CheckNumerics: stops the run at the first tensor with a NaN or an infinity.
 *
 *     output = tensor, if all its elements are finite       (TensorFlow's CheckNumerics)
 */
#include <math.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* The first element that is not finite, or n_elem. */
static int64_t first_bad(const tfsdk_view *v) {
  int64_t i = 0, n = v->n_elem;
  switch (v->dtype) {
  case TFSDK_FLOAT32:
    while (i < n && isfinite(((const float *)v->data)[i])) i++;
    break;
  case TFSDK_FLOAT64:
    while (i < n && isfinite(((const double *)v->data)[i])) i++;
    break;
  default:
    while (i < n && isfinite(tfsdk_view_number(v, i))) i++;
    break;
  }
  return i;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *v = &r->in[0];
  int64_t at = first_bad(v), rest = at, n_nan = 0, n_inf = 0;
  tfsdk_shape where = tfsdk_shape_of_view(v);
  (void)state;
  if (at == v->n_elem) return r->api->forward(r, 0, 0);
  for (int64_t i = at; i < v->n_elem; i++) {
    double x = tfsdk_view_number(v, i);
    if (isnan(x))
      n_nan++;
    else if (isinf(x))
      n_inf++;
  }
  for (int axis = where.rank - 1; axis >= 0; axis--) {
    where.dim[axis] = rest % v->dim[axis];
    rest /= v->dim[axis];
  }
  return TFSDK_FAIL(r, INVALID_ARGUMENT,
                    "%s: tensor has %lld NaN and %lld Inf among %lld elements, the first (%s) "
                    "at %s",
                    tfsdk_attr_string(&r->attr, "message"), (long long)n_nan, (long long)n_inf,
                    (long long)v->n_elem, isnan(tfsdk_view_number(v, at)) ? "NaN" : "Inf",
                    tfsdk_shape_text(&where).s);
}

/* The upstream gradient is checked as well, as in TensorFlow. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  char message[512];
  tfsdk_val dy = tfsdk_dy(g, 0);
  tfsdk_attrval a;
  snprintf(message, sizeof message, "gradient of: %s", tfsdk_attr_string(&g->attr, "message"));
  a = tfsdk_a_string("message", message);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "CheckNumerics", &dy, 1, &a, 1));
}

static const tfsdk_arg in[] = {{"tensor", "T", "what to check", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "`tensor`", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float32,float64,float16,bfloat16}", NULL, "the element type", 0, 0},
    {"message", "string", NULL, "what the error says", 0, 0},
};
static const char *const samples[] = {
    "T[2,3] | message=sample",
    "float32[0,3] | message=empty",
    "float32[] | message=scalar",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("CheckNumerics", "fails on NaN and infinity"),
    .doc = "Passes `tensor` on if all its elements are finite. Else the run fails with "
           "INVALID_ARGUMENT; the message has `message`, how many elements are NaN "
           "and how many infinite, and where the first one is. The gradient is checked in the same "
           "way.",
    .flags = TFSDK_OP_EFFECT | TFSDK_OP_OWN_OUTPUTS,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = tfsdk_infer_same,
    .reference = compute,
    .grad = grad,
    .samples = samples,
}};
TFSDK_UNIT_OPS(check_numerics, ops);
