/* Cast from bool, bytes, integers and floats to float32 and float64. */
#include "common.h"

#define LOOP(name, S, D)                                                                           \
  CPU_CLONES static void name(const void *x, void *y, int64_t n) {                                 \
    for (int64_t i = 0; i < n; i++) ((D *)y)[i] = (D)((const S *)x)[i];                            \
  }
LOOP(u8_f32, uint8_t, float)
LOOP(i32_f32, int32_t, float)
LOOP(i64_f32, int64_t, float)
LOOP(f32_f32, float, float)
LOOP(f64_f32, double, float)
LOOP(u8_f64, uint8_t, double)
LOOP(i32_f64, int32_t, double)
LOOP(i64_f64, int64_t, double)
LOOP(f32_f64, float, double)
LOOP(f64_f64, double, double)

typedef void cast_fn(const void *x, void *y, int64_t n);
typedef struct job {
  cast_fn *fn;
  const char *x;
  char *y;
  int64_t from, to;
} job;

static cast_fn *find(int32_t from, int wide) {
  switch (from) {
  case TFSDK_UINT8:
  case TFSDK_BOOL: return wide ? u8_f64 : u8_f32;
  case TFSDK_INT32: return wide ? i32_f64 : i32_f32;
  case TFSDK_INT64: return wide ? i64_f64 : i64_f32;
  case TFSDK_FLOAT32: return wide ? f32_f64 : f32_f32;
  default: return wide ? f64_f64 : f64_f32;
  }
}

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  j->fn(j->x + begin * j->from, j->y + begin * j->to, end - begin);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  job j = {.x = (const char *)x->data, .y = (char *)y->data};
  (void)state;
  j.fn = find(x->dtype, y->dtype == TFSDK_FLOAT64);
  j.from = (int64_t)tfsdk_dtype_size(x->dtype);
  j.to = (int64_t)tfsdk_dtype_size(y->dtype);
  r->api->par_for(r, y->n_elem, CPU_GRAIN_COPY, range, &j);
  return NULL;
}

static const int32_t sources[] = {
    TFSDK_UINT8, TFSDK_BOOL, TFSDK_INT32, TFSDK_INT64, TFSDK_FLOAT32, TFSDK_FLOAT64, 0};
static const tfsdk_where where[] = {{"SrcT", sources}, {"DstT", cpu_float_types}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("Cast", "cpu", 100), .label = "vector",
                                           .where = where, .n_where = 2, .compute = compute}};
TFSDK_UNIT_KERNELS(cast, kernels);
