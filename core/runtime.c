/* The runtime: what everything else hangs off. */
#include "internal.h"
#include <unistd.h>

#ifdef TFSDK_STATIC_PLUGINS
extern tfsdk_plugin_query_fn
    *const tfsdk__static_plugins[]; /* generated: what is part of the library */
#endif

const char *tfsdk_version(void) { return TFSDK_VERSION; }

static char *copy_option(tfsdk_runtime *rt, const char *given, const char *variable) {
  if (given == NULL) given = getenv(variable);
  return given ? tfsdk__strdup(rt, given) : NULL;
}

/* The options first, then the environment, then what the machine has. A word in the environment that says nothing is an
 * error as it is in an option: who wrote it meant something. */
static tfsdk_status *thread_count(const tfsdk_runtime *rt, uint32_t *out) {
  const char *text = getenv("TFSDK_THREADS");
  long n = (long)rt->options.threads;
  if (n == 0 && text != NULL && *text != 0) {
    char *end;
    n = strtol(text, &end, 10);
    if (*end != 0 || n < 0)
      return TFSDK_FAIL(
          rt, INVALID_ARGUMENT,
          "the environment variable TFSDK_THREADS is '%s'; it takes a number of threads, "
          "0 for as many as there are processors",
          text);
  }
  if (n < 1) n = sysconf(_SC_NPROCESSORS_ONLN);
  *out = n < 1 ? 1 : n > 1024 ? 1024 : (uint32_t)n;
  return NULL;
}

static tfsdk_status *log_level(const tfsdk_runtime *rt, int32_t *out) {
  static const char *const names[] = {"debug", "info", "warning", "error", "none"};
  const char *text = getenv("TFSDK_LOG_LEVEL");
  int32_t asked = rt->options.log_level;
  *out = asked >= 100 ? asked - 100 : asked != 0 ? asked : TFSDK_LOG_WARNING;
  if (asked != 0 || text == NULL || *text == 0) return NULL;
  for (int32_t i = 0; i < 5; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *out = i;
    return NULL;
  }
  return TFSDK_FAIL(
      rt, INVALID_ARGUMENT,
      "the environment variable TFSDK_LOG_LEVEL is '%s'; there are debug, info, warning, "
      "error and none",
      text);
}

/* TFSDK_PREFER: "onednn", or "Conv2D=onednn,MatMul=reference". */
static tfsdk_status *prefer_as_asked(tfsdk_runtime *rt) {
  const char *p = getenv("TFSDK_PREFER");
  tfsdk_status *s = NULL;
  while (s == NULL && p != NULL && *p != 0) {
    size_t n = strcspn(p, ", ");
    char *word = tfsdk__alloc(rt, n + 1), *equals;
    if (word == NULL) return TFSDK__NOMEM(rt);
    memcpy(word, p, n);
    word[n] = 0;
    equals = strchr(word, '=');
    if (equals != NULL) *equals = 0;
    if (n > 0) s = tfsdk_runtime_prefer(rt, equals ? word : NULL, equals ? equals + 1 : word);
    tfsdk__free(rt, word);
    p += n;
    p += strspn(p, ", ");
  }
  return s;
}

static void destroy(tfsdk_runtime *rt) {
  tfsdk__eager_release(rt);
  tfsdk__device_deinit_all(rt); /* a device is closed before the plugin that drives it */
  tfsdk__loader_release(rt);
  tfsdk__registry_deinit(rt);
  for (size_t i = 0; i < rt->preferences.n; i++) {
    tfsdk__free(rt, rt->preferences.data[i].op);
    tfsdk__free(rt, rt->preferences.data[i].kernel);
  }
  tfsdk__free(rt, rt->preferences.data);
  tfsdk__free(rt, (char *)(uintptr_t)rt->options.plugin_path);
  tfsdk__free(rt, (char *)(uintptr_t)rt->options.devices);
  tfsdk__allocator_deinit(rt);
  pthread_mutex_destroy(&rt->lock);
  free(rt);
}

tfsdk_status *tfsdk_runtime_create(const tfsdk_runtime_options *options, tfsdk_runtime **out) {
  tfsdk_runtime *rt = calloc(1, sizeof *rt);
  pthread_mutexattr_t recursive;
  tfsdk_status *s = NULL;
  *out = NULL;
  if (rt == NULL) return tfsdk__status_no_memory();
  if (options != NULL)
    s = tfsdk__take(&rt->options, sizeof rt->options, options, options->struct_size,
                    "tfsdk_runtime_options");
  if (s != NULL) {
    free(rt);
    return s;
  }
  atomic_init(&rt->refs, 1);
  atomic_init(&rt->next_tensor_id, 1);
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&rt->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  tfsdk__allocator_init(rt);
  rt->options.plugin_path = copy_option(rt, rt->options.plugin_path, "TFSDK_NO_SUCH_VARIABLE");
  rt->options.devices = copy_option(rt, rt->options.devices, "TFSDK_DEVICES");
  tfsdk__host_init_core(rt);
  s = log_level(rt, &rt->log_level);
  if (s == NULL) s = thread_count(rt, &rt->threads);
  if (s == NULL) s = tfsdk__loader_create(rt);
  if (s == NULL) {
    tfsdk__device *cpu;
    s = tfsdk__device_find(rt, "cpu:0", &cpu);
  }
  if (s == NULL) s = tfsdk__eager_create(rt);
  if (s == NULL) s = prefer_as_asked(rt);
#ifdef TFSDK_STATIC_PLUGINS
  for (tfsdk_plugin_query_fn *const *q = tfsdk__static_plugins; s == NULL && *q != NULL; q++)
    s = tfsdk_plugin_add_static(rt, *q);
#endif
  if (s != NULL) {
    destroy(rt);
    return s;
  }
  *out = rt;
  return NULL;
}

