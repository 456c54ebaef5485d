/* BiasAdd: adds a vector along the channels; BiasAddGrad: sums over everything but the channels.
 *
 * The channels are the last axis, or with data_format NCHW axis 1. The two are each other's
 * gradient: BiasAdd is linear in both arguments, and the gradient of the sum spreads a vector
 * over the channels. */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include <tfsdk/rewrite.h>
#include "row.h"

/* The tensor is [outer, channels, inner]. */
typedef struct split {
  int64_t outer, channels, inner;
} split;

static int32_t channel_axis(const tfsdk_attrs *attr, int32_t rank) {
  return strncmp(tfsdk_attr_string(attr, "data_format"), "NC", 2) == 0 ? 1 : rank - 1;
}

static split split_of(const tfsdk_run *r, const tfsdk_view *v) {
  split s = {1, 1, 1};
  int32_t axis = channel_axis(&r->attr, v->rank);
  for (int32_t i = 0; i < v->rank; i++) {
    if (i < axis)
      s.outer *= v->dim[i];
    else if (i == axis)
      s.channels = v->dim[i];
    else
      s.inner *= v->dim[i];
  }
  return s;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape bias = tfsdk_shape_unknown(), *y = &c->out[0].shape;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &bias));
  *y = c->in[0].shape;
  if (y->rank < 0) return NULL;
  TFSDK_REQUIRE(c, y->rank >= 2, "'value' must have rank 2 or more, but its shape is %s",
                tfsdk_shape_text(y).s);
  int32_t axis = channel_axis(&c->attr, y->rank);
  return tfsdk_merge_dim(c, y->dim[axis], bias.dim[0], "channels of 'value' and length of 'bias'",
                         &y->dim[axis]);
}

static tfsdk_status *infer_sum(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  c->out[0].shape = tfsdk_shape_vector(-1);
  if (x->rank < 0) return NULL;
  TFSDK_REQUIRE(c, x->rank >= 2, "'out_backprop' must have rank 2 or more, but its shape is %s",
                tfsdk_shape_text(x).s);
  c->out[0].shape.dim[0] = x->dim[channel_axis(&c->attr, x->rank)];
  return NULL;
}

/* Reads one element of the bias and one run of the value at a time in NCHW, a row of channels in
 * NHWC. */
static tfsdk_status *add(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *b = &r->in[1];
  tfsdk_view *y = &r->out[0];
  split s = split_of(r, x);
  int64_t run = s.inner == 1 ? s.channels : s.inner, runs = run > 0 ? x->n_elem / run : 0;
  void *work;
  (void)state;
  TFSDK_TRY(r->api->workspace(r, ((size_t)run + (size_t)s.channels + 1) * sizeof(double), &work));
  if (nn_is_float(x->dtype)) {
    double *row = (double *)work, *bias = row + run;
    nn_load_f(b->dtype, b->data, 0, 1, s.channels, bias);
    for (int64_t i = 0; i < runs; i++) {
      nn_load_f(x->dtype, x->data, i * run, 1, run, row);
      if (s.inner == 1)
        for (int64_t j = 0; j < run; j++) row[j] += bias[j];
      else
        for (int64_t j = 0; j < run; j++) row[j] += bias[i % s.channels];
      nn_store_f(y->dtype, y->data, i * run, 1, run, row);
    }
  } else {
    int64_t *row = (int64_t *)work, *bias = row + run;
    nn_load_i(b->dtype, b->data, 0, 1, s.channels, bias);
    for (int64_t i = 0; i < runs; i++) {
      nn_load_i(x->dtype, x->data, i * run, 1, run, row);
      if (s.inner == 1)
        for (int64_t j = 0; j < run; j++) row[j] = nn_mul_add_i(row[j], bias[j], 1);
      else
        for (int64_t j = 0; j < run; j++) row[j] = nn_mul_add_i(row[j], bias[i % s.channels], 1);
      nn_store_i(y->dtype, y->data, i * run, 1, run, row);
    }
  }
  return NULL;
}

