#include "native.h"

#include <stdio.h>
#include <stdlib.h>

struct native {
  dn_library lib;
  dn_plan plan;
  dnnl_primitive_t primitive;
  dnnl_stream_t stream;
  dnnl_exec_arg_t args[DN_OPERANDS];
  void *data[DN_OPERANDS];
};

static void *again(const tfsdk_host *host, void *block, size_t old_bytes, size_t new_bytes) {
  (void)host, (void)old_bytes;
  if (new_bytes != 0) return realloc(block, new_bytes);
  free(block);
  return NULL;
}

static tfsdk_status *fail(const tfsdk_host *host, int32_t code, const char *file, int32_t line,
                          const char *format, ...) {
  (void)host, (void)code;
  fprintf(stderr, "%s:%d: %s\n", file, line, format);
  exit(1);
}

static const tfsdk_host host = {.struct_size = sizeof host, .realloc = again, .fail = fail};
static const tfsdk_opdef op = {.name = "a native primitive"};
static const tfsdk_run run = {.host = &host, .op = &op};

static native *open_native(int threads, int32_t dtype) {
  const char *why;
  const dn_library *lib = dn_library_get(&why);
  native *n = lib != NULL ? (native *)calloc(1, sizeof *n) : NULL;
  if (n == NULL) return NULL;
  n->lib = *lib;
  if (lib->omp_set_num_threads != NULL) lib->omp_set_num_threads(threads);
  n->lib.omp_set_num_threads = NULL; /* dn_enter leaves the threads as they are */
  n->lib.attr = NULL;
  n->plan.host = &host;
  n->plan.lib = &n->lib;
  n->plan.dtype = dtype;
  return n;
}

static dn_desc any(native *n, int rank, const int64_t *dim) {
  dnnl_dims_t d = {0};
  dn_desc out = NULL;
  for (int i = 0; i < rank; i++) d[i] = dim[i];
  (void)dn_layout(&n->plan, &run, rank, d, DN_ANY, &out); /* `fail` does not return */
  return out;
}

/* Memory of half, whatever the type: 0x3f00 is the upper half of it. */
static void *halves(size_t bytes) {
  uint16_t *data = (uint16_t *)aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (data == NULL) exit(1);
  for (size_t i = 0; i < bytes / 2; i++) data[i] = 0x3f00;
  return data;
}

static native *finish(native *n, dnnl_status_t s, dnnl_primitive_desc_t pd, const int *arg) {
  const dn_library *l = &n->lib;
  if (s == dnnl_success) s = l->primitive_create(&n->primitive, pd);
  if (s == dnnl_success) s = l->stream_create(&n->stream, l->engine, dnnl_stream_default_flags);
  for (int i = 0; i < DN_OPERANDS && s == dnnl_success; i++) {
    const dn_desc md = l->primitive_desc_query_md(pd, dnnl_query_exec_arg_md, arg[i]);
    n->data[i] = halves(l->memory_desc_get_size(md));
    n->args[i].arg = arg[i];
    s = l->memory_create(&n->args[i].memory, md, l->engine, n->data[i]);
  }
  if (pd != NULL) l->primitive_desc_destroy(pd);
  if (s == dnnl_success) return n;
  native_free(n);
  return NULL;
}

native *native_conv(int threads, int32_t dtype, const native_conv_shape *c) {
  native *n = open_native(threads, dtype);
  const int64_t x[4] = {c->batch, c->in_c, c->in, c->in},
                y[4] = {c->batch, c->out_c, c->out, c->out};
  const int64_t f[4] = {c->out_c, c->in_c, c->window, c->window};
  const int64_t g[5] = {c->in_c, c->out_c / c->in_c, 1, c->window, c->window};
  const dn_window w = {.stride = {c->stride, c->stride},
                       .before = {c->before, c->before},
                       .after = {c->after, c->after}};
  const int arg[DN_OPERANDS] = {c->kind == DN_INPUT ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC,
                                c->kind == DN_FILTER ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS,
                                c->kind == DN_FORWARD ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST};
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t s;
  dn_desc filter;
  if (n == NULL) return NULL;
  filter = c->depthwise ? any(n, 5, g) : any(n, 4, f);
  s = dn_describe_conv(&n->lib, c->kind, any(n, 4, x), filter, any(n, 4, y), filter, &w, &pd);
  return finish(n, s, pd, arg);
}

native *native_product(int threads, int32_t dtype, int64_t count, int64_t m, int64_t k, int64_t n) {
  native *p = open_native(threads, dtype);
  const int64_t a[3] = {count, m, k}, b[3] = {count, k, n}, c[3] = {count, m, n};
  const int skip = count == 1, rank = 3 - skip;
  const int arg[DN_OPERANDS] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t s;
  if (p == NULL) return NULL;
  s = dn_describe_product(&p->lib, any(p, rank, a + skip), any(p, rank, b + skip),
                          any(p, rank, c + skip), &pd);
  return finish(p, s, pd, arg);
}

void native_run(native *n) {
  dnnl_status_t s = n->lib.primitive_execute(n->primitive, n->stream, DN_OPERANDS, n->args);
  if (s == dnnl_success) s = n->lib.stream_wait(n->stream);
  if (s != dnnl_success) exit(1);
}

void native_free(native *n) {
  if (n->primitive != NULL) n->lib.primitive_destroy(n->primitive);
  if (n->stream != NULL) n->lib.stream_destroy(n->stream);
  for (int i = 0; i < DN_OPERANDS; i++) {
    if (n->args[i].memory != NULL) n->lib.memory_destroy(n->args[i].memory);
    free(n->data[i]);
  }
  dn_drop_descs(&n->plan);
  free(n);
}
