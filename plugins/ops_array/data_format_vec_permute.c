/* DataFormatVecPermute: brings a vector with one member (or pair) for each axis into another
 * format. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  if (x->rank >= 0 && x->rank != 1 && x->rank != 2)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'x' must be [n] or [n, 2], but its shape is %s",
                      tfsdk_shape_text(x).s);
  if (x->rank == 2 && x->dim[1] >= 0 && x->dim[1] != 2)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'x' must be [n] or [n, 2], but its shape is %s",
                      tfsdk_shape_text(x).s);
  c->out[0].shape = *x;
  return NULL;
}

/* Leaves batch and channels out where x speaks of the spatial axes only. */
static void letters(const char *format, int64_t n, char out[8]) {
  size_t k = 0;
  int spatial = (int64_t)strlen(format) != n;
  for (const char *p = format; *p != 0 && k < 7; p++)
    if (!spatial || (*p != 'N' && *p != 'C')) out[k++] = *p;
  out[k] = 0;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t n = x->dim[0], width = x->rank == 2 ? 2 : 1;
  char src[8], dst[8];
  letters(tfsdk_attr_string(&r->attr, "src_format"), n, src);
  letters(tfsdk_attr_string(&r->attr, "dst_format"), n, dst);
  TFSDK_REQUIRE(
      r, (int64_t)strlen(src) == n && (int64_t)strlen(dst) == n,
      "x has %lld members, which fits neither the axes nor the spatial axes of formats '%s' "
      "and '%s'",
      (long long)n, tfsdk_attr_string(&r->attr, "src_format"),
      tfsdk_attr_string(&r->attr, "dst_format"));
  for (int64_t i = 0; i < n; i++) {
    const char *at = strchr(src, dst[i]);
    TFSDK_REQUIRE(r, at != NULL, "axis '%c' of format '%s' is not in '%s'", dst[i], dst, src);
    for (int64_t k = 0; k < width; k++)
      array_set_index(&r->out[0], i * width + k, array_index(x, (at - src) * width + k));
  }
  return NULL;
}

static const tfsdk_arg in[] = {
    {"x", "T", "[n] or [n, 2]: a number or pair for each axis of src_format (or spatial axis)",
     ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {
    {"y", "T", "the same in the order of dst_format", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_INDEX_TYPES, "int32", "type of the numbers", 0, 0},
    {"src_format", "string", "NHWC", "one letter for each axis", 0, 0},
    {"dst_format", "string", "NCHW", "the same letters in another order", 0, 0}};
static const char *const samples[] = {"int32{1,2,3,4}", "int64{{1,2},{3,4},{5,6},{7,8}}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DataFormatVecPermute", "reorders a vector from one data format to another"),
     .doc = "`y[i] = x[j]` where letter i of `dst_format` is letter j of `src_format`. A vector "
            "with as "
            "many members as there are spatial axes leaves N and C out.\n\n"
            "Source: TensorFlow `DataFormatVecPermute`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "integers", .samples = samples}};
TFSDK_UNIT_OPS(data_format_vec_permute, ops);
