/* elementwise.c - AddV2, Mul, Relu, ReluGrad and BiasAdd of the pretend accelerator. */
#include "tiny.h"

typedef float binary_fn(float a, float b);

static float add(float a, float b) { return a + b; }
static float mul(float a, float b) { return a * b; }
static float relu_grad(float dy, float feature) { return feature > 0 ? dy : 0; }

/* How far apart neighbours along each axis of the result are in v: 0 where v is stretched. */
static void strides_of(const tfsdk_view *v, uint16_t rank, int64_t stride[TFSDK_MAX_RANK]) {
  int64_t step = 1;
  for (int i = rank - 1, k = v->rank - 1; i >= 0; i--, k--) {
    stride[i] = k < 0 || v->dim[k] == 1 ? 0 : step;
    if (k >= 0) step *= v->dim[k];
  }
}

/* Both inputs are broadcast by NumPy's rule. */
static tfsdk_status *binary(tfsdk_run *r, binary_fn *f) {
  tfsdk_view *y = &r->out[0];
  float *a, *b, *out;
  int64_t sa[TFSDK_MAX_RANK], sb[TFSDK_MAX_RANK], at[TFSDK_MAX_RANK] = {0}, ia = 0, ib = 0;
  TFSDK_TRY(tiny_floats(r, &r->in[0], &a));
  TFSDK_TRY(tiny_floats(r, &r->in[1], &b));
  TFSDK_TRY(tiny_floats(r, y, &out));
  strides_of(&r->in[0], y->rank, sa);
  strides_of(&r->in[1], y->rank, sb);
  for (int64_t i = 0; i < y->n_elem; i++) {
    out[i] = f(a[ia], b[ib]);
    for (int k = y->rank - 1; k >= 0; k--) {
      ia += sa[k];
      ib += sb[k];
      if (++at[k] < y->dim[k]) break;
      ia -= sa[k] * at[k];
      ib -= sb[k] * at[k];
      at[k] = 0;
    }
  }
  return NULL;
}

static tfsdk_status *compute_add(void *state, tfsdk_run *r) {
  (void)state;
  return binary(r, add);
}
static tfsdk_status *compute_mul(void *state, tfsdk_run *r) {
  (void)state;
  return binary(r, mul);
}
static tfsdk_status *compute_relu_grad(void *state, tfsdk_run *r) {
  (void)state;
  return binary(r, relu_grad);
}

static tfsdk_status *compute_relu(void *state, tfsdk_run *r) {
  float *x, *y;
  (void)state;
  TFSDK_TRY(tiny_floats(r, &r->in[0], &x));
  TFSDK_TRY(tiny_floats(r, &r->out[0], &y));
  for (int64_t i = 0; i < r->out[0].n_elem; i++) y[i] = x[i] <= 0 ? 0 : x[i]; /* NaN stays */
  return NULL;
}

static tfsdk_status *compute_bias_add(void *state, tfsdk_run *r) {
  (void)state;
  return binary(r, add); /* the channels are the last axis */
}
static tfsdk_status *bias_add_supports(const tfsdk_kbuild *b, int32_t *yes, char *why,
                                       size_t why_n) {
  *yes = strcmp(tfsdk_attr_string(&b->attr, "data_format"), "NHWC") == 0;
  if (!*yes) snprintf(why, why_n, "knows channels as the last axis only");
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {
    {TINY_KERNEL("AddV2", compute_add)},
    {TINY_KERNEL("Mul", compute_mul)},
    {TINY_KERNEL("Relu", compute_relu)},
    {TINY_KERNEL("ReluGrad", compute_relu_grad)},
    {TINY_KERNEL("BiasAdd", compute_bias_add), .supports = bias_add_supports},
};
TFSDK_UNIT_KERNELS(elementwise, kernels);
