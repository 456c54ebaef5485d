/* blas.c - OpenBLAS (or another CBLAS) behind a table of pointers.
 *
 * The library is opened with dlopen and RTLD_LOCAL and called through dlsym: a symbol resolved by
 * the linker would bind to whatever BLAS the embedding program happens to carry. It is opened when
 * the first product large enough needs it, after the environment has told it which kernels to use,
 * and its answers are compared with a plain loop before anybody relies on them. All of it once per
 * process.
 *
 * The environment variable TFSDK_BLAS names another library, or "none".
 *
 * OpenBLAS computes each call in one thread; how a product is cut over the threads is decided in
 * gemm.c. In the OpenMP build the number of threads is the OpenMP setting of the calling thread, so
 * it is set to 1 for the call and put back; the other build has one number for the whole process.
 */
#include "cpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  pthread_mutex_t lock;
  int tried; /* read without the lock: written last */
  int usable;
  cpu_blas blas;
  int (*omp_get)(void); /* NULL unless OpenMP tells the number of threads */
  void (*omp_set)(int);
  char note[256]; /* why there is none */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const candidates[] = {
#if defined(__x86_64__)
    "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
#elif defined(__aarch64__)
    "/usr/lib/aarch64-linux-gnu/openblas-openmp/libopenblas.so.0",
#endif
    "libopenblas.so.0", "libcblas.so.3", NULL};

/* ------------------------------------------------------------------------------ can it multiply */

/* Odd sizes, both transpositions, alpha and beta; small integers, so every sum is exact. */
enum { TM = 37, TN = 29, TK = 43 };

#define CHECK(name, type, gemm)                                                                    \
  static int name(const cpu_blas *b) {                                                             \
    static type a[TM * TK], x[TK * TN], c[TM * TN];                                                \
    uint32_t seed = 12345;                                                                         \
    for (int i = 0; i < TM * TK; i++)                                                              \
      a[i] = (type)((int)((seed = seed * 1664525u + 1013904223u) >> 28) - 8);                      \
    for (int i = 0; i < TK * TN; i++)                                                              \
      x[i] = (type)((int)((seed = seed * 1664525u + 1013904223u) >> 28) - 8);                      \
    for (int t = 0; t < 4; t++) {                                                                  \
      int ta = t & 1, tb = t >> 1;                                                                 \
      for (int i = 0; i < TM * TN; i++) c[i] = (type)(i % 5);                                      \
      b->gemm(CPU_ROW_MAJOR, ta ? CPU_TRANS : CPU_NO_TRANS, tb ? CPU_TRANS : CPU_NO_TRANS, TM, TN, \
              TK, 2, a, ta ? TM : TK, x, tb ? TK : TN, 1, c, TN);                                  \
      for (int i = 0; i < TM; i++)                                                                 \
        for (int j = 0; j < TN; j++) {                                                             \
          type sum = 0;                                                                            \
          for (int k = 0; k < TK; k++)                                                             \
            sum += (ta ? a[k * TM + i] : a[i * TK + k]) * (tb ? x[j * TK + k] : x[k * TN + j]);    \
          if (c[i * TN + j] != (type)((i * TN + j) % 5) + 2 * sum) return 0;                       \
        }                                                                                          \
    }                                                                                              \
    return 1;                                                                                      \
  }
CHECK(check_float, float, sgemm)
CHECK(check_double, double, dgemm)

/* -------------------------------------------------------------------------------------- opening */

static void *open_library(const char **out_path) {
  const char *asked = getenv("TFSDK_BLAS");
  void *h = NULL;
  *out_path = asked;
  if (asked != NULL && strcmp(asked, "none") == 0) {
    snprintf(state.note, sizeof state.note, "switched off by TFSDK_BLAS");
    return NULL;
  }
  if (asked != NULL && asked[0] != 0) {
    h = dlopen(asked, RTLD_NOW | RTLD_LOCAL);
    if (h == NULL) snprintf(state.note, sizeof state.note, "TFSDK_BLAS: %.200s", dlerror());
    return h;
  }
  for (const char *const *c = candidates; *c != NULL && h == NULL; c++) {
    h = dlopen(*c, RTLD_NOW | RTLD_LOCAL);
    *out_path = *c;
  }
  if (h == NULL) snprintf(state.note, sizeof state.note, "libopenblas.so.0 is not installed");
  return h;
}

