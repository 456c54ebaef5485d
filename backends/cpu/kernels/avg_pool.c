/* AvgPool and AvgPoolGrad for channels-last images; padding counts neither in the sum nor in its
 * divisor. */
#include "pool_rows.h"

#define T       float
#define NAME(x) x##_f32
#include "avg_pool_typed.h"

#define T       double
#define NAME(x) x##_f64
#include "avg_pool_typed.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_shape in = tfsdk_shape_of_view(&r->in[0]);
  pool_rows p;
  (void)state;
  TFSDK_TRY(pool_open(r, &in, &p));
  p.x = r->in[0].data;
  p.row = r->out[0].dtype == TFSDK_FLOAT32 ? avg_f32 : avg_f64;
  return pool_run(r, &p);
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  tfsdk_shape in = tfsdk_shape_of_view(&r->out[0]);
  pool_rows p;
  (void)state;
  TFSDK_TRY(pool_open(r, &in, &p));
  p.dy = r->in[1].data;
  p.grad = r->out[0].dtype == TFSDK_FLOAT32 ? avg_grad_f32 : avg_grad_f64;
  return pool_run_grad(r, &p);
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("AvgPool", "vector", compute), .supports = pool_supports},
    {CPU_KERNEL("AvgPoolGrad", "vector", compute_grad), .host_in = 1, .supports = pool_supports}};
TFSDK_UNIT_KERNELS(avg_pool, kernels);
