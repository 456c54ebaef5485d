/* MatrixBandPart: keeps a band round the diagonal of each matrix, zeros elsewhere. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  TFSDK_TRY(array_scalar_arg(c, 1));
  TFSDK_TRY(array_scalar_arg(c, 2));
  if (x->rank >= 0 && x->rank < 2)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'input' must have at least rank 2, but its shape is %s",
                      tfsdk_shape_text(x).s);
  for (uint32_t i = 1; i <= 2 && x->rank >= 2; i++) {
    const tfsdk_view *v = array_value(c, i);
    int64_t n = x->dim[x->rank - 3 + (int32_t)i];
    if (v != NULL && n >= 0 && tfsdk_view_int(v, 0) > n)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'%s' is %lld, but a matrix has %lld %s",
                        c->op->in[i].name, (long long)tfsdk_view_int(v, 0), (long long)n,
                        i == 1 ? "rows" : "columns");
  }
  c->out[0].shape = *x;
  return NULL;
}

static void write(array_sink *s, const void *user) {
  const tfsdk_run *r = (const tfsdk_run *)user;
  const tfsdk_view *x = &r->in[0];
  int64_t m = x->dim[x->rank - 2], n = x->dim[x->rank - 1];
  int64_t lower = tfsdk_view_int(&r->in[1], 0), upper = tfsdk_view_int(&r->in[2], 0);
  for (int64_t row = 0; row < x->n_elem / n; row++) {
    int64_t i = row % m, from = lower < 0 || i - lower < 0 ? 0 : i - lower;
    int64_t to = upper < 0 || i + upper >= n ? n : i + upper + 1; /* the band is [from, to) */
    if (from > n) from = n;
    if (to < from) to = from;
    array_put_zeros(s, from);
    array_put(s, x, row * n + from, 1, to - from);
    array_put_zeros(s, n - to);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_write(r, 0, write, r); }

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(
      g, 0, tfsdk_emit3(c, "MatrixBandPart", tfsdk_dy(g, 0), tfsdk_input(g, 1), tfsdk_input(g, 2)));
}

static const tfsdk_arg in[] = {
    {"input", "T", "[..., m, n]: matrices", 0, 0},
    {"num_lower", "Tindex", "scalar: diagonals below the main one; negative: all", ARRAY_SHAPE_ARG,
     0},
    {"num_upper", "Tindex", "scalar: diagonals above the main one; negative: all", ARRAY_SHAPE_ARG,
     0}};
static const tfsdk_arg out[] = {{"band", "T", "of input's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Tindex", ARRAY_INDEX_TYPES, "int64", "type of num_lower and num_upper", 0, 0}};
static const char *const samples[] = {"T[3,4] ; int64(1) ; int64(0)",
                                      "float32[2,4,3] ; int32(-1) ; int32(1)",
                                      "float32[0,3] ; int64(0) ; int64(0)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MatrixBandPart", "the band round the diagonal of matrices"),
     .doc = "`band[..., i, j] = input[..., i, j]` where i - j <= num_lower (if that is not "
            "negative) and "
            "j - i <= num_upper (likewise), else 0. (0, -1) is the upper triangle, (-1, 0) the "
            "lower.\n\n"
            "Source: TensorFlow `MatrixBandPart`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 6, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 6, .samples = samples}};
TFSDK_UNIT_OPS(matrix_band_part, ops);