/* How many threads it may use by itself: one. */
static void tame(void *h) {
  int (*parallel)(void);
  void (*set)(int);
  *(void **)&parallel = dlsym(h, "openblas_get_parallel");
  *(void **)&set = dlsym(h, "openblas_set_num_threads");
  if (parallel != NULL && parallel() == 2) {
    *(void **)&state.omp_get = dlsym(h, "omp_get_max_threads");
    *(void **)&state.omp_set = dlsym(h, "omp_set_num_threads");
    if (state.omp_get == NULL || state.omp_set == NULL) state.omp_get = NULL;
  } else if (set != NULL) {
    set(1);
  }
}

/* "OpenBLAS 0.3.21", the first two words of its configuration, and the kernels that it runs. */
static void describe(void *h, const char *path, const char *core, const char *why) {
  char *(*config)(void);
  char *(*running)(void);
  char version[64] = "CBLAS";
  *(void **)&config = dlsym(h, "openblas_get_config");
  *(void **)&running = dlsym(h, "openblas_get_corename");
  if (config != NULL) {
    const char *text = config();
    size_t n = strcspn(text, " ");
    if (text[n] == ' ') n += 1 + strcspn(text + n + 1, " ");
    if (n < sizeof version) snprintf(version, sizeof version, "%.*s", (int)n, text);
  }
  snprintf(state.blas.text, sizeof state.blas.text, "%s%s%s (%s%s), %.96s", version,
           running != NULL ? " with kernels " : "", running != NULL ? running() : "",
           core != NULL ? "chosen: " : "", why, path);
}

/* Binds, tames and tries the library. */
static void take(void *h, const char *path, const char *core, const char *why) {
  int token;
  *(void **)&state.blas.sgemm = dlsym(h, "cblas_sgemm");
  *(void **)&state.blas.dgemm = dlsym(h, "cblas_dgemm");
  if (state.blas.sgemm == NULL || state.blas.dgemm == NULL) {
    snprintf(state.note, sizeof state.note, "%.200s has no cblas_sgemm", path);
    return;
  }
  tame(h);
  describe(h, path, core, why);
  token = cpu_blas_enter();
  state.usable = check_float(&state.blas) && check_double(&state.blas);
  cpu_blas_leave(token);
  if (!state.usable)
    snprintf(state.note, sizeof state.note, "%.160s multiplies wrongly here and is not used",
             state.blas.text);
}

static void open_once(const tfsdk_host *host) {
  const char *path = NULL, *why, *core = cpu_openblas_core(&why);
  int alone = getenv("OPENBLAS_NUM_THREADS") == NULL; /* it need not start threads of its own */
  void *h;
  if (getenv("OPENBLAS_CORETYPE") != NULL) {
    core = NULL;
    why = "OPENBLAS_CORETYPE is set";
  }
  if (core != NULL) setenv("OPENBLAS_CORETYPE", core, 1);
  if (alone) setenv("OPENBLAS_NUM_THREADS", "1", 1);
  h = open_library(&path);
  if (core != NULL) unsetenv("OPENBLAS_CORETYPE");
  if (alone) unsetenv("OPENBLAS_NUM_THREADS");
  if (h != NULL) take(h, path, core, why);
  if (!state.usable) {
    char line[320];
    snprintf(line, sizeof line, "large products use the built-in kernels: %s", state.note);
    host->log(host, h != NULL ? TFSDK_LOG_WARNING : TFSDK_LOG_INFO, line);
  }
}

const cpu_blas *cpu_blas_get(const tfsdk_host *host) {
  if (!__atomic_load_n(&state.tried, __ATOMIC_ACQUIRE)) {
    pthread_mutex_lock(&state.lock);
    if (!state.tried) open_once(host);
    __atomic_store_n(&state.tried, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&state.lock);
  }
  return state.usable ? &state.blas : NULL;
}

const char *cpu_blas_text(const tfsdk_host *host) {
  return cpu_blas_get(host) != NULL ? state.blas.text : state.note;
}

int cpu_blas_enter(void) {
  int before;
  if (state.omp_get == NULL) return 0;
  before = state.omp_get();
  if (before != 1) state.omp_set(1);
  return before;
}

void cpu_blas_leave(int token) {
  if (state.omp_get != NULL && token != 1) state.omp_set(token);
}
