/* batch_gemm.h - what BatchMatMul and BatchMatMulV2 share. Only the latter broadcasts the batch
 * axes. */
#ifndef NN_BATCH_GEMM_H
#define NN_BATCH_GEMM_H

#include <tfsdk/emit.h>
#include <tfsdk/kernel.h>

tfsdk_status *nn_batch_gemm_infer(tfsdk_infer *c, int broadcast);
tfsdk_status *nn_batch_gemm_compute(tfsdk_run *r);
tfsdk_status *nn_batch_gemm_grad(tfsdk_ctx *c, tfsdk_gradcall *g, int broadcast);

#endif
