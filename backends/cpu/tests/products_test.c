/* products_test.c - the drivers of matrix products and convolutions against plain sums in double:
 * every way a product is cut, packed or turned, Winograd's transforms in all three directions, edges
 * of images, channels that are part of more. For each: the same bits with 1, 2 and 4 threads, and
 * `finish` called once for each row.
 *
 * Float sums of n terms are off by less than n 2^-24 times the sum of their magnitudes, and in
 * practice by far less: the bounds below are 1e-6 (plain) and 4e-6 (Winograd, of the largest such
 * sum among all outputs) of that; a wrong term would be off by some thousand times more. */
#include "../keep.h"
#include "../winograd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(cond, ...)                                                                           \
  do {                                                                                             \
    if (!(cond)) {                                                                                 \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                              \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fprintf(stderr, "\n");                                                                       \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

/* --------------------------------------------------------------------------------- a run by itself */

static uint32_t threads;
static int *told; /* how often each row was */
static int64_t n_told;
static void *rooms[8];
static int n_rooms;

static tfsdk_status *workspace(tfsdk_run *r, size_t bytes, void **out) {
  (void)r;
  *out = rooms[n_rooms++] = aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*out == NULL) abort();
  memset(*out, 0xff, bytes); /* NaN: nobody may count on zeros */
  return NULL;
}
static void par_for(tfsdk_run *r, int64_t n, int64_t grain, tfsdk_range_fn *fn, void *user) {
  (void)r;
  cpu_pool_run(threads, n, grain, fn, user);
}
static void finish(tfsdk_run *r, int64_t begin, int64_t end) {
  (void)r;
  for (int64_t i = begin; i < end; i++) {
    if (i < 0 || i >= n_told) abort();
    __atomic_fetch_add(&told[i], 1, __ATOMIC_RELAXED);
  }
}
static const tfsdk_run_api api = {
    .struct_size = sizeof api, .workspace = workspace, .par_for = par_for, .finish = finish};
static struct tfsdk_dev device;
static tfsdk_run run = {.api = &api, .device = &device};

static size_t held; /* bytes, by the host's memory */
static uint64_t stamp;
static void *host_realloc(const tfsdk_host *h, void *block, size_t old_bytes, size_t new_bytes) {
  (void)h;
  held += new_bytes - old_bytes;
  if (new_bytes > 0) return realloc(block, new_bytes);
  free(block);
  return NULL;
}
static const tfsdk_host host = {.struct_size = sizeof host, .realloc = host_realloc};

static void begin_run(uint32_t n, int64_t rows) {
  threads = device.threads = n;
  n_told = rows;
  told = (int *)calloc((size_t)rows + 1, sizeof *told);
}
static void end_run(const char *what, int expect) {
  for (int64_t i = 0; i < n_told; i++)
    if (told[i] != expect) {
      CHECK(0, "%s: row %lld was told %d times", what, (long long)i, told[i]);
      break;
    }
  free(told);
  while (n_rooms > 0) free(rooms[--n_rooms]);
}

static uint32_t seed = 1;
static float *numbers(int64_t n) {
  float *x = (float *)aligned_alloc(256, ((size_t)n * 4 + 511) / 256 * 256);
  for (int64_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)(int32_t)seed * 0x1p-31f;
  }
  return x;
}

static const uint32_t counts[3] = {1, 2, 4};

/* -------------------------------------------------------------------------------------- products */

