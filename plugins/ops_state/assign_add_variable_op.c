/* AssignAddVariableOp and AssignSubVariableOp: change a variable in place.
 *
 *     the variable = the variable + value                   (TensorFlow's AssignAddVariableOp)
 *     the variable = the variable - value                   (TensorFlow's AssignSubVariableOp)
 *
 * Integers wrap around. 16-bit floating numbers are added in binary32 and rounded once.
 */
#include "state.h"

/* x += sign * y. Integers are added as unsigned numbers of their width, where wrapping is defined.
 */
#define ADD_LOOP(U)                                                                                \
  do {                                                                                             \
    U *x = (U *)v.data;                                                                            \
    const U *y = (const U *)d->data;                                                               \
    if (minus)                                                                                     \
      for (int64_t i = 0; i < v.n_elem; i++) x[i] = (U)(x[i] - y[i]);                              \
    else                                                                                           \
      for (int64_t i = 0; i < v.n_elem; i++) x[i] = (U)(x[i] + y[i]);                              \
  } while (0)

static tfsdk_status *change(tfsdk_run *r, int minus) {
  const tfsdk_view *d = &r->in[1];
  tfsdk_view v;
  tfsdk_shape have, want = tfsdk_shape_of_view(d);
  TFSDK_TRY(r->api->var_mutable(r, 0, &v));
  TFSDK_REQUIRE(r, v.dtype == d->dtype, "the variable holds %s, but 'value' is %s",
                tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(d->dtype));
  have = tfsdk_shape_of_view(&v);
  TFSDK_REQUIRE(r, tfsdk_same_shape(&have, &want), "the variable has shape %s, but 'value' has %s",
                tfsdk_shape_text(&have).s, tfsdk_shape_text(&want).s);
  switch (v.dtype) {
  case TFSDK_FLOAT32: ADD_LOOP(float); break;
  case TFSDK_FLOAT64: ADD_LOOP(double); break;
  case TFSDK_FLOAT16:
  case TFSDK_BFLOAT16: {
    uint16_t *x = (uint16_t *)v.data;
    for (int64_t i = 0; i < v.n_elem; i++) {
      float y = (float)tfsdk_view_number(d, i), sum;
      sum = (float)tfsdk_view_number(&v, i) + (minus ? -y : y);
      x[i] = v.dtype == TFSDK_FLOAT16 ? tfsdk_to_half(sum) : tfsdk_to_bfloat16(sum);
    }
    break;
  }
  default:
    switch (tfsdk_dtype_size(v.dtype)) {
    case 1: ADD_LOOP(uint8_t); break;
    case 2: ADD_LOOP(uint16_t); break;
    case 4: ADD_LOOP(uint32_t); break;
    default: ADD_LOOP(uint64_t); break;
    }
  }
  return NULL;
}
static tfsdk_status *compute_add(void *state, tfsdk_run *r) {
  (void)state;
  return change(r, 0);
}
static tfsdk_status *compute_sub(void *state, tfsdk_run *r) {
  (void)state;
  return change(r, 1);
}

static const tfsdk_arg in[] = {
    {"resource", "resource", "the variable's handle", TFSDK_ARG_HOST, 0},
    {"value", "dtype", "what to add, of the variable's type and shape", 0, 0},
};
static const tfsdk_arg in_sub[] = {
    {"resource", "resource", "the variable's handle", TFSDK_ARG_HOST, 0},
    {"value", "dtype", "what to subtract, of the variable's type and shape", 0, 0},
};
static const tfsdk_attrdef attr[] = {
    {"dtype", STATE_NUMBERS, NULL, "the variable's element type", 0, 0},
};
static const char *const samples[] = {
    "var:dtype[2,3] ; dtype[2,3]",
    "var:float32[] ; float32(2)",
    "var:float32[0,3] ; float32[0,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("AssignAddVariableOp", "adds to a variable"),
        .doc = "Adds `value` to the variable in place. There is no broadcasting. Integers wrap "
               "around.",
        .flags = TFSDK_OP_STATEFUL,
        .in = in,
        .n_in = TFSDK_COUNT(in),
        .attr = attr,
        .n_attr = TFSDK_COUNT(attr),
        .infer = state_infer_assign,
        .reference = compute_add,
        .no_grad_reason = STATE_NO_GRAD,
        .samples = samples,
    },
    {
        TFSDK_OP_HEAD("AssignSubVariableOp", "subtracts from a variable"),
        .doc = "Subtracts `value` from the variable in place. There is no broadcasting. Integers "
               "wrap around.",
        .flags = TFSDK_OP_STATEFUL,
        .in = in_sub,
        .n_in = TFSDK_COUNT(in_sub),
        .attr = attr,
        .n_attr = TFSDK_COUNT(attr),
        .infer = state_infer_assign,
        .reference = compute_sub,
        .no_grad_reason = STATE_NO_GRAD,
        .samples = samples,
    }};
TFSDK_UNIT_OPS(assign_add_variable_op, ops);
