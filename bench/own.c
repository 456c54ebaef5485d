/* make bench: our own figures beside the machine's ceilings and the bars of the design.
 *
 *     bench_own PROGRAM        PROGRAM: build/bin/tfsdk, for start-up
 *
 * One line a figure: what, value, its ceiling or bar, the ratio. Medians of repeated runs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tfsdk/emit.h>
#include <tfsdk/tfsdk.h>
#include <unistd.h>

#include "ceilings.h"

static int threads;
static double peak_one, peak_all, copy_all;

static void check(tfsdk_status *s) {
  if (s == NULL) return;
  fprintf(stderr, "bench: %s\n", tfsdk_status_text(s));
  exit(1);
}

static void line(const char *what, double value, const char *unit, double limit,
                 const char *limit_text, int less_is_better) {
  printf("%-46s %10.3g %-8s %-34s %6.2f  %s\n", what, value, unit, limit_text, value / limit,
         (less_is_better ? value <= limit : value >= limit) ? "" : "<- misses");
  fflush(stdout);
}

/* --------------------------------------------------------------------------------- graphs of ops */

typedef struct net {
  tfsdk_runtime *rt;
  tfsdk_graph *g;
  tfsdk_ctx *c;
  tfsdk_session *s;
  tfsdk_val feed[3], fetch;
  tfsdk_tensor *fed[3];
  size_t n_feed;
} net;

static net begin(tfsdk_runtime *rt) {
  net n = {.rt = rt};
  check(tfsdk_graph_create(rt, &n.g));
  n.c = tfsdk_graph_ctx(n.g);
  return n;
}

static tfsdk_val input(net *n, uint32_t rank, const int64_t *dim) {
  void *data;
  tfsdk_attrval a[2] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32), tfsdk_a_shape("shape", dim, rank)};
  check(tfsdk_tensor_create_empty(n->rt, TFSDK_FLOAT32, rank, dim, &data, &n->fed[n->n_feed]));
  for (int64_t i = 0; i < tfsdk_tensor_elements(n->fed[n->n_feed]); i++)
    ((float *)data)[i] = (float)(i % 97) / 97 - 0.5f;
  n->feed[n->n_feed] = tfsdk_emit(n->c, "Placeholder", NULL, 0, a, 2);
  return n->feed[n->n_feed++];
}

/* What is timed is the op, not the fetch of its result: only a corner of that is fetched. */
static void corner(net *n, tfsdk_val v, uint32_t rank) {
  static const int64_t zeros[4], ones[4] = {1, 1, 1, 1};
  n->fetch = tfsdk_emit3(n->c, "Slice", v, tfsdk_int_vector(n->c, zeros, rank),
                         tfsdk_int_vector(n->c, ones, rank));
}

static double time_net(net *n, int inner) {
  double times[60];
  int count = 0;
  check(tfsdk_ctx_error(n->c));
  check(tfsdk_session_create(n->g, NULL, &n->s));
  for (double end = bench_now() + 0.7; count < 60 && (count < 5 || bench_now() < end); count++) {
    double began = bench_now();
    for (int i = 0; i < inner; i++) {
      tfsdk_tensor *out;
      check(tfsdk_session_run(n->s, &n->fetch, 1, n->feed, n->fed, n->n_feed, &out));
      tfsdk_tensor_release(out);
    }
    times[count] = (bench_now() - began) / inner;
  }
  tfsdk_session_release(n->s);
  for (size_t i = 0; i < n->n_feed; i++) tfsdk_tensor_release(n->fed[i]);
  tfsdk_graph_release(n->g);
  return bench_median(times + 1, count - 1); /* the first made the plan */
}

static void product(tfsdk_runtime *rt, const char *name, int64_t m, int64_t k, int64_t n) {
  char what[80];
  net w = begin(rt);
  tfsdk_val in[2] = {input(&w, 2, (int64_t[]){m, k}), input(&w, 2, (int64_t[]){k, n})};
  corner(&w, tfsdk_emit(w.c, "MatMul", in, 2, NULL, 0), 2);
  double took = time_net(&w, m * k * n < 10000000 ? 20 : 1);
  snprintf(what, sizeof what, "matmul %s %lldx%lldx%lld", name, (long long)m, (long long)k,
           (long long)n);
  line(what, 2e-9 * (double)(m * k * n) / took, "GFLOP/s", 0.9 * peak_all,
       "90 % of the multiply-add peak", 0);
}