static void product(int64_t m, int64_t n, int64_t k, int ta, int tb, int add) {
  char what[96];
  float *a = numbers(m * k), *b = numbers(k * n), *start = numbers(m * n), *first = NULL;
  snprintf(what, sizeof what, "product %lldx%lldx%lld%s%s%s", (long long)m, (long long)n,
           (long long)k, ta ? " a^T" : "", tb ? " b^T" : "", add ? " add" : "");
  stamp++;
  for (int t = 0; t < 6; t++) { /* the last three: met, packed and kept, used again */
    float *c = (float *)malloc((size_t)(m * n) * 4);
    cpu_gemm g = {.dtype = TFSDK_FLOAT32, .add = add, .m = m, .n = n, .k = k, .finish = 1};
    g.b_stamp = t < 3 ? 0 : stamp;
    g.a = a, g.b = b, g.c = c;
    g.a_row = ta ? 1 : k, g.a_col = ta ? m : 1;
    g.b_row = tb ? 1 : n, g.b_col = tb ? k : 1;
    g.c_row = n;
    memcpy(c, start, (size_t)(m * n) * 4);
    begin_run(counts[t % 3], m);
    CHECK(cpu_gemm_run(&run, &g) == NULL, "%s failed", what);
    end_run(what, 1);
    if (first == NULL) {
      first = c;
      continue;
    }
    CHECK(memcmp(first, c, (size_t)(m * n) * 4) == 0, "%s: other bits with %u threads, run %d",
          what, counts[t % 3], t);
    free(c);
  }
  for (int64_t i = 0; i<m; i += m> 64 ? 7 : 1)
    for (int64_t j = 0; j<n; j += n> 64 ? 5 : 1) {
      double sum = add ? (double)start[i * n + j] : 0, size = fabs(sum);
      for (int64_t q = 0; q < k; q++) {
        double v =
            (double)(ta ? a[q * m + i] : a[i * k + q]) * (double)(tb ? b[j * k + q] : b[q * n + j]);
        sum += v;
        size += fabs(v);
      }
      if (!(fabs((double)first[i * n + j] - sum) <= 1e-6 * size)) {
        CHECK(0, "%s: (%lld, %lld) is %g, not %g", what, (long long)i, (long long)j,
              (double)first[i * n + j], sum);
        i = m;
        break;
      }
    }
  free(a), free(b), free(start), free(first);
}

/* What is kept follows the content: other numbers at the same place, more than there is room for. */
static void kept(void) {
  enum { M = 40, N = 96, K = 800, MATRICES = 6, ROUNDS = 4 };
  float *a = numbers(M * K), *b[MATRICES], *want = numbers(M * N), *got = numbers(M * N);
  cpu_gemm g = {.dtype = TFSDK_FLOAT32, .m = M, .n = N, .k = K, .a = a};
  g.a_row = K, g.a_col = 1, g.b_row = N, g.b_col = 1, g.c_row = N;
  for (int i = 0; i < MATRICES; i++) b[i] = numbers(K * N); /* 0.3 MB each, and the limit is 1 MB */
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < MATRICES; i++) {
      const uint64_t content = ++stamp;
      b[i][round] += 1;
      g.b = b[i];
      for (int use = 0; use < 4; use++) {
        g.b_stamp = use == 0 ? 0 : content;
        g.c = use == 0 ? want : got;
        begin_run(counts[use % 3], 0);
        CHECK(cpu_gemm_run(&run, &g) == NULL, "a kept product failed");
        end_run("a kept product", 0);
        CHECK(use == 0 || memcmp(want, got, M * N * 4) == 0,
              "matrix %d, round %d, use %d: what was kept is of another content", i, round, use);
        CHECK(held <= (1 << 20) + sizeof(struct tfsdk_dev) + 65536, "%zu bytes are kept", held);
      }
    }
  for (int i = 0; i < MATRICES; i++) free(b[i]);
  free(a), free(want), free(got);
}

static void products(void) {
  static const int64_t sizes[][3] = {
      {5, 3, 7},       {1, 70, 300},     {70, 1, 300},   {20, 800, 400},  {64, 500, 700},
      {32, 3000, 90},  {130, 70, 650},   {257, 257, 64}, {300, 1000, 40}, {513, 37, 129},
      {96, 512, 1024}, {200, 2100, 330}, {64, 256, 128}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int t = 0; t < 4; t++)
      product(sizes[i][0], sizes[i][1], sizes[i][2], t & 1, t >> 1, t == 2);
  /* drawn sizes: which way a product is computed depends on all three, and on their remainders */
  for (int i = 0; i < 400; i++) {
    int64_t size[3];
    for (int d = 0; d < 3; d++) {
      seed = seed * 1664525u + 1013904223u;
      size[d] = (int64_t)exp2((double)(seed >> 8) * 0x1p-24 * 10);
      if (seed >> 8 & 1) size[d] = (size[d] + 15) / 16 * 16;
    }
    if (size[0] * size[1] * size[2] > 6000000) size[2] = 6000000 / (size[0] * size[1]) + 1;
    product(size[0], size[1], size[2], i & 1, i >> 1 & 1, i % 5 == 0);
  }
}

/* ---------------------------------------------------------------------------------- convolutions */

