/* MatMul and BatchMatMulV2. A unit is a slice of the rows of one product. */
#include "onednn.h"

static tfsdk_status *supports_bfloat16(const tfsdk_kbuild *b, int32_t *yes, char *why,
                                       size_t why_n) {
  (void)b;
  return dn_supports_bfloat16(yes, why, why_n);
}

typedef struct product {
  int64_t m, n, k;
  int ta, tb;
} product;

static product product_of(const tfsdk_run *r) {
  const tfsdk_view *a = &r->in[0], *c = &r->out[0];
  product q;
  q.ta = tfsdk_attr_int(&r->attr, "transpose_a") || tfsdk_attr_int(&r->attr, "adj_x");
  q.tb = tfsdk_attr_int(&r->attr, "transpose_b") || tfsdk_attr_int(&r->attr, "adj_y");
  q.m = c->dim[c->rank - 2], q.n = c->dim[c->rank - 1];
  q.k = a->dim[a->rank - (q.ta ? 2 : 1)];
  return q;
}

/* Where operand o (0 left, 1 right, 2 the product) of a unit begins. */
static int64_t offset(const dn_plan *p, int32_t o, int64_t unit) {
  const dn_operand *v = &p->operand[o];
  int64_t index = unit / p->slices, at = v->shared ? 0 : unit % p->slices * v->step;
  for (int32_t d = p->batch_rank - 1; d >= 0; d--) {
    at += index % p->batch[d] * p->batch_step[o][d];
    index /= p->batch[d];
  }
  return at;
}

/* How far a tensor advances along each batch axis; 0 where it is broadcast. */
static void steps(dn_plan *p, int32_t o, const tfsdk_view *v, const tfsdk_view *out, int64_t size) {
  int64_t volume = v->dim[v->rank - 1] * v->dim[v->rank - 2] * size;
  for (int32_t d = out->rank - 3; d >= 0; d--) {
    const int32_t own = d - (out->rank - v->rank);
    p->batch_step[o][d] = own >= 0 && v->dim[own] != 1 ? volume : 0;
    if (own >= 0) volume *= v->dim[own];
  }
}

static tfsdk_status *describe(dn_plan *p, const tfsdk_run *r, const product *q, int64_t rows,
                              int tail) {
  const dnnl_dims_t a_dim = {rows, q->k}, b_dim = {q->k, q->n}, c_dim = {rows, q->n};
  const dnnl_dims_t a_step = {q->ta ? 1 : q->k, q->ta ? q->m : 1};
  const dnnl_dims_t b_step = {q->tb ? 1 : q->n, q->tb ? q->k : 1};
  dnnl_primitive_desc_t pd = NULL;
  dn_desc a, b = p->operand[1].md[0], c;
  dnnl_status_t s;
  TFSDK_TRY(dn_strides(p, r, 2, a_dim, a_step, &a));
  TFSDK_TRY(dn_layout(p, r, 2, c_dim, dnnl_ab, &c));
  if (!tail) {
    TFSDK_TRY(dn_strides(p, r, 2, b_dim, b_step, &p->operand[1].plain));
    b = p->operand[1].plain;
    if (p->flags) /* a single product: its right side may be packed */
      TFSDK_TRY(dn_layout(p, r, 2, b_dim, DN_ANY, &b));
  }
  s = dn_describe_product(p->lib, a, b, c, &pd);
  return dn_make(p, r, s, pd, tail);
}

static int trivial(const tfsdk_run *r, const product *q) {
  return r->out[0].n_elem == 0 || q->k == 0;
}

static tfsdk_status *prepare(void *state, tfsdk_run *r) {
  dn_plan *p = (dn_plan *)state;
  const tfsdk_view *c = &r->out[0];
  const product q = product_of(r);
  int64_t count, length, size;
  dn_reset(p);
  if (trivial(r, &q)) return NULL;
  size = (int64_t)tfsdk_dtype_size(c->dtype);
  count = c->n_elem / (q.m * q.n);
  /* Rows worth a piece: a million multiply-adds; many products are spread whole. */
  length = dn_unit_length(q.m, count < DN_LANES ? DN_LANES : 1, 1000000 / (q.n * q.k) + 16);
  p->slices = (q.m + length - 1) / length;
  p->units = count * p->slices;
  p->has_tail = q.m % length != 0;
  p->product_rows = q.m;
  p->unit_rows = length;
  p->flags = count == 1;
  p->offset = offset;
  p->batch_rank = c->rank - 2;
  for (int32_t d = 0; d < p->batch_rank; d++) p->batch[d] = c->dim[d];
  p->n_operands = 3;
  p->operand[0].arg = DNNL_ARG_SRC;
  p->operand[1].arg = DNNL_ARG_WEIGHTS;
  p->operand[2].arg = DNNL_ARG_DST;
  p->operand[0].step = length * (q.ta ? 1 : q.k) * size;
  p->operand[1].shared = 1;
  p->operand[2].step = length * q.n * size;
  steps(p, 0, &r->in[0], c, size);
  steps(p, 1, &r->in[1], c, size);
  steps(p, 2, c, c, size);
  TFSDK_TRY(describe(p, r, &q, length, 0));
  if (p->has_tail) TFSDK_TRY(describe(p, r, &q, q.m % length, 1));
  return dn_finish(p, r);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  dn_plan *p = (dn_plan *)state;
  if (!dn_ready(p, r)) {
    const product q = product_of(r);
    if (trivial(r, &q)) {
      if (r->out[0].n_elem > 0) memset(r->out[0].data, 0, r->out[0].byte_size);
      dn_finish_rows(r);
      return NULL;
    }
    TFSDK_TRY(prepare(p, r));
  }
  p->operand[0].base = (char *)r->in[0].data;
  p->operand[1].base = (char *)r->in[1].data;
  p->operand[2].base = (char *)r->out[0].data;
  return dn_run(p, r, r->in[1].stamp);
}

static const tfsdk_kerneldef kernels[] = {
    {DN_KERNEL("MatMul", DN_FINISHES, prepare, compute)},
    {DN_KERNEL("BatchMatMulV2", DN_FINISHES, prepare, compute)},
    {DN_KERNEL_BFLOAT16("MatMul", DN_FINISHES, prepare, compute), .supports = supports_bfloat16},
    {DN_KERNEL_BFLOAT16("BatchMatMulV2", DN_FINISHES, prepare, compute),
     .supports = supports_bfloat16}};
TFSDK_UNIT_KERNELS(mat_mul, kernels);
