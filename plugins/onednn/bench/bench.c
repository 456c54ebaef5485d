/* onednn_bench [threads] [filter] [fresh|bf16]...: shapes of the benchmark's models, billions of operations a
 * second (a multiply-add is two), by
 *   ours     the CPU backend's kernels
 *   plugin   this plugin's
 *   chosen   whichever a user gets who says nothing
 *   native   oneDNN by itself: layouts and threads as it likes, weights packed beforehand
 * in turn; then the shares that the chosen one reaches of the plugin's and of the native rate, and
 * the largest difference between ours and the plugin's results, relative to the largest result. Each
 * figure is the best of some rounds, which other work on the machine disturbs least. With `fresh` the
 * weights change at each call, as in training; without they stay, and each side may keep them packed.
 * With `bf16` all but ours, which computes float32 then, multiply bfloat16. A minus before the filter
 * leaves out what has it in its name.
 */
#include "native.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tfsdk/shape.h>
#include <tfsdk/tfsdk.h>
#include <time.h>

enum { OURS, THEIRS, CHOSEN, SIDES, ALONE = SIDES, COLUMNS, ROUNDS = 15 };

static tfsdk_runtime *side[SIDES];
static const char *filter = "";
static int fresh, bf16, threads = 1;

static void must(tfsdk_status *s) {
  if (s == NULL) return;
  fprintf(stderr, "%s\n", tfsdk_status_text(s));
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of the side's type; those of bfloat16 and of the float32 that it is compared with are the same. */
static tfsdk_tensor *numbers(int s, uint32_t rank, const int64_t *dim) {
  const int32_t dtype = bf16 && s != OURS ? TFSDK_BFLOAT16 : TFSDK_FLOAT32;
  tfsdk_tensor *t;
  uint32_t seed = 1;
  void *data;
  must(tfsdk_tensor_create_empty(side[s], dtype, rank, dim, &data, &t));
  for (int64_t i = 0, n = tfsdk_tensor_elements(t); i < n; i++) {
    float v;
    seed = seed * 1664525u + 1013904223u;
    v = (float)(seed >> 8) / 8388608.0f - 1.0f;
    if (bf16) v = tfsdk_from_bfloat16(tfsdk_to_bfloat16(v));
    if (dtype == TFSDK_BFLOAT16)
      ((uint16_t *)data)[i] = tfsdk_to_bfloat16(v);
    else
      ((float *)data)[i] = v;
  }
  return t;
}

static double number_at(const tfsdk_view *v, int64_t i) {
  return v->dtype == TFSDK_BFLOAT16 ? tfsdk_from_bfloat16(((const uint16_t *)v->data)[i])
                                    : ((const float *)v->data)[i];
}

static double difference(tfsdk_tensor *a, tfsdk_tensor *b) {
  tfsdk_view x, y;
  double most = 0, off = 0;
  must(tfsdk_tensor_view(a, &x));
  must(tfsdk_tensor_view(b, &y));
  for (int64_t i = 0; i < x.n_elem; i++) {
    most = fmax(most, fabs(number_at(&x, i)));
    off = fmax(off, fabs(number_at(&x, i) - number_at(&y, i)));
  }
  return off / most;
}

/* OpenMP's threads look for work for some milliseconds before they sleep. */
static void settle(void) { nanosleep(&(struct timespec){0, 8000000}, NULL); }

static double best(const double *v) {
  double b = v[0];
  for (int i = 1; i < ROUNDS; i++) b = fmin(b, v[i]);
  return b;
}

/* Takes `alone`, which may be NULL. */
static void measure(const char *text, const char *op, tfsdk_tensor *in[SIDES][3], size_t n_in,
                    const tfsdk_attrval *attr, size_t n_attr, double work, native *alone) {
  double time[COLUMNS][ROUNDS] = {{0}};
  tfsdk_tensor *last[SIDES] = {NULL};
  tfsdk_tensor *other[SIDES];
  int calls = 1;
  for (int s = 0; s < SIDES; s++) {
    tfsdk_view v;
    must(tfsdk_tensor_view(in[s][1], &v));
    must(tfsdk_tensor_create(side[s], v.dtype, v.rank, v.dim, v.data, v.byte_size, &other[s]));
  }
  for (int round = -2; round < ROUNDS; round++)
    for (int s = 0; s < (alone != NULL ? COLUMNS : SIDES); s++) {
      const double start = now();
      double took;
      for (int i = 0; i < calls; i++) {
        tfsdk_tensor *out, *before;
        if (s == ALONE) {
          native_run(alone);
          continue;
        }
        before = in[s][1];
        if (fresh) in[s][1] = other[s], other[s] = before;
        if (last[s] != NULL) tfsdk_tensor_release(last[s]); /* the next takes its memory */
        must(tfsdk_eager_run(side[s], op, in[s], n_in, attr, n_attr, &out, 1));
        last[s] = out;
      }
      took = (now() - start) / calls;
      if (s == ALONE) settle();
      if (round >= 0) time[s][round] = took;
      if (round == -1 && s == SIDES - 1) calls = took < 3e-3 ? (int)(3e-3 / took) + 1 : 1;
    }
  printf("%-46s", text);
  for (int s = 0; s < SIDES; s++) printf(" %8.1f", work * 1e-9 / best(time[s]));
  printf(" %8.1f   %6.2f %6.2f  %8.1e\n", alone != NULL ? work * 1e-9 / best(time[ALONE]) : 0.0,
         best(time[THEIRS]) / best(time[CHOSEN]), best(time[ALONE]) / best(time[CHOSEN]),
         difference(last[OURS], last[THEIRS]));
  fflush(stdout);
  for (int s = 0; s < SIDES; s++) tfsdk_tensor_release(last[s]), tfsdk_tensor_release(other[s]);
  if (alone != NULL) native_free(alone);
}

/* Whether the user wants to see it. */
static int wanted(const char *text) {
  return filter[0] == '-' ? strstr(text, filter + 1) == NULL : strstr(text, filter) != NULL;
}

static void release(tfsdk_tensor *in[SIDES][3], int n) {
  for (int s = 0; s < SIDES; s++)
    for (int i = 0; i < n; i++) tfsdk_tensor_release(in[s][i]);
}

typedef struct conv {
  const char *model;
  int64_t batch, size, in_c, window, out_c, stride;
  int depthwise;
} conv;

static const conv convs[] = {
    {"vgg", 32, 64, 3, 3, 64, 1, 0},          {"vgg", 32, 64, 64, 3, 64, 1, 0},
    {"vgg", 32, 32, 64, 3, 128, 1, 0},        {"vgg", 32, 32, 128, 3, 128, 1, 0},
    {"vgg", 32, 16, 128, 3, 256, 1, 0},       {"vgg", 32, 16, 256, 3, 256, 1, 0},
    {"lenet", 64, 28, 1, 5, 32, 1, 0},        {"lenet", 64, 14, 32, 5, 64, 1, 0},
    {"resnet20", 128, 32, 3, 3, 16, 1, 0},    {"resnet20", 128, 32, 16, 3, 16, 1, 0},
    {"resnet20", 128, 32, 16, 3, 32, 2, 0},   {"resnet20", 128, 16, 32, 3, 32, 1, 0},
    {"resnet20", 128, 16, 32, 3, 64, 2, 0},   {"resnet20", 128, 8, 64, 3, 64, 1, 0},
    {"resnet20", 128, 32, 16, 1, 32, 2, 0},   {"resnet20", 128, 16, 32, 1, 64, 2, 0},
    {"resnet50", 8, 224, 3, 7, 64, 2, 0},     {"resnet50", 8, 56, 64, 1, 64, 1, 0},
    {"resnet50", 8, 56, 64, 3, 64, 1, 0},     {"resnet50", 8, 56, 64, 1, 256, 1, 0},
    {"resnet50", 8, 56, 256, 1, 64, 1, 0},    {"resnet50", 8, 56, 256, 1, 128, 1, 0},
    {"resnet50", 8, 56, 128, 3, 128, 2, 0},   {"resnet50", 8, 28, 128, 1, 512, 1, 0},
    {"resnet50", 8, 56, 256, 1, 512, 2, 0},   {"resnet50", 8, 28, 512, 1, 128, 1, 0},
    {"resnet50", 8, 28, 128, 3, 128, 1, 0},   {"resnet50", 8, 28, 512, 1, 256, 1, 0},
    {"resnet50", 8, 28, 256, 3, 256, 2, 0},   {"resnet50", 8, 14, 256, 1, 1024, 1, 0},
    {"resnet50", 8, 28, 512, 1, 1024, 2, 0},  {"resnet50", 8, 14, 1024, 1, 256, 1, 0},
    {"resnet50", 8, 14, 256, 3, 256, 1, 0},   {"resnet50", 8, 14, 1024, 1, 512, 1, 0},
    {"resnet50", 8, 14, 512, 3, 512, 2, 0},   {"resnet50", 8, 7, 512, 1, 2048, 1, 0},
    {"resnet50", 8, 14, 1024, 1, 2048, 2, 0}, {"resnet50", 8, 7, 2048, 1, 512, 1, 0},
    {"resnet50", 8, 7, 512, 3, 512, 1, 0},    {"mobilenet", 8, 224, 3, 3, 32, 2, 0},
    {"mobilenet", 8, 112, 32, 3, 1, 1, 1},    {"mobilenet", 8, 112, 32, 1, 64, 1, 0},
    {"mobilenet", 8, 112, 64, 3, 1, 2, 1},    {"mobilenet", 8, 56, 64, 1, 128, 1, 0},
    {"mobilenet", 8, 56, 128, 3, 1, 1, 1},    {"mobilenet", 8, 56, 128, 1, 128, 1, 0},
    {"mobilenet", 8, 56, 128, 3, 1, 2, 1},    {"mobilenet", 8, 28, 128, 1, 256, 1, 0},
    {"mobilenet", 8, 28, 256, 3, 1, 1, 1},    {"mobilenet", 8, 28, 256, 1, 256, 1, 0},
    {"mobilenet", 8, 14, 512, 3, 1, 1, 1},    {"mobilenet", 8, 14, 512, 1, 512, 1, 0},
    {"mobilenet", 8, 7, 1024, 3, 1, 1, 1},    {"mobilenet", 8, 7, 1024, 1, 1024, 1, 0}};

static tfsdk_tensor *extents(tfsdk_runtime *rt, const int64_t *dim) {
  const int32_t v[4] = {(int32_t)dim[0], (int32_t)dim[1], (int32_t)dim[2], (int32_t)dim[3]};
  const int64_t n = 4;
  tfsdk_tensor *t;
  must(tfsdk_tensor_create(rt, TFSDK_INT32, 1, &n, v, sizeof v, &t));
  return t;
}

/* way 0: forward, 1: gradient of the images, 2: of the filter. */
static void one_conv(const conv *c, int way) {
  static const char *const ops[2][3] = {{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"},
                                        {"DepthwiseConv2dNative",
                                         "DepthwiseConv2dNativeBackpropInput",
                                         "DepthwiseConv2dNativeBackpropFilter"}};
  static const char *const ways[] = {"", " dx", " df"};
  const int64_t out = (c->size + c->stride - 1) / c->stride;
  const int64_t out_c = c->depthwise ? c->in_c : c->out_c;
  const int64_t x[4] = {c->batch, c->size, c->size, c->in_c};
  const int64_t f[4] = {c->window, c->window, c->in_c, c->out_c};
  const int64_t y[4] = {c->batch, out, out, out_c};
  const int64_t strides[4] = {1, c->stride, c->stride, 1};
  const tfsdk_attrval attr[] = {tfsdk_a_ints("strides", strides, 4),
                                tfsdk_a_string("padding", "SAME")};
  const double work = 2.0 * (double)(c->batch * out * out * out_c * c->window * c->window) *
                      (c->depthwise ? 1.0 : (double)c->in_c);
  const int64_t pad = (out - 1) * c->stride + c->window - c->size; /* TensorFlow's SAME */
  const int64_t before = pad > 0 ? pad / 2 : 0;
  const native_conv_shape alone = {c->batch,  c->size, c->in_c,      c->window,    out, out_c,
                                   c->stride, before,  pad - before, c->depthwise, way};
  tfsdk_tensor *in[SIDES][3];
  char text[120];
  snprintf(text, sizeof text, "%s%s%s%s b%d %dx%dx%d %dx%d/%d %d", c->model, bf16 ? " bf16" : "",
           c->depthwise ? " depthwise" : "", ways[way], (int)c->batch, (int)c->size, (int)c->size,
           (int)c->in_c, (int)c->window, (int)c->window, (int)c->stride, (int)out_c);
  if (!wanted(text)) return;
  for (int s = 0; s < SIDES; s++) {
    in[s][0] = way == 1 ? extents(side[s], x) : numbers(s, 4, x);
    in[s][1] = way == 2 ? extents(side[s], f) : numbers(s, 4, f);
    in[s][2] = way == 0 ? NULL : numbers(s, 4, y);
  }
  measure(text, ops[c->depthwise][way], in, way == 0 ? 2 : 3, attr, 2, work,
          native_conv(threads, bf16 ? dnnl_bf16 : dnnl_f32, &alone));
  release(in, way == 0 ? 2 : 3);
}

typedef struct product {
  const char *model;
  int64_t count, m, k, n;
} product;

static const product products[] = {{"mlp", 1, 128, 784, 512},
                                   {"mlp", 1, 128, 512, 512},
                                   {"mlp", 1, 128, 512, 10},
                                   {"lenet", 1, 64, 3136, 1024},
                                   {"lenet", 1, 64, 1024, 10},
                                   {"vgg", 1, 32, 16384, 512},
                                   {"vgg", 1, 32, 512, 100},
                                   {"resnet50", 1, 8, 2048, 1000},
                                   {"mobilenet", 1, 8, 1024, 1000},
                                   {"lstm", 1, 20, 400, 800},
                                   {"lstm", 1, 400, 200, 10000},
                                   {"transformer", 1, 1024, 256, 256},
                                   {"transformer", 1, 1024, 256, 1024},
                                   {"transformer", 1, 1024, 1024, 256},
                                   {"transformer heads", 32, 128, 64, 128},
                                   {"transformer heads", 32, 128, 128, 64},
                                   {"square", 1, 1024, 1024, 1024}};

/* c[m,n] = a[m,k] b[k,n], and what its gradients are: a' g for b, g b' for a. */
static void one_product(const product *p, int way) {
  static const char *const ways[] = {"", " a'g", " gb'"};
  const int batch = p->count > 1;
  const int64_t a[3] = {p->count, p->m, way == 2 ? p->n : p->k};
  const int64_t b[3] = {p->count, way == 1 ? p->m : p->k, p->n};
  const tfsdk_attrval attr[] = {tfsdk_a_bool(batch ? "adj_x" : "transpose_a", way == 1),
                                tfsdk_a_bool(batch ? "adj_y" : "transpose_b", way == 2)};
  const double work = 2.0 * (double)(p->count * p->m * p->k) * (double)p->n;
  tfsdk_tensor *in[SIDES][3];
  char text[120];
  snprintf(text, sizeof text, "%s%s%s %dx %dx%dx%d", p->model, bf16 ? " bf16" : "", ways[way],
           (int)p->count, (int)p->m, (int)p->k, (int)p->n);
  if (!wanted(text)) return;
  for (int s = 0; s < SIDES; s++) {
    in[s][0] = numbers(s, batch ? 3 : 2, a + !batch);
    in[s][1] = numbers(s, batch ? 3 : 2, b + !batch);
  }
  measure(text, batch ? "BatchMatMulV2" : "MatMul", in, 2, attr, 2, work,
          native_product(threads, bf16 ? dnnl_bf16 : dnnl_f32, p->count, way == 1 ? p->k : p->m,
                         way == 0   ? p->k
                         : way == 1 ? p->m
                                    : p->n,
                         way == 2 ? p->k : p->n));
  release(in, 2);
}

int main(int argc, char **argv) {
  tfsdk_runtime_options o = {.struct_size = sizeof o, .log_level = TFSDK_LOG_ERROR};
  if (argc > 1) threads = atoi(argv[1]);
  if (argc > 2) filter = argv[2];
  for (int i = 3; i < argc; i++) {
    fresh = fresh || strcmp(argv[i], "fresh") == 0;
    bf16 = bf16 || strcmp(argv[i], "bf16") == 0;
  }
  o.threads = (uint32_t)threads;
  for (int s = 0; s < SIDES; s++) must(tfsdk_runtime_create(&o, &side[s]));
  must(tfsdk_runtime_prefer(side[OURS], NULL, "cpu"));
  must(tfsdk_runtime_prefer(side[THEIRS], NULL, "onednn"));
  printf("%-46s %8s %8s %8s %8s   %6s %6s  %8s\n", "GFLOP/s", bf16 ? "float32" : "ours", "plugin",
         "chosen", "native", "plugin", "native", "differ");
  for (int way = 0; way < 3; way++)
    for (size_t i = 0; i < TFSDK_COUNT(products); i++) one_product(&products[i], way);
  for (int way = 0; way < 3; way++)
    for (size_t i = 0; i < TFSDK_COUNT(convs); i++)
      if (!bf16 || !convs[i].depthwise) one_conv(&convs[i], way);
  for (int s = 0; s < SIDES; s++) tfsdk_runtime_release(side[s]);
  return 0;
}