typedef struct shape {
  int64_t batch, h, w, c, n, taps;
  int64_t before; /* padding in front; behind it is taps - 1 - before or, VALID, none */
  int valid, turned, part;
} shape;

static cpu_conv map_of(const shape *s, const float *x, const float *f, float *y) {
  cpu_conv v = {.dtype = TFSDK_FLOAT32, .batch = s->batch, .src = x, .filter = f, .dst = y};
  const int64_t lost = s->valid ? s->taps - 1 : 0;
  v.h = (cpu_conv_axis){s->h, s->h - lost, s->taps, 1, s->valid ? 0 : -s->before, 1};
  v.w = (cpu_conv_axis){s->w, s->w - lost, s->taps, 1, s->valid ? 0 : -s->before, 1};
  v.channels = s->c;
  v.n = s->n;
  v.src_pixel = s->c + s->part;
  v.dst_pixel = s->n + s->part;
  v.dst_row = v.w.out * v.dst_pixel;
  v.dst_image = v.h.out * v.dst_row;
  v.f_o = 1, v.f_c = s->n, v.f_w = s->c * s->n, v.f_h = s->taps * v.f_w;
  if (s->turned) { /* as for the gradient of the image: taps backwards, channels the other way */
    v.filter = f + (s->taps * s->taps - 1) * s->c * s->n;
    v.f_o = s->c, v.f_c = 1, v.f_w = -v.f_w, v.f_h = -v.f_h;
  }
  return v;
}

/* Source pixel and filter of output (i, j) and tap (p, q); NULL outside. */
static const float *pixel(const cpu_conv *v, int64_t image, int64_t y, int64_t x) {
  if (y < 0 || y >= v->h.in || x < 0 || x >= v->w.in) return NULL;
  return (const float *)v->src + ((image * v->h.in + y) * v->w.in + x) * v->src_pixel;
}

static void compare(const char *what, const float *got, const double *want, int64_t n,
                    double size) {
  for (int64_t i = 0; i < n; i++)
    if (!(fabs((double)got[i] - want[i]) <= 4e-6 * size)) {
      CHECK(0, "%s: element %lld is %g, not %g", what, (long long)i, (double)got[i], want[i]);
      return;
    }
}

static void forward(const shape *s, const char *what) {
  const int64_t pixels = s->batch * s->h * s->w, filter = s->taps * s->taps * s->c * s->n;
  float *x = numbers(pixels * (s->c + s->part)), *f = numbers(filter), *first = NULL;
  cpu_conv v = map_of(s, x, f, NULL);
  const int64_t out = v.batch * v.dst_image, rows = v.batch * v.h.out * v.w.out;
  double *want = (double *)calloc((size_t)out, sizeof *want), size = 0;
  CHECK(cpu_winograd_takes(&v), "%s is not taken", what);
  for (int t = 0; t < 3; t++) {
    float *y = (float *)calloc((size_t)out, 4);
    void *scratch;
    begin_run(counts[t], rows);
    v.dst = y;
    v.finish = s->part ? NULL : &run;
    workspace(&run, cpu_conv_scratch(&v, threads), &scratch);
    cpu_conv_run(&run, &v, threads, scratch);
    end_run(what, s->part ? 0 : 1);
    if (first != NULL) {
      CHECK(memcmp(first, y, (size_t)out * 4) == 0, "%s: other bits with %u threads", what,
            counts[t]);
      free(y);
    } else {
      first = y;
    }
  }
  for (int64_t r = 0; r < rows; r++) {
    const int64_t image = r / (v.h.out * v.w.out), i = r / v.w.out % v.h.out, j = r % v.w.out;
    for (int64_t o = 0; o < v.n; o++) {
      double sum = 0, all = 0;
      for (int64_t t = 0; t < s->taps * s->taps; t++) {
        const int64_t p = t / s->taps, q = t % s->taps;
        const float *from = pixel(&v, image, i + v.h.first + p, j + v.w.first + q);
        const float *g = (const float *)v.filter + p * v.f_h + q * v.f_w + o * v.f_o;
        for (int64_t c = 0; from != NULL && c < v.channels; c++) {
          sum += (double)from[c] * (double)g[c * v.f_c];
          all += fabs((double)from[c] * (double)g[c * v.f_c]);
        }
      }
      want[image * v.dst_image + i * v.dst_row + j * v.dst_pixel + o] = sum;
      if (all > size) size = all;
    }
  }
  compare(what, first, want, out, size); /* what belongs to others is still 0 */
  free(x), free(f), free(first), free(want);
}

