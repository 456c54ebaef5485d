/* ResourceGather: rows of a variable copied by index, spread over the threads. */
#include "rows.h"

#include <tfsdk/shape.h>

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *index = &r->in[1];
  const int64_t batch = tfsdk_attr_int(&r->attr, "batch_dims");
  int64_t dim[TFSDK_MAX_RANK];
  uint32_t rank = 0;
  tfsdk_view v;
  (void)state;
  TFSDK_TRY(r->api->var_view(r, 0, &v));
  TFSDK_REQUIRE(r, v.dtype == r->out[0].dtype, "the variable has type %s, but dtype says %s",
                tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(r->out[0].dtype));
  TFSDK_REQUIRE(r, v.rank > batch && index->rank >= batch,
                "batch_dims is %lld, but the variable has %d axes and the indices %d",
                (long long)batch, (int)v.rank, (int)index->rank);
  TFSDK_REQUIRE(r, index->rank + v.rank - 1 - batch <= TFSDK_MAX_RANK,
                "the result would have rank %d; %d is the highest",
                (int)(index->rank + v.rank - 1 - batch), TFSDK_MAX_RANK);
  for (int32_t d = 0; d < batch; d++)
    TFSDK_REQUIRE(r, v.dim[d] == index->dim[d],
                  "axis %d is a batch axis, but the variable has %lld there and the indices %lld",
                  (int)d, (long long)v.dim[d], (long long)index->dim[d]);
  for (int32_t d = 0; d < index->rank; d++) dim[rank++] = index->dim[d];
  for (int32_t d = (int32_t)batch + 1; d < v.rank; d++) dim[rank++] = v.dim[d];
  TFSDK_TRY(r->api->alloc_out(r, 0, rank, dim));
  return cpu_pick_run(r, &v, index, batch, batch, (char *)r->out[0].data);
}

static tfsdk_status *supports(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  *yes = tfsdk_attr_int(&b->attr, "batch_dims") >= 0;
  if (!*yes) CPU_CANNOT("batch_dims is counted from the end");
  return NULL;
}

static const int32_t types[] = {TFSDK_FLOAT32, TFSDK_FLOAT64, TFSDK_FLOAT16, TFSDK_BFLOAT16,
                                TFSDK_INT32,   TFSDK_INT64,   TFSDK_UINT8,   0};
static const tfsdk_where where[] = {{"dtype", types}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("ResourceGather", "cpu", 100),
                                           .label = "threads", .where = where, .n_where = 1,
                                           .supports = supports, .compute = compute}};
TFSDK_UNIT_KERNELS(resource_gather, kernels);