void tfsdk__runtime_retain(tfsdk_runtime *rt) {
  atomic_fetch_add_explicit(&rt->refs, 1, memory_order_relaxed);
}

void tfsdk__runtime_unref(tfsdk_runtime *rt) {
  if (atomic_fetch_sub_explicit(&rt->refs, 1, memory_order_acq_rel) == 1) destroy(rt);
}

/* The owner lets go: what the runtime keeps for itself (eager variables and values hold tensors,
 * which hold the runtime) must go first. */
void tfsdk_runtime_release(tfsdk_runtime *rt) {
  if (rt == NULL) return;
  tfsdk__eager_clear(rt);
  tfsdk__runtime_unref(rt);
}

/* The eager context begins anew: the same seed, set again, gives the same numbers again. */
void tfsdk_runtime_set_seed(tfsdk_runtime *rt, int64_t seed) {
  tfsdk__eager *g = rt->eager;
  pthread_mutex_lock(&g->lock);
  rt->seed = seed;
  rt->has_seed = true;
  for (size_t i = 0; i < g->streams.n; i++) tfsdk__free(rt, g->streams.data[i]);
  g->streams.n = 0;
  for (size_t i = 0; i < g->ctx.scopes.random.cap; i++)
    if (g->ctx.scopes.random.slot[i].key != NULL) g->ctx.scopes.random.slot[i].value = (void *)1;
  pthread_mutex_unlock(&g->lock);
}

void tfsdk_runtime_set_reclaim(tfsdk_runtime *rt, void (*reclaim)(void *), void *user) {
  rt->options.reclaim = reclaim;
  rt->options.reclaim_user = user;
}

void tfsdk_runtime_log(tfsdk_runtime *rt, int32_t level, const char *line) {
  static const char *const names[] = {"debug", "info", "warning", "error"};
  if (level < rt->log_level) return;
  if (rt->options.log != NULL)
    rt->options.log(rt->options.log_user, level, line);
  else
    fprintf(stderr, "tfsdk: %s: %s\n", names[level < 0 || level > 3 ? 3 : level], line);
}

void tfsdk_runtime_memory(tfsdk_runtime *rt, const char *device, tfsdk_memory_info *out) {
  tfsdk__device *d = NULL;
  memset(out, 0, sizeof *out);
  tfsdk_status *s = tfsdk__device_find(rt, device ? device : "cpu:0", &d);
  tfsdk_status_release(s);
  if (s == NULL) {
    out->in_use = atomic_load(&d->in_use);
    out->peak = atomic_load(&d->peak);
    out->limit = d->limit;
  }
  tfsdk__allocator_report(rt, out);
  out->live_tensors = atomic_load(&rt->live_tensors);
}

void tfsdk_runtime_trim(tfsdk_runtime *rt) { tfsdk__allocator_trim(rt); }

tfsdk_status *tfsdk_runtime_prefer(tfsdk_runtime *rt, const char *op, const char *kernel) {
  tfsdk_status *s = NULL;
  pthread_mutex_lock(&rt->lock);
  size_t i = 0;
  while (i < rt->preferences.n && !(op == NULL ? rt->preferences.data[i].op == NULL
                                               : rt->preferences.data[i].op != NULL &&
                                                     strcmp(op, rt->preferences.data[i].op) == 0))
    i++;
  char *copy = kernel ? tfsdk__strdup(rt, kernel) : NULL, *name = NULL;
  if (kernel != NULL && copy == NULL) s = TFSDK__NOMEM(rt);
  if (s == NULL && i == rt->preferences.n && kernel != NULL) {
    name = op ? tfsdk__strdup(rt, op) : NULL;
    if ((op != NULL && name == NULL) || !TFSDK__GROW(rt, &rt->preferences, 1))
      s = TFSDK__NOMEM(rt);
    else {
      rt->preferences.data[i].op = name;
      rt->preferences.data[i].kernel = NULL;
      rt->preferences.n++;
      name = NULL;
    }
  }
  if (s == NULL && i < rt->preferences.n) {
    tfsdk__free(rt, rt->preferences.data[i].kernel);
    rt->preferences.data[i].kernel = copy;
    copy = NULL;
  }
  tfsdk__free(rt, name);
  tfsdk__free(rt, copy);
  pthread_mutex_unlock(&rt->lock);
  return s;
}
