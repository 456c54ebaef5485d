/* Softmax over the last axis. Not LogSoftmax: the library's logarithm is off by up to 3.6e-6 (2.6; the
 * CPU backend's result by 4e-7), which is much beside a logarithm near 0, and shows in second
 * derivatives. */
#include "onednn.h"

static tfsdk_status *describe(dn_plan *p, const tfsdk_run *r, int64_t rows, int64_t n, int tail) {
  const dnnl_dims_t dim = {rows, n};
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t s;
  dn_desc md;
  TFSDK_TRY(dn_layout(p, r, 2, dim, dnnl_ab, &md));
  s = dn_describe_softmax(p->lib, md, 1, &pd);
  return dn_make(p, r, s, pd, tail);
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

static const tfsdk_kerneldef kernels[] = {{DN_KERNEL("Softmax", 0, prepare, compute)}};
TFSDK_UNIT_KERNELS(softmax, kernels);
