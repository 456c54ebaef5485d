/* TensorSummary: a tensor under the name of its node.
 *
 *     Summary{value{node_name, tensor}}                            (TensorFlow's TensorSummary)
 */
#include "summary.h"
#include "tensor_proto.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  pb b = pb_new(r->host);
  (void)state;
  size_t value = pb_begin(&b, 1);
  pb_put_text(&b, 7, r->api->node_name(r));
  pb_tensor(&b, 8, &r->in[0]);
  pb_end(&b, value);
  return summary_finish(r, &b);
}

static const tfsdk_arg in[] = {{"tensor", "T", "any", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {{"summary", "string", "a serialized Summary", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T",
     "dtype{float32,float64,int32,uint8,int16,int8,string,complex64,int64,bool,bfloat16,uint16,"
     "complex128,float16,uint32,uint64}",
     NULL, "the type of `tensor`", 0, 0},
    {"description", "string", "", "for readers of the graph", 0, 0},
    {"labels", "list(string)", "[]", "not used, as in TensorFlow", 0, 0},
    {"display_name", "string", "", "not used, as in TensorFlow", 0, 0},
};
static const char *const samples[] = {"float32[2,3]", "int64(7)", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("TensorSummary", "a tensor under its node's name"),
    .doc = "A serialized Summary message with a tensor and the name of the node that wrote it. "
           "TensorSummaryV2 gives it a tag.",
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
TFSDK_UNIT_OPS(tensor_summary, ops);
