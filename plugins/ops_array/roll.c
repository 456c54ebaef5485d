/* Roll: shifts elements along axes; what leaves at one end comes in at the other. */
#include "axis_map.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *shift = &c->in[1].shape, *axis = &c->in[2].shape;
  const tfsdk_view *v = array_value(c, 2);
  int32_t at;
  if (x->rank == 0) return TFSDK_FAIL(c, INVALID_ARGUMENT, "a scalar cannot be rolled");
  if (shift->rank > 1 || axis->rank > 1 ||
      (shift->rank >= 0 && axis->rank >= 0 && shift->rank != axis->rank) ||
      (shift->rank == 1 && axis->rank == 1 && shift->dim[0] >= 0 && axis->dim[0] >= 0 &&
       shift->dim[0] != axis->dim[0]))
    return TFSDK_FAIL(
        c, INVALID_ARGUMENT,
        "'shift' and 'axis' must be scalars or vectors of one length, but are %s and %s",
        tfsdk_shape_text(shift).s, tfsdk_shape_text(axis).s);
  for (int64_t i = 0; v != NULL && x->rank > 0 && i < v->n_elem; i++)
    TFSDK_TRY(tfsdk_axis(c, tfsdk_view_int(v, i), x->rank, &at));
  c->out[0].shape = *x;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t stride[TFSDK_MAX_RANK], shift[TFSDK_MAX_RANK] = {0};
  array_axis_map m;
  if (x->n_elem == 0) return array_write(r, 0, NULL, NULL);
  for (int64_t i = 0; i < r->in[1].n_elem; i++) { /* several shifts of one axis add up */
    int64_t axis = tfsdk_view_int(&r->in[2], i);
    if (axis < 0) axis += x->rank;
    shift[axis] = (shift[axis] + tfsdk_view_int(&r->in[1], i) % x->dim[axis]) % x->dim[axis];
  }
  array_strides(x->dim, x->rank, stride);
  TFSDK_TRY(array_axis_map_begin(r, x->dim, x->rank, &m));
  for (int32_t k = 0; k < x->rank; k++) {
    int64_t n = x->dim[k], at = n - shift[k];
    for (int64_t i = 0; i < n; i++) m.at[k][i] = (i + at) % n * stride[k];
  }
  return array_axis_map_copy(r, &m);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val back = tfsdk_emit1(c, "Neg", tfsdk_input(g, 1));
  return tfsdk_set_dx(g, 0, tfsdk_emit3(c, "Roll", tfsdk_dy(g, 0), back, tfsdk_input(g, 2)));
}

static const tfsdk_arg in[] = {
    {"input", "T", "rank 1 or more", 0, 0},
    {"shift", "Tshift", "scalar or vector: how far towards higher indices", ARRAY_SHAPE_ARG, 0},
    {"axis", "Taxis", "scalar or vector: along which axes; one may occur again", ARRAY_SHAPE_ARG,
     0}};
static const tfsdk_arg out[] = {{"output", "T", "of input's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0},
                                     {"Tshift", ARRAY_INDEX_TYPES, NULL, "type of shift", 0, 0},
                                     {"Taxis", ARRAY_INDEX_TYPES, NULL, "type of axis", 0, 0}};
static const char *const samples[] = {"T[4,3] ; int32(1) ; int32(0)",
                                      "float32[2,3] ; int64{-1,7} ; int32{0,-1}",
                                      "float32[0,2] ; int32{1} ; int32{1}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Roll", "shifts elements round along axes"),
     .doc = "`y[(i + shift) mod n] = x[i]` along each axis.\n\nSource: TensorFlow `Roll`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 4, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 6, .samples = samples}};
TFSDK_UNIT_OPS(roll, ops);