static tfsdk_status *sum(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  tfsdk_view *y = &r->out[0];
  split s = split_of(r, x);
  int64_t run = s.inner == 1 ? s.channels : s.inner, runs = run > 0 ? x->n_elem / run : 0;
  void *work;
  (void)state;
  TFSDK_TRY(r->api->workspace(r, ((size_t)run + (size_t)s.channels + 1) * sizeof(double), &work));
  memset(work, 0, ((size_t)run + (size_t)s.channels) * sizeof(double));
  if (nn_is_float(x->dtype)) {
    double *row = (double *)work, *total = row + run;
    for (int64_t i = 0; i < runs; i++) {
      nn_load_f(x->dtype, x->data, i * run, 1, run, row);
      if (s.inner == 1)
        for (int64_t j = 0; j < run; j++) total[j] += row[j];
      else
        for (int64_t j = 0; j < run; j++) total[i % s.channels] += row[j];
    }
    nn_store_f(y->dtype, y->data, 0, 1, s.channels, total);
  } else {
    int64_t *row = (int64_t *)work, *total = row + run;
    for (int64_t i = 0; i < runs; i++) {
      nn_load_i(x->dtype, x->data, i * run, 1, run, row);
      if (s.inner == 1)
        for (int64_t j = 0; j < run; j++) total[j] = nn_mul_add_i(total[j], row[j], 1);
      else
        for (int64_t j = 0; j < run; j++)
          total[i % s.channels] = nn_mul_add_i(total[i % s.channels], row[j], 1);
    }
    nn_store_i(y->dtype, y->data, 0, 1, s.channels, total);
  }
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val dy = tfsdk_dy(g, 0);
  tfsdk_attrval format = tfsdk_a_string("data_format", tfsdk_attr_string(&g->attr, "data_format"));
  TFSDK_TRY(tfsdk_set_dx(g, 0, dy));
  if (!tfsdk_wants(g, 1)) return NULL;
  return tfsdk_set_dx(g, 1, tfsdk_emit(c, "BiasAddGrad", &dy, 1, &format, 1));
}

static tfsdk_status *grad_sum(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_attrval format = tfsdk_a_string("data_format", tfsdk_attr_string(&g->attr, "data_format"));
  tfsdk_val in[2] = {tfsdk_emit1(c, "ZerosLike", tfsdk_input(g, 0)), tfsdk_dy(g, 0)};
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "BiasAdd", in, 2, &format, 1));
}

#define NN_TYPES                                                                                   \
  "dtype{float16,bfloat16,float32,float64,int8,int16,int32,int64,uint8,uint16,uint32,uint64}"

static const tfsdk_arg add_in[] = {{"value", "T", "rank 2 or more", 0, 0},
                                   {"bias", "T", "a vector, one element for each channel", 0, 0}};
static const tfsdk_arg add_out[] = {{"output", "T", "of value's shape", 0, 0}};
static const tfsdk_arg sum_in[] = {{"out_backprop", "T", "rank 2 or more", 0, 0}};
static const tfsdk_arg sum_out[] = {{"output", "T", "a vector, one sum for each channel", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", NN_TYPES, NULL, "the elements' type", 0, 0},
                                     {"data_format", "string{NHWC,NCHW,NDHWC,NCDHW}", "NHWC",
                                      "NC...: the channels are axis 1; else they are the last axis",
                                      0, 0}};
static const char *const add_samples[] = {"T[2,3] ; T[3]", "T[2,2,4,3] ; T[3]",
                                          "T[2,3,2,2] ; T[3] | data_format=NCHW", "T[0,3] ; T[3]",
                                          NULL};
static const char *const sum_samples[] = {"T[2,3]", "T[2,2,4,3]", "T[2,3,2,2] | data_format=NCHW",
                                          "T[0,3]", NULL};

/* With the channels last it is a sum like any other, which can be fused. */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  if (strncmp(tfsdk_attr_string(&w->attr, "data_format"), "NC", 2) == 0) return NULL;
  return tfsdk_set_rewritten(w, 0, tfsdk_emit2(c, "AddV2", w->in[0], w->in[1]));
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BiasAdd", "adds a vector along the channels"),
     .doc = "`output[..., c] = value[..., c] + bias[c]`; with data_format NCHW the channels are "
            "axis 1. The length of `bias` must be the number of channels.",
     .in = add_in, .n_in = TFSDK_COUNT(add_in), .out = add_out, .n_out = TFSDK_COUNT(add_out),
     .attr = attr, .n_attr = TFSDK_COUNT(attr), .infer = infer, .reference = add, .grad = grad,
     .rewrite = rewrite, .samples = add_samples},
    {TFSDK_OP_HEAD("BiasAddGrad", "the gradient of BiasAdd with respect to the bias"),
     .doc = "`output[c] = sum of out_backprop[..., c]`; with data_format NCHW the channels are "
            "axis 1.",
     .in = sum_in, .n_in = TFSDK_COUNT(sum_in), .out = sum_out, .n_out = TFSDK_COUNT(sum_out),
     .attr = attr, .n_attr = TFSDK_COUNT(attr), .infer = infer_sum, .reference = sum,
     .grad = grad_sum, .grad_shape = 1, .samples = sum_samples}};
TFSDK_UNIT_OPS(bias_add, ops);
