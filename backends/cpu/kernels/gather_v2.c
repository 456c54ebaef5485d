/* GatherV2: rows copied by index, spread over the threads. */
#include "rows.h"

#include <tfsdk/shape.h>

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *index = &r->in[1];
  int64_t axis = tfsdk_view_int(&r->in[2], 0), batch = tfsdk_attr_int(&r->attr, "batch_dims");
  (void)state;
  if (axis < 0) axis += x->rank;
  if (batch < 0) batch += index->rank;
  return cpu_pick_run(r, x, index, axis, batch, (char *)r->out[0].data);
}

static const int32_t types[] = {TFSDK_FLOAT32, TFSDK_FLOAT64, TFSDK_FLOAT16, TFSDK_BFLOAT16,
                                TFSDK_INT32,   TFSDK_INT64,   TFSDK_UINT8,   0};
static const tfsdk_where where[] = {{"Tparams", types}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("GatherV2", "cpu", 100),
                                           .label = "threads", .where = where, .n_where = 1,
                                           .host_in = 4, .compute = compute}};
TFSDK_UNIT_KERNELS(gather_v2, kernels);
