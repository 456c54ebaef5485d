/* einsum_dense: sums of products of the input and a kernel, whose axes have labels. */
#include "keras.h"

/* Labels of the axes, letters, or ELIDED + i for those that `...` stands for. */
enum { ELIDED = 128, LABELS = ELIDED + TFSDK_MAX_RANK };
typedef struct plan {
  int x[TFSDK_MAX_RANK], k[TFSDK_MAX_RANK], y[TFSDK_MAX_RANK];
  uint32_t n_x, n_k, n_y;
  int left; /* `...` stands in front */
  int64_t extent[LABELS];
  int in_x[LABELS], in_k[LABELS], in_y[LABELS]; /* how often */
} plan;

static tfsdk_status *bad(tfsdk_ctx *c, const char *equation) {
  return TFSDK_FAIL(c, INVALID_ARGUMENT,
                    "'equation' must look like \"ab,bc->ac\", \"...b,bc->...c\" or "
                    "\"ab...,bc->ac...\", not \"%s\"",
                    equation);
}

/* The labels up to `end`; `elided` axes for an ellipsis (-1: none is allowed). */
static const char *labels(const char *s, const char *end, int elided, int *out, uint32_t *n,
                          int *count) {
  *n = 0;
  while (*end != 0 ? strncmp(s, end, strlen(end)) != 0 : *s != 0) {
    int dots = strncmp(s, "...", 3) == 0 && elided >= 0;
    if (*s == 0 || (!dots && !((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')))) return NULL;
    for (int i = 0; i < (dots ? elided : 1); i++) {
      if (*n == TFSDK_MAX_RANK) return NULL;
      out[*n] = dots ? ELIDED + i : *s;
      count[out[(*n)++]]++;
    }
    s += dots ? 3 : 1;
  }
  return s + strlen(end);
}

static tfsdk_status *parse(tfsdk_ctx *c, const char *equation, const tfsdk_shape *x, plan *p) {
  const char *dots = strstr(equation, "..."), *comma = strchr(equation, ','), *s = equation;
  memset(p, 0, sizeof *p);
  if (comma == NULL || strstr(equation, "->") == NULL) return bad(c, equation);
  int letters = (int)(comma - equation) - (dots != NULL ? 3 : 0);
  int elided = dots != NULL ? x->rank - letters : -1;
  p->left = dots == equation;
  if (dots != NULL && (dots > comma || elided < 0)) return bad(c, equation);
  if ((s = labels(s, ",", elided, p->x, &p->n_x, p->in_x)) == NULL ||
      (s = labels(s, "->", -1, p->k, &p->n_k, p->in_k)) == NULL ||
      labels(s, "", elided, p->y, &p->n_y, p->in_y) == NULL)
    return bad(c, equation);
  TFSDK_REQUIRE(c, (int32_t)p->n_x == x->rank, "'%s' has %u axes of the input, whose shape is %s",
                equation, p->n_x, tfsdk_shape_text(x).s);
  for (int i = 0; i < LABELS; i++) p->extent[i] = -2; /* nothing tells */
  for (uint32_t i = 0; i < p->n_x; i++) p->extent[p->x[i]] = x->dim[i];
  return NULL;
}

/* output_shape tells the extents of the axes behind the batch that `...` does not stand for. */
static tfsdk_status *read_target(tfsdk_ctx *c, const tfsdk_attrs *cfg, plan *p) {
  uint32_t n, k = 0, own = 0;
  const int64_t *target = tfsdk_attr_ints(cfg, "output_shape", &n);
  for (uint32_t i = 0; i < p->n_y; i++) own += p->y[i] < ELIDED;
  uint32_t skip = p->left && own < p->n_y ? 0 : 1; /* the batch is among the letters */
  TFSDK_REQUIRE(c, n + skip == own, "'output_shape' must have %u extents (no batch), not %u",
                own - skip, n);
  for (uint32_t i = 0, at = 0; i < p->n_y; i++) {
    if (p->y[i] >= ELIDED || at++ < skip) continue;
    int64_t d = target[k++], *e = &p->extent[p->y[i]];
    TFSDK_REQUIRE(c, d < 0 || *e < 0 || d == *e,
                  "axis '%c' is %lld in the input and %lld in 'output_shape'", p->y[i],
                  (long long)*e, (long long)d);
    if (d >= 0) *e = d;
  }
  for (uint32_t i = 0; i < p->n_y; i++)
    TFSDK_REQUIRE(c, p->in_x[p->y[i]] || p->in_k[p->y[i]],
                  "axis '%c' of the output is in neither the input nor the kernel", p->y[i]);
  for (uint32_t i = 0; i < p->n_k; i++)
    TFSDK_REQUIRE(c, p->extent[p->k[i]] > 0,
                  "the extent of the kernel's axis '%c' is known neither from the input nor from "
                  "'output_shape'",
                  p->k[i]);
  return NULL;
}

/* Whether one product of matrices does it: no axis twice, none in all three, none in one alone. */
static int is_product(const plan *p) {
  for (int i = 0; i < LABELS; i++) {
    if (p->in_x[i] > 1 || p->in_k[i] > 1 || p->in_y[i] > 1) return 0;
    int places = p->in_x[i] + p->in_k[i] + p->in_y[i];
    if (places == 1 || places == 3) return 0;
  }
  return 1;
}

static tfsdk_val product(tfsdk_ctx *c, const plan *p, tfsdk_val x, tfsdk_val kernel) {
  int64_t perm_x[TFSDK_MAX_RANK], perm_k[TFSDK_MAX_RANK], perm_y[TFSDK_MAX_RANK], sum = 1, wide = 1;
  int order[TFSDK_MAX_RANK];
  keras_dim dim[TFSDK_MAX_RANK];
  uint32_t free_x = 0, free_k = 0, rank = 0, at = 0;
  for (uint32_t i = 0; i < p->n_x; i++)
    if (p->in_y[p->x[i]]) {
      perm_x[free_x++] = i;
      dim[rank] = keras_dim_of(c, x, (int32_t)i);
      order[rank++] = p->x[i];
    }
  at = free_x;
  for (uint32_t i = 0; i < p->n_x; i++) { /* summed axes in the input's order, in both */
    if (p->in_y[p->x[i]]) continue;
    perm_x[at++] = i;
    for (uint32_t k = 0; k < p->n_k; k++)
      if (p->k[k] == p->x[i]) perm_k[free_k++] = k;
    sum *= p->extent[p->x[i]];
  }
  at = free_k;
  for (uint32_t k = 0; k < p->n_k; k++)
    if (!p->in_x[p->k[k]]) {
      perm_k[at++] = k;
      wide *= p->extent[p->k[k]];
      dim[rank] = keras_dim_is(p->extent[p->k[k]]);
      order[rank++] = p->k[k];
    }
  int64_t rows[2] = {-1, sum}, columns[2] = {sum, wide};
  x = keras_transpose(c, x, perm_x, p->n_x);
  if (free_x != 1 || p->n_x != 2) x = tfsdk_emit2(c, "Reshape", x, tfsdk_int_vector(c, rows, 2));
  kernel = keras_transpose(c, kernel, perm_k, p->n_k);
  if (p->n_k != 2 || free_k != 1)
    kernel = tfsdk_emit2(c, "Reshape", kernel, tfsdk_int_vector(c, columns, 2));
  tfsdk_val y = tfsdk_emit2(c, "MatMul", x, kernel);
  if (free_x != 1 || rank != 2) y = keras_reshape(c, y, rank, dim);
  for (uint32_t i = 0; i < p->n_y; i++)
    for (uint32_t k = 0; k < rank; k++)
      if (order[k] == p->y[i]) perm_y[i] = k;
  return keras_transpose(c, y, perm_y, rank);
}

/* From the first axis that has a bias on: extents, 1 where an axis has none. */
static tfsdk_status *bias_shape(tfsdk_ctx *c, const char *axes, const plan *p, int64_t *dim,
                                uint32_t *n) {
  *n = 0;
  for (const char *a = axes; *a; a++)
    TFSDK_REQUIRE(c, (unsigned char)*a < ELIDED && p->in_y[(unsigned char)*a],
                  "'bias_axes' has '%c', which is no axis of the output", *a);
  for (uint32_t i = 0; i < p->n_y; i++) {
    int has = p->y[i] < ELIDED && strchr(axes, p->y[i]) != NULL;
    if (!has && *n == 0) continue;
    TFSDK_REQUIRE(c, !has || p->extent[p->y[i]] > 0,
                  "the extent of axis '%c' of the bias is not "
                  "known",
                  p->y[i]);
    dim[(*n)++] = has ? p->extent[p->y[i]] : 1;
  }
  return NULL;
}

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  plan p;
  int64_t dim[TFSDK_MAX_RANK];
  uint32_t n;
  const char *equation = tfsdk_attr_string(cfg, "equation");
  const char *axes = tfsdk_attr_string(cfg, "bias_axes");
  TFSDK_TRY(keras_float_input(c, in[0], 1, -1, "batch, ...", &t));
  TFSDK_TRY(parse(c, equation, &t.shape, &p));
  TFSDK_TRY(read_target(c, cfg, &p));
  for (uint32_t i = 0; i < p.n_k; i++) dim[i] = p.extent[p.k[i]];
  tfsdk_val arg[2] = {in[0], tfsdk_weight(c, "kernel", t.dtype, p.n_k, dim, NULL)}, y;
  if (is_product(&p)) {
    y = product(c, &p, arg[0], arg[1]);
  } else {
    tfsdk_attrval attr = tfsdk_a_string("equation", equation);
    y = tfsdk_emit(c, "Einsum", arg, 2, &attr, 1);
  }
  if (*axes != 0) {
    TFSDK_TRY(bias_shape(c, axes, &p, dim, &n));
    y = tfsdk_emit2(c, "AddV2", y, tfsdk_weight(c, "bias", t.dtype, n, dim, "zeros"));
  }
  out[0] = keras_activation(c, cfg, y);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_arg weight[] = {
    {"kernel", "trained", "the extents of the equation's second term", 0, 0},
    {"bias", "trained", "from the first of bias_axes on, 1 along the others", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"equation", "string", NULL, "\"ab,bc->ac\": axes of the input, of the kernel, of the output",
     0, 0},
    {"output_shape", "list(int)", NULL,
     "extents of the output's lettered axes without the batch; -1: as in the input", 0, 0},
    {"bias_axes", "string", "", "the output's axes along which the bias differs; empty: no bias", 0,
     0},
    {"activation", "string", "linear", "a function of the result: see the layer `activation`", 0,
     0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("einsum_dense", "`activation(einsum(equation, inputs, kernel) + bias)`."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(einsum_dense, layers);