static void filter_gradient(const shape *s, const char *what) {
  const int64_t pixels = s->batch * s->h * s->w, filter = s->taps * s->taps * s->c * s->n;
  float *x = numbers(pixels * (s->c + s->part)), *dy = numbers(pixels * (s->n + s->part));
  float *first = NULL;
  cpu_conv v = map_of(s, x, NULL, dy);
  double *want = (double *)calloc((size_t)filter, sizeof *want), size = 0;
  CHECK(cpu_winograd_takes_filter(&v), "%s is not taken", what);
  for (int t = 0; t < 3; t++) {
    float *df = (float *)malloc((size_t)filter * 4);
    void *scratch;
    begin_run(counts[t], 0);
    workspace(&run, cpu_conv_filter_scratch(&v, threads), &scratch);
    cpu_conv_filter_run(&run, &v, threads, df, scratch);
    end_run(what, 0);
    if (first != NULL) {
      CHECK(memcmp(first, df, (size_t)filter * 4) == 0, "%s: other bits with %u threads", what,
            counts[t]);
      free(df);
    } else {
      first = df;
    }
  }
  for (int64_t t = 0; t < s->taps * s->taps; t++)
    for (int64_t r = 0; r < v.batch * v.h.out * v.w.out; r++) {
      const int64_t image = r / (v.h.out * v.w.out), i = r / v.w.out % v.h.out, j = r % v.w.out;
      const float *from =
          pixel(&v, image, i + v.h.first + t / s->taps, j + v.w.first + t % s->taps);
      const float *g = dy + image * v.dst_image + i * v.dst_row + j * v.dst_pixel;
      for (int64_t c = 0; from != NULL && c < v.channels; c++)
        for (int64_t o = 0; o < v.n; o++)
          want[(t * v.channels + c) * v.n + o] += (double)from[c] * (double)g[o];
    }
  size = (double)(v.batch * v.h.out * v.w.out); /* numbers are below 1 */
  compare(what, first, want, filter, size);
  free(x), free(dy), free(first), free(want);
}

static void convolutions(void) {
  static const shape shapes[] = {
      {2, 13, 11, 32, 48, 3, 1, 0, 0, 0},   {1, 16, 16, 16, 16, 3, 1, 0, 0, 0},
      {3, 10, 9, 16, 32, 3, 0, 1, 0, 0},    {3, 7, 7, 64, 80, 3, 1, 0, 1, 0},
      {2, 14, 14, 32, 64, 5, 2, 0, 0, 0},   {2, 9, 12, 48, 16, 5, 2, 0, 1, 0},
      {1, 12, 30, 176, 160, 3, 1, 0, 0, 0}, {4, 8, 8, 176, 176, 3, 1, 0, 1, 0},
      {2, 12, 12, 32, 32, 3, 1, 0, 0, 16},  {8, 8, 8, 320, 288, 3, 1, 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const shape *s = &shapes[i];
    char what[128];
    snprintf(what, sizeof what, "convolution %zu: %lldx%lld of %lldx%lldx%lldx%lld -> %lld%s%s", i,
             (long long)s->taps, (long long)s->taps, (long long)s->batch, (long long)s->h,
             (long long)s->w, (long long)s->c, (long long)s->n, s->turned ? ", turned" : "",
             s->part ? ", part" : "");
    forward(s, what);
    if (!s->turned) {
      strcat(what, ", filter");
      filter_gradient(s, what);
    }
  }
}

int main(void) {
  cpu_pool_open();
  setenv("TFSDK_CPU_KEEP_MB", "1", 1);
  device.keep = cpu_keep_create(&host);
  kept();
  cpu_keep_destroy(device.keep);
  unsetenv("TFSDK_CPU_KEEP_MB");
  device.keep = cpu_keep_create(&host);
  products();
  cpu_keep_destroy(device.keep);
  CHECK(held == 0, "%zu bytes are still held", held);
  device.keep = NULL;
  convolutions();
  cpu_pool_close();
  printf("products_test, %s kernels: %d failures\n", cpu_isa_name(), failures);
  return failures != 0;
}