/* Forward (0), gradient of the image (1), of the filter (2). */
static void convolution(tfsdk_runtime *rt, const char *name, int64_t b, int64_t size, int64_t c,
                        int64_t o, int64_t f, int64_t stride) {
  static const char *const ops[] = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
  int64_t out = (size + stride - 1) / stride, x[4] = {b, size, size, c}, y[4] = {b, out, out, o};
  int64_t w[4] = {f, f, c, o}, strides[4] = {1, stride, stride, 1};
  for (int kind = 0; kind < 3; kind++) {
    char what[80];
    net n = begin(rt);
    tfsdk_attrval a[2] = {tfsdk_a_ints("strides", strides, 4), tfsdk_a_string("padding", "SAME")};
    tfsdk_val in[3];
    size_t n_in = 0;
    if (kind == 1) in[n_in++] = tfsdk_int_vector(n.c, x, 4);
    if (kind != 1) in[n_in++] = input(&n, 4, x);
    if (kind == 2) in[n_in++] = tfsdk_int_vector(n.c, w, 4);
    if (kind != 2) in[n_in++] = input(&n, 4, w);
    if (kind != 0) in[n_in++] = input(&n, 4, y);
    corner(&n, tfsdk_emit(n.c, ops[kind], in, n_in, a, 2), 4);
    double took = time_net(&n, 1);
    snprintf(what, sizeof what, "%s %s %lld^2 %lldx%lld %lld->%lld /%lld",
             kind == 0   ? "conv"
             : kind == 1 ? "conv dx"
                         : "conv dw",
             name, (long long)size, (long long)f, (long long)f, (long long)c, (long long)o,
             (long long)stride);
    line(what, 2e-9 * (double)(b * out * out * f * f * c * o) / took, "GFLOP/s", 0.9 * peak_all,
         "90 % of the multiply-add peak", 0);
  }
}

static void chain(tfsdk_runtime *rt) {
  static const char *const ops[] = {"Mul",   "AddV2", "Sub",     "Mul", "Maximum",
                                    "AddV2", "Relu",  "Minimum", "Neg", "Abs"};
  int64_t n = (64 << 20) / 4;
  net w = begin(rt);
  tfsdk_val x = input(&w, 1, &n), v = x, k = tfsdk_scalar(w.c, TFSDK_FLOAT32, 1.01);
  for (int i = 0; i < 10; i++)
    v = strcmp(ops[i], "Relu") && strcmp(ops[i], "Neg") && strcmp(ops[i], "Abs")
            ? tfsdk_emit2(w.c, ops[i], v, i % 2 ? k : x)
            : tfsdk_emit1(w.c, ops[i], v);
  corner(&w, v, 1);
  double took = time_net(&w, 1);
  line("chain of 10 element-wise ops, 64 MB", 2e-9 * (double)(64 << 20) / took, "GB/s",
       0.8 * copy_all, "80 % of copying, all threads", 0);
}

static void small(tfsdk_runtime *rt) {
  int64_t four = 4;
  net w = begin(rt);
  tfsdk_val x = input(&w, 1, &four), v = x;
  for (int i = 0; i < 1000; i++) v = tfsdk_emit2(w.c, i % 2 ? "Mul" : "AddV2", v, x);
  w.fetch = v;
  line("a node of 4 numbers, in a plan", time_net(&w, 100) / 1000 * 1e9, "ns", 50, "at most 50 ns",
       1);
  w = begin(rt);
  w.fetch = tfsdk_emit1(w.c, "Identity", input(&w, 1, &four));
  line("session:run with nothing to do", time_net(&w, 10000) * 1e9, "ns", 1000, "at most 1 us", 1);
  float data[4] = {1, 2, 3, 4};
  double times[15];
  tfsdk_tensor *t, *in[2], *out;
  check(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 1, &four, data, sizeof data, &t));
  in[0] = in[1] = t;
  for (int k = 0; k < 15; k++) {
    double began = bench_now();
    for (int i = 0; i < 20000; i++) {
      check(tfsdk_eager_run(rt, "AddV2", in, 2, NULL, 0, &out, 1));
      tfsdk_tensor_release(out);
    }
    times[k] = (bench_now() - began) / 20000 * 1e9;
  }
  tfsdk_tensor_release(t);
  line("an addition of 4 numbers, define-by-run", bench_median(times, 15), "ns", 300,
       "at most 300 ns", 1);
}

/* ------------------------------------------------------------------------------------- processes */

/* Wall time of a whole process, milliseconds; -1 when it fails. */
static double run_process(const char *program, const char *script) {
  double began = bench_now();
  pid_t pid = fork();
  int status;
  if (pid == 0) {
    execl(program, program, "run", script, (char *)NULL);
    _exit(127);
  }
  if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) return -1;
  return (bench_now() - began) * 1e3;
}

