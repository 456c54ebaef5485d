/* ExtractImagePatches: the windows of images as vectors, and its backward op (see patches.h). */
#include "patches.h"

static tfsdk_status *infer(tfsdk_infer *c) { return array_patches_infer(c, 2); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_patches_run(r, 2); }
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_patches_grad(c, g, "ExtractImagePatchesGrad");
}
static tfsdk_status *infer_back(tfsdk_infer *c) { return array_patches_infer_back(c, 2); }
static tfsdk_status *compute_back(void *state, tfsdk_run *r) {
  return array_patches_run_back(r, 2);
}
static tfsdk_status *grad_back(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_patches_grad_back(c, g, "ExtractImagePatches");
}

static const tfsdk_arg in[] = {{"images", "T", "[batch, height, width, channels]", 0, 0}};
static const tfsdk_arg out[] = {{"patches", "T", "[batch, windows..., window * channels]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"ksizes", "list(int)", NULL, "the window: [1, height, width, 1]", 0, 0},
    {"strides", "list(int)", NULL, "distance of windows, likewise", 0, 0},
    {"rates", "list(int)", "[1,1,1,1]", "distance of a window's elements, likewise", 0, 0},
    {"T", ARRAY_NUMBER_TYPES, NULL, "type of the elements", 0, 0},
    {"padding", "string{SAME,VALID}", NULL, "whether windows may hang over the border", 0, 0}};
static const char *const samples[] = {
    "T[1,4,3,2] | ksizes=[1,2,2,1];strides=[1,1,2,1];padding=VALID",
    "float32[2,3,3,1] | ksizes=[1,3,2,1];strides=[1,2,1,1];rates=[1,1,2,1];padding=SAME", NULL};
static const tfsdk_arg in_back[] = {
    {"images", "T", "what was cut up", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0},
    {"dy", "T", "of the shape of the patches", 0, 0}};
static const tfsdk_arg out_back[] = {{"dx", "T", "dy added up where it came from", 0, 0}};
static const char *const samples_back[] = {
    "T[1,4,3,2] ; T[1,3,1,8] | ksizes=[1,2,2,1];strides=[1,1,2,1];padding=VALID", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ExtractImagePatches", "the windows of images as vectors"),
     .doc =
         "Each window becomes one vector: its pixels row by row, channels last. With SAME a window "
         "may hang over the border; it has zeros there.\n\nSource: TensorFlow "
         "`ExtractImagePatches`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad,
     .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("ExtractImagePatchesGrad", "the gradient of ExtractImagePatches"),
     .doc = "Adds each element of `dy` to the pixel that it was taken from.\n\n"
            "Source: the derivative of `ExtractImagePatches`, which is linear.",
     ARRAY_SCHEMA(in_back, out_back, attr), .infer = infer_back, .reference = compute_back,
     .grad = grad_back, .samples = samples_back}};
TFSDK_UNIT_OPS(extract_image_patches, ops);
