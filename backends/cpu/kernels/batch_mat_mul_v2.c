/* BatchMatMulV2 and BatchMatMul: a matrix product for each index of the (broadcast) batch axes.
 * Many small products are spread over the threads whole; few large ones are each computed by all
 * threads.
 */
#include "common.h"
#include "gemm.h"

#include <tfsdk/elementwise.h>

enum { ADJ_X = 1, ADJ_Y = 2 };

typedef struct batch_job {
  cpu_gemm g; /* of the first product */
  int64_t a_step[TFSDK_MAX_RANK], b_step[TFSDK_MAX_RANK], dim[TFSDK_MAX_RANK];
  int32_t axes;
  tfsdk_run *r;
  size_t size;
} batch_job;

static cpu_gemm product(const batch_job *j, int64_t index) {
  cpu_gemm g = j->g;
  int64_t a = 0, b = 0;
  g.c = (char *)g.c + (size_t)(index * g.m * g.n) * j->size;
  g.finish = 1;
  g.finish_from = index * g.m;
  for (int32_t d = j->axes - 1; d >= 0; d--) {
    a += index % j->dim[d] * j->a_step[d];
    b += index % j->dim[d] * j->b_step[d];
    index /= j->dim[d];
  }
  g.a = (const char *)g.a + a * (int64_t)j->size;
  g.b = (const char *)g.b + b * (int64_t)j->size;
  return g;
}

static void products(void *user, int64_t begin, int64_t end) {
  const batch_job *j = (const batch_job *)user;
  for (int64_t i = begin; i < end; i++) {
    cpu_gemm g = product(j, i);
    cpu_gemm_serial(&g);
    j->r->api->finish(j->r, g.finish_from, g.finish_from + g.m);
  }
}

/* How far an input advances along each batch axis; 0 where it is broadcast. */
static void steps(const tfsdk_view *v, const tfsdk_view *out, int64_t matrix, int64_t *step) {
  int64_t volume = matrix;
  for (int32_t d = out->rank - 3; d >= 0; d--) {
    int32_t own = d - (out->rank - v->rank);
    step[d] = own >= 0 && v->dim[own] != 1 ? volume : 0;
    if (own >= 0) volume *= v->dim[own];
  }
}

static tfsdk_status *create(const tfsdk_kbuild *b, void **out) {
  uintptr_t flags = tfsdk_attr_int(&b->attr, "adj_x") ? ADJ_X : 0;
  if (tfsdk_attr_int(&b->attr, "adj_y")) flags |= ADJ_Y;
  *out = (void *)flags;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *a = &r->in[0], *b = &r->in[1], *c = &r->out[0];
  const int ta = ((uintptr_t)state & ADJ_X) != 0, tb = ((uintptr_t)state & ADJ_Y) != 0;
  const int64_t *ad = a->dim + a->rank - 2, *bd = b->dim + b->rank - 2;
  batch_job j = {.r = r, .axes = c->rank - 2, .size = tfsdk_dtype_size(c->dtype)};
  int64_t count = 1;
  double work;
  if (c->n_elem == 0) return NULL;
  j.g.dtype = c->dtype;
  j.g.m = c->dim[c->rank - 2], j.g.n = c->dim[c->rank - 1], j.g.k = ad[ta ? 0 : 1];
  j.g.a = a->data, j.g.b = b->data, j.g.c = c->data;
  j.g.a_row = ta ? 1 : ad[1], j.g.a_col = ta ? ad[1] : 1;
  j.g.b_row = tb ? 1 : bd[1], j.g.b_col = tb ? bd[1] : 1;
  j.g.c_row = j.g.n;
  steps(a, c, ad[0] * ad[1], j.a_step);
  steps(b, c, bd[0] * bd[1], j.b_step);
  for (int32_t d = 0; d < j.axes; d++) count *= j.dim[d] = c->dim[d];
  work = (double)j.g.m * (double)j.g.n * (double)j.g.k;
  if (count < 16 && work > 4e6) {
    for (int64_t i = 0; i < count; i++) {
      cpu_gemm g = product(&j, i);
      TFSDK_TRY(cpu_gemm_run(r, &g));
    }
  } else {
    r->api->par_for(r, count, (int64_t)(1e6 / (work + 1000)) + 1, products, &j);
  }
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("BatchMatMulV2", "gemm", compute),
                                           .create = create, .traits = TFSDK_KERNEL_FINISHES},
                                          {CPU_KERNEL("BatchMatMul", "gemm", compute),
                                           .create = create, .traits = TFSDK_KERNEL_FINISHES}};
TFSDK_UNIT_KERNELS(batch_mat_mul_v2, kernels);
