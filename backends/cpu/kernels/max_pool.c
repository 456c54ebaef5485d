/* MaxPool and MaxPoolGrad for channels-last images. */
#include "pool_rows.h"

#define T       float
#define I       int32_t
#define NAME(x) x##_f32
#include "max_pool_typed.h"

#define T       double
#define I       int64_t
#define NAME(x) x##_f64
#include "max_pool_typed.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_shape in = tfsdk_shape_of_view(&r->in[0]);
  pool_rows p;
  (void)state;
  TFSDK_TRY(pool_open(r, &in, &p));
  p.x = r->in[0].data;
  p.row = r->out[0].dtype == TFSDK_FLOAT32 ? max_f32 : max_f64;
  return pool_run(r, &p);
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  tfsdk_shape in = tfsdk_shape_of_view(&r->in[0]);
  pool_rows p;
  (void)state;
  TFSDK_TRY(pool_open(r, &in, &p));
  p.x = r->in[0].data;
  p.dy = r->in[2].data;
  p.grad = r->out[0].dtype == TFSDK_FLOAT32 ? max_grad_f32 : max_grad_f64;
  return pool_run_grad(r, &p);
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("MaxPool", "vector", compute), .supports = pool_supports},
    {CPU_KERNEL("MaxPoolGrad", "vector", compute_grad), .supports = pool_supports}};
TFSDK_UNIT_KERNELS(max_pool, kernels);
