/* Softmax and LogSoftmax over the last axis. */
#include "onednn.h"

static tfsdk_status *describe(dn_plan *p, const tfsdk_run *r, int64_t rows, int64_t n, int tail) {
  const dnnl_dims_t dim = {rows, n};
  const dnnl_alg_kind_t kind =
      strcmp(r->op->name, "LogSoftmax") == 0 ? dnnl_softmax_log : dnnl_softmax_accurate;
  dnnl_memory_desc_t md;
  dnnl_softmax_v2_desc_t d;
  DN_TRY(p, r, "the layout", p->lib->memory_desc_init_by_tag(&md, 2, dim, dnnl_f32, dnnl_ab));
  DN_TRY(p, r, "the description",
         p->lib->softmax_v2_forward_desc_init(&d, dnnl_forward_inference, kind, &md, &md, 1));
  return dn_make(p, r, &d, tail);
}

static tfsdk_status *prepare(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  dn_plan *p = (dn_plan *)state;
  int64_t n, rows, length;
  dn_reset(p);
  if (x->n_elem == 0) return NULL;
  n = x->dim[x->rank - 1];
  rows = x->n_elem / n;
  length = dn_unit_length(rows, DN_LANES, 4096 / n + 1);
  p->units = p->slices = (rows + length - 1) / length;
  p->has_tail = rows % length != 0;
  p->n_operands = 2;
  p->operand[0].arg = DNNL_ARG_SRC;
  p->operand[1].arg = DNNL_ARG_DST;
  p->operand[0].step = p->operand[1].step = length * n * (int64_t)sizeof(float);
  TFSDK_TRY(describe(p, r, length, n, 0));
  if (p->has_tail) TFSDK_TRY(describe(p, r, rows % length, n, 1));
  return dn_finish(p, r);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  dn_plan *p = (dn_plan *)state;
  if (r->out[0].n_elem == 0) return NULL;
  if (!dn_ready(p, r)) TFSDK_TRY(prepare(p, r));
  p->operand[0].base = (char *)r->in[0].data;
  p->operand[1].base = (char *)r->out[0].data;
  return dn_run(p, r, 0);
}

static const tfsdk_kerneldef kernels[] = {{DN_KERNEL("Softmax", prepare, compute)},
                                          {DN_KERNEL("LogSoftmax", prepare, compute)}};
TFSDK_UNIT_KERNELS(softmax, kernels);