static void start_up(const char *program, const char *what, const char *text, double limit,
                     const char *limit_text) {
  char path[] = "/tmp/bench_own_XXXXXX";
  double times[21];
  int fd = mkstemp(path);
  if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
    fprintf(stderr, "bench: no script could be written to /tmp\n");
    exit(1);
  }
  close(fd);
  for (int i = 0; i < 21; i++) times[i] = run_process(program, path);
  unlink(path);
  line(what, bench_median(times, 21), "ms", limit, limit_text, 1);
}

static void library_size(const char *program) {
  char path[] = "/tmp/bench_own_XXXXXX", command[1200];
  struct stat st;
  int fd = mkstemp(path);
  if (fd >= 0) close(fd);
  snprintf(command, sizeof command,
           "strip -o %s \"$(dirname '%s')/../lib/libtfsdk.so\" 2>/dev/null", path, program);
  if (fd < 0 || system(command) != 0 || stat(path, &st) != 0)
    printf("core library, stripped: strip or the library is not here\n");
  else
    line("core library, stripped", (double)st.st_size / 1000, "kB", 400, "at most 400 kB", 1);
  if (fd >= 0) unlink(path);
}

static double cpu_seconds(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* A step of products like the mlp's, with a process beside it that burns one core. */
static double step_time(tfsdk_runtime *rt) {
  net w = begin(rt);
  tfsdk_val x = input(&w, 2, (int64_t[]){128, 784}), a = input(&w, 2, (int64_t[]){784, 512});
  tfsdk_val b = input(&w, 2, (int64_t[]){512, 512}), v = tfsdk_emit2(w.c, "MatMul", x, a);
  for (int i = 0; i < 4; i++) v = tfsdk_emit1(w.c, "Relu", tfsdk_emit2(w.c, "MatMul", v, b));
  corner(&w, v, 2);
  return time_net(&w, 5);
}

static void neighbours(tfsdk_runtime *rt) {
  double quiet = step_time(rt), loaded;
  pid_t pid = fork();
  if (pid == 0)
    for (;;) __asm__ volatile("");
  loaded = step_time(rt);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  line("a step with a busy neighbour, against quiet", loaded / quiet, "times", 2.5,
       "at most 2.5 times", 1);
  usleep(200000);
  double before = cpu_seconds();
  sleep(1);
  line("processor time of an idle runtime", (cpu_seconds() - before) * 1e3, "ms/s", 1,
       "nothing (1 ms in a second)", 1);
}

int main(int argc, char **argv) {
  tfsdk_runtime *rt;
  threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
  peak_one = bench_fma_peak(1);
  peak_all = bench_fma_peak(threads);
  copy_all = bench_copy(threads, (size_t)64 << 20);
  printf("multiply-add peak %.0f GFLOP/s on one thread, %.0f on %d; copying %.1f GB/s\n\n",
         peak_one, peak_all, threads, copy_all);
  printf("%-46s %10s %-8s %-34s %6s\n", "what", "value", "", "bar", "ratio");
  check(tfsdk_runtime_create(NULL, &rt));
  product(rt, "square", 1024, 1024, 1024);
  product(rt, "mlp", 128, 784, 512);
  product(rt, "lstm", 20, 400, 800);
  product(rt, "transformer", 1024, 256, 1024);
  convolution(rt, "lenet", 64, 14, 32, 64, 5, 1);
  convolution(rt, "resnet20", 128, 32, 16, 16, 3, 1);
  convolution(rt, "resnet50", 8, 56, 64, 64, 3, 1);
  convolution(rt, "resnet50", 8, 28, 512, 128, 1, 1);
  convolution(rt, "resnet50", 8, 56, 128, 128, 3, 2);
  convolution(rt, "vgg", 32, 32, 128, 128, 3, 1);
  convolution(rt, "mobilenet", 8, 14, 512, 512, 1, 1);
  chain(rt);
  small(rt);
  neighbours(rt);
  tfsdk_runtime_release(rt);
  if (argc > 1) {
    start_up(argv[1], "an empty script, whole process", "", 5, "at most 5 ms");
    start_up(argv[1], "a script with one small matmul",
             "local tf = require 'tfsdk'\nlocal a = tf.ones{2, 2}\nassert(tf.matmul(a, a))\n", 30,
             "at most 30 ms");
    library_size(argv[1]);
  }
  return 0;
}
