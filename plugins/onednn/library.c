/* Opens oneDNN and the OpenMP runtime that it is built on. */
#include "onednn.h"

#include <dlfcn.h>
#include <pthread.h>

#define DN_TEXT_(x) #x
#define DN_TEXT(x)  DN_TEXT_(x)
#define DN_SONAME   "libdnnl.so." DN_TEXT(DNNL_VERSION_MAJOR)

static dn_library library;
static char reason[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A data pointer becomes a function pointer, which POSIX allows and C does not. */
static int find(void *handle, const char *name, void *slot) {
  void *symbol = dlsym(handle, name);
  memcpy(slot, &symbol, sizeof symbol);
  return symbol != NULL;
}

/* Never closed: the OpenMP runtime does not survive that. */
static void open_library(void) {
  void *handle = dlopen(DN_SONAME, RTLD_NOW | RTLD_LOCAL);
  dnnl_status_t s;
  int token;
  if (handle == NULL) {
    const char *text = dlerror();
    snprintf(reason, sizeof reason, "%s", text != NULL ? text : "cannot open " DN_SONAME);
    return;
  }
#define DN_FIND(name)                                                                              \
  if (!find(handle, "dnnl_" #name, &library.name)) {                                               \
    snprintf(reason, sizeof reason, "%s has no dnnl_%s", DN_SONAME, #name);                        \
    return;                                                                                        \
  }
  DN_FUNCTIONS(DN_FIND)
#undef DN_FIND
  /* Absent where the library was built for one thread. */
  if (!find(handle, "omp_set_num_threads", &library.omp_set_num_threads) ||
      !find(handle, "omp_get_max_threads", &library.omp_get_max_threads))
    library.omp_set_num_threads = NULL;
  token = dn_enter(&library);
  s = library.primitive_attr_create(&library.attr);
  if (s == dnnl_success)
    s = library.primitive_attr_set_scratchpad_mode(library.attr, dnnl_scratchpad_mode_user);
  /* Whatever the environment says (ONEDNN_DEFAULT_FPMATH_MODE). */
  if (s == dnnl_success)
    s = library.primitive_attr_set_fpmath_mode(library.attr, dnnl_fpmath_mode_strict);
  if (s == dnnl_success) s = library.engine_create(&library.engine, dnnl_cpu, 0);
  dn_leave(&library, token);
  if (s != dnnl_success) {
    snprintf(reason, sizeof reason, "%s has no engine for the CPU: %s", DN_SONAME,
             library.status2str(s));
    library.engine = NULL;
  }
}

const dn_library *dn_library_get(const char **why) {
  pthread_once(&once, open_library);
  *why = reason;
  return library.engine != NULL ? &library : NULL;
}

int dn_enter(const dn_library *l) {
  int before;
  if (l->omp_set_num_threads == NULL) return 0;
  before = l->omp_get_max_threads();
  if (before != 1) l->omp_set_num_threads(1);
  return before;
}

void dn_leave(const dn_library *l, int token) {
  if (l->omp_set_num_threads != NULL && token > 1) l->omp_set_num_threads(token);
}

tfsdk_status *dn_supports_bfloat16(int32_t *yes, char *why, size_t why_n) {
  const char *text;
  const dn_library *l = dn_library_get(&text);
  const int wanted = dnnl_cpu_isa_avx512_core;
  *yes = 0;
  if (l == NULL)
    snprintf(why, why_n, "%s", text);
  else if (((int)l->get_effective_cpu_isa() & wanted) != wanted)
    snprintf(why, why_n, "oneDNN computes bfloat16 well on AVX-512 only");
  else
    *yes = 1;
  return NULL;
}
