/* The workloads that kann (github.com/attractivechaos/kann, MIT) can express, by its own API:
 *
 *   kann_bench mlp|lenet [--mode train|infer] [--variant plain|blas] [--steps N] [--threads N]
 *
 * run_peers.py builds it with kann's sources (--kann DIR): "plain" with kann's SSE loops, "blas" with
 * OpenBLAS. Threads are kann's own: each takes a part of the batch. Its convolutions have no bias,
 * and it has no momentum, so SGD with momentum is written out here. The rules of timing and the line
 * of JSON are those of measure.py. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kann.h"

#define MOST_STEPS 300

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double peak_mb(void) {
  char line[200];
  double kb = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    if (strncmp(line, "VmHWM:", 6) == 0) kb = atof(line + 6);
  if (f != NULL) fclose(f);
  return kb * 1024 / 1e6;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static kann_t *make_mlp(void) {
  kad_node_t *t = kann_layer_input(784);
  t = kad_relu(kann_layer_dense(t, 512));
  t = kad_relu(kann_layer_dense(t, 512));
  return kann_new(kann_layer_cost(t, 10, KANN_C_CEM), 0);
}

static kann_t *make_lenet(void) {
  kad_node_t *t = kad_feed(4, 1, 1, 28, 28);
  t->ext_flag |= KANN_F_IN;
  for (int filters = 32; filters <= 64; filters *= 2) {
    t = kad_relu(kann_layer_conv2d(t, filters, 5, 5, 1, 1, 2, 2));
    t = kad_max2d(t, 2, 2, 2, 2, 0, 0);
  }
  t = kad_relu(kann_layer_dense(t, 1024));
  return kann_new(kann_layer_cost(t, 10, KANN_C_CEM), 0);
}

typedef struct training {
  kann_t *net;
  float *velocity;
  int n, train;
} training;

static float step(training *s) {
  float cost = kann_cost(s->net, 0, s->train);
  float *x = s->net->x, *v = s->velocity;
  const float *g = s->net->g;
  for (int i = 0; s->train && i < s->n; i++) {
    v[i] = 0.9f * v[i] + g[i];
    x[i] -= 0.01f * v[i];
  }
  return cost;
}

int main(int argc, char **argv) {
  const char *workload = argc > 1 ? argv[1] : "", *mode = "train", *variant = "plain";
  int steps = 0, threads = 1;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--mode") == 0) mode = argv[i + 1];
    if (strcmp(argv[i], "--variant") == 0) variant = argv[i + 1];
    if (strcmp(argv[i], "--steps") == 0) steps = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--threads") == 0) threads = atoi(argv[i + 1]);
  }
  int lenet = strcmp(workload, "lenet") == 0, batch = lenet ? 64 : 128;
  if (!lenet && strcmp(workload, "mlp") != 0) {
    fprintf(stderr, "kann_bench: the workloads are mlp and lenet, not '%s'\n", workload);
    return 2;
  }
  double before = peak_mb();
  kann_srand(1);
  training s = {.net = lenet ? make_lenet() : make_mlp(), .train = strcmp(mode, "train") == 0};
  s.n = kann_size_var(s.net);
  s.velocity = calloc((size_t)s.n, sizeof *s.velocity);
  float *x = malloc((size_t)batch * 784 * sizeof *x), *y = calloc((size_t)batch * 10, sizeof *y);
  double *times = malloc(MOST_STEPS * sizeof *times);
  if (s.velocity == NULL || x == NULL || y == NULL || times == NULL) return 1;
  for (int i = 0; i < batch * 784; i++) x[i] = (float)kad_drand_normal(0);
  for (int i = 0; i < batch; i++) y[i * 10 + (int)(kann_drand() * 10)] = 1;
  kann_mt(s.net, threads, batch);
  kann_set_batch_size(s.net, batch);
  kann_feed_bind(s.net, KANN_F_IN, 0, &x);
  kann_feed_bind(s.net, KANN_F_TRUTH, 0, &y);
  kann_switch(s.net, s.train);
  step(&s);
  double began = now_ms();
  for (int warm = 1; warm <= 20; warm++) {
    step(&s);
    if (warm >= 2 && now_ms() - began > 500) break;
  }
  int n = 0;
  float cost = 0;
  began = now_ms();
  while (n < (steps > 0 && steps < MOST_STEPS ? steps : MOST_STEPS)) {
    double from = now_ms(), to;
    cost = step(&s);
    to = now_ms();
    times[n++] = to - from;
    if (steps == 0 && n >= 5 && to - began > 5000) break;
  }
  qsort(times, (size_t)n, sizeof *times, by_value);
  double median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
  printf("{\"workload\":\"%s\",\"mode\":\"%s\",\"ms\":%.4f,\"n\":%d,\"peak_mb\":%.1f,"
         "\"parameters\":%d,"
         "\"peer\":\"kann\",\"variant\":\"%s\",\"loss\":%.6g}\n",
         workload, mode, median, n, peak_mb() - before, s.n, variant, (double)cost);
  fflush(stdout);
  _Exit(0);
}
