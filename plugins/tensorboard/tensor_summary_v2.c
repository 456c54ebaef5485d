/* TensorSummaryV2: any tensor, for the plugin of TensorBoard that its metadata name.
 *
 *     Summary{value{tag, tensor, metadata}}                      (TensorFlow's TensorSummaryV2)
 */
#include "summary.h"
#include "tensor_proto.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const char *tag = NULL, *metadata = NULL;
  uint64_t n = 0, n_metadata = 0;
  (void)state;
  TFSDK_TRY(summary_scalar(r, 0, "tag", &tag, &n));
  TFSDK_TRY(summary_scalar(r, 2, "serialized_summary_metadata", &metadata, &n_metadata));
  pb_reader m = pb_read(metadata, (size_t)n_metadata);
  while (pb_next(&m)) {}
  TFSDK_REQUIRE(r, !m.wrong, "'serialized_summary_metadata' is no message");
  pb b = pb_new(r->host);
  size_t value = pb_begin(&b, 1);
  pb_put_bytes(&b, 1, tag, (size_t)n);
  pb_tensor(&b, 8, &r->in[1]);
  pb_always_bytes(&b, 9, metadata, (size_t)n_metadata);
  pb_end(&b, value);
  return summary_finish(r, &b);
}

static const tfsdk_arg in[] = {
    {"tag", "string", "a scalar", 0, 0},
    {"tensor", "T", "any", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"serialized_summary_metadata", "string", "a scalar: a serialized SummaryMetadata", 0, 0},
};
static const tfsdk_arg out[] = {{"summary", "string", "a serialized Summary", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T",
     "dtype{float32,float64,int32,uint8,int16,int8,string,complex64,int64,bool,bfloat16,uint16,"
     "complex128,float16,uint32,uint64}",
     NULL, "the type of `tensor`", 0, 0}};
static const char *const samples[] = {"string(\"x\") ; float32[2,3] ; string(\"\")",
                                      "string(\"x\") ; string(\"text\") ; string(\"\")", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("TensorSummaryV2", "a tensor for TensorBoard"),
    .doc = "A serialized Summary message with a tensor and the metadata that say which plugin of "
           "TensorBoard shows it (`text`, `pr_curves`, `hparams`, ...).",
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = tfsdk_infer_scalar,
    .reference = compute,
    .no_grad_reason = "the output is a string",
    .samples = samples,
}};
TFSDK_UNIT_OPS(tensor_summary_v2, ops);
