/* DataFormatDimMap: where an axis of one data format stands in another. */
#include "array.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const char *src = tfsdk_attr_string(&r->attr, "src_format");
  const char *dst = tfsdk_attr_string(&r->attr, "dst_format");
  int64_t n = (int64_t)strlen(src);
  TFSDK_REQUIRE(r, strlen(dst) == strlen(src), "formats '%s' and '%s' differ in length", src, dst);
  for (int64_t i = 0; i < r->in[0].n_elem; i++) {
    int64_t axis = array_index(&r->in[0], i);
    const char *at;
    TFSDK_REQUIRE(r, axis >= -n && axis < n,
                  "x[%lld] = %lld is out of range [%lld, %lld) of format '%s'", (long long)i,
                  (long long)axis, (long long)-n, (long long)n, src);
    at = strchr(dst, src[axis < 0 ? axis + n : axis]);
    TFSDK_REQUIRE(r, at != NULL, "axis '%c' of format '%s' is not in '%s'",
                  src[axis < 0 ? axis + n : axis], src, dst);
    array_set_index(&r->out[0], i, at - dst);
  }
  return NULL;
}

static const tfsdk_arg in[] = {{"x", "T", "axes of src_format, any shape", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"y", "T", "the same axes in dst_format", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_INDEX_TYPES, "int32", "type of the axes", 0, 0},
    {"src_format", "string", "NHWC", "one letter for each axis", 0, 0},
    {"dst_format", "string", "NCHW", "the same letters in another order", 0, 0}};
static const char *const samples[] = {"int32{0,1,2,3,-1}",
                                      "int64(3) | src_format=NCHW;dst_format=NHWC", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DataFormatDimMap", "renumbers axes from one data format to another"),
     .doc = "Axis i of `src_format` is found by its letter in `dst_format`.\n\n"
            "Source: TensorFlow `DataFormatDimMap`.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_same, .reference = compute,
     .no_grad_reason = "integers", .samples = samples}};
TFSDK_UNIT_OPS(data_format_dim_map, ops);
