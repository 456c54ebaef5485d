/* Writing files through plugins' writers, at once or by a thread of its own. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

tfsdk_status *tfsdk__options_resolve(tfsdk_runtime *rt, const char *what, const tfsdk_attrdef *defs,
                                     uint32_t n_defs, uint32_t attr_size,
                                     const tfsdk_attrval *given, size_t n_given,
                                     tfsdk__attrlist **out) {
  size_t size = attr_size ? attr_size : sizeof *defs;
  tfsdk_attrdef *own = tfsdk__zalloc(rt, (n_defs + 1u) * sizeof *own);
  if (own == NULL) return TFSDK__NOMEM(rt);
  for (size_t i = 0; i < n_defs; i++)
    memcpy(&own[i], (const char *)defs + i * size, size < sizeof *own ? size : sizeof *own);
  tfsdk_status *s = tfsdk__attrlist_resolve(rt, what, own, n_defs, given, n_given, out);
  tfsdk__free(rt, own);
  return s;
}

struct tfsdk_writer {
  tfsdk_runtime *rt;
  const tfsdk_writerdef *def; /* of a plugin, which stays */
  void *writer;
  char *path;
  bool failed; /* what was written so far cannot be trusted */
};

static tfsdk_status *located(tfsdk_writer *w, tfsdk_status *s, bool broken) {
  if (s == NULL) return NULL;
  w->failed = w->failed || broken;
  tfsdk__status_add(s, "path", "%s", w->path);
  return s;
}

static tfsdk_status *usable(const tfsdk_writer *w) {
  return w->failed ? TFSDK_FAIL(w->rt, FAILED_PRECONDITION,
                                "%s: writing has failed before; begin anew", w->path)
                   : NULL;
}

tfsdk_status *tfsdk_writer_create(tfsdk_runtime *rt, const char *path, const char *writer,
                                  const tfsdk_attrval *options, size_t n_options,
                                  tfsdk_writer **out) {
  const tfsdk_writerdef *def;
  tfsdk__plugin *plugin;
  tfsdk__attrlist *list = NULL;
  *out = NULL;
  TFSDK_TRY(tfsdk__writer_find(rt, writer, path, &def, &plugin));
  TFSDK_TRY(tfsdk__options_resolve(rt, def->name, def->option, def->n_option, def->attr_size,
                                   options, n_options, &list));
  tfsdk_writer *w = tfsdk__zalloc(rt, sizeof *w);
  tfsdk_status *s = w == NULL ? TFSDK__NOMEM(rt) : NULL;
  if (s == NULL && (w->path = tfsdk__strdup(rt, path)) == NULL) s = TFSDK__NOMEM(rt);
  if (s == NULL) {
    tfsdk_attrs attrs = tfsdk__attrlist_view(list);
    w->rt = rt;
    w->def = def;
    s = def->open(plugin->self, &plugin->host, path, &attrs, &w->writer);
    if (s != NULL) tfsdk__status_add(s, "path", "%s", path);
  }
  tfsdk__attrlist_release(rt, list);
  if (s != NULL) {
    if (w != NULL) tfsdk__free(rt, w->path);
    tfsdk__free(rt, w);
    return s;
  }
  tfsdk__runtime_retain(rt);
  *out = w;
  return NULL;
}

tfsdk_status *tfsdk_writer_append(tfsdk_writer *w, const char *const *names,
                                  tfsdk_tensor *const *tensors, size_t n) {
  TFSDK_TRY(usable(w));
  if (n > UINT32_MAX) return TFSDK_FAIL(w->rt, INVALID_ARGUMENT, "%zu tensors are too many", n);
  tfsdk_view *view = tfsdk__zalloc(w->rt, (n + 1) * sizeof *view);
  tfsdk_status *s = view == NULL ? TFSDK__NOMEM(w->rt) : NULL;
  for (size_t i = 0; s == NULL && i < n; i++) s = tfsdk_tensor_view(tensors[i], &view[i]);
  /* A writer looks at all of a record before it takes any of it: one with a wrong argument leaves
   * the file as it was, and the next one may be better. */
  if (s == NULL) s = w->def->append(w->writer, names, view, (uint32_t)n);
  s = located(w, s, tfsdk_status_code(s) != TFSDK_INVALID_ARGUMENT);
  tfsdk__free(w->rt, view);
  return s;
}

tfsdk_status *tfsdk_writer_flush(tfsdk_writer *w, int32_t durable) {
  TFSDK_TRY(usable(w));
  return w->def->flush != NULL ? located(w, w->def->flush(w->writer, durable), true) : NULL;
}

tfsdk_status *tfsdk_writer_finish(tfsdk_writer *w) {
  TFSDK_TRY(usable(w));
  return located(w, w->def->finish(w->writer), true);
}

void tfsdk_writer_release(tfsdk_writer *w) {
  if (w == NULL) return;
  tfsdk_runtime *rt = w->rt;
  w->def->close(w->writer);
  tfsdk__free(rt, w->path);
  tfsdk__free(rt, w);
  tfsdk__runtime_unref(rt);
}

/* ---------------------------------------------------------------------------- in the background */

struct tfsdk_saving {
  tfsdk_runtime *rt;
  tfsdk_writer *writer;
  pthread_t thread;
  char **name;
  tfsdk_tensor **tensor;
  size_t n;
  tfsdk_status *error;
  atomic_bool done;
};

/* What computes goes first: checksums and copies take the time that is left. On Linux a thread has a
 * priority of its own; elsewhere this changes nothing. */
#define NICE 15

static void *save(void *user) {
  tfsdk_saving *v = user;
  tfsdk__thread_is_own = true;
#ifdef SYS_gettid
  (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
#endif
  v->error = tfsdk_writer_append(v->writer, (const char *const *)v->name, v->tensor, v->n);
  if (v->error == NULL) v->error = tfsdk_writer_finish(v->writer);
  for (size_t i = 0; i < v->n; i++) { /* the old values are not held until somebody waits */
    tfsdk_tensor_release(v->tensor[i]);
    v->tensor[i] = NULL;
  }
  atomic_store(&v->done, true);
  return NULL;
}

static void release_saving(tfsdk_saving *v) {
  tfsdk_runtime *rt = v->rt;
  for (size_t i = 0; i < v->n; i++) {
    if (v->name != NULL) tfsdk__free(rt, v->name[i]);
    if (v->tensor != NULL) tfsdk_tensor_release(v->tensor[i]);
  }
  tfsdk__free(rt, v->name);
  tfsdk__free(rt, v->tensor);
  tfsdk_writer_release(v->writer);
  tfsdk__free(rt, v);
  tfsdk__runtime_unref(rt);
}

static tfsdk_status *hold(tfsdk_saving *v, const char *const *names, tfsdk_tensor *const *tensors,
                          size_t n) {
  v->name = tfsdk__zalloc(v->rt, (n + 1) * sizeof *v->name);
  v->tensor = tfsdk__zalloc(v->rt, (n + 1) * sizeof *v->tensor);
  if (v->name == NULL || v->tensor == NULL) return TFSDK__NOMEM(v->rt);
  v->n = n;
  for (size_t i = 0; i < n; i++) {
    v->tensor[i] = tfsdk_tensor_retain(tensors[i]);
    if ((v->name[i] = tfsdk__strdup(v->rt, names[i])) == NULL) return TFSDK__NOMEM(v->rt);
  }
  return NULL;
}

/* Signals are the program's affair: its handlers run on its own threads. */
static tfsdk_status *start(tfsdk_saving *v) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&v->thread, NULL, save, v);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error == 0 ? NULL
                    : TFSDK_FAIL(v->rt, RESOURCE_EXHAUSTED,
                                 "a thread for saving cannot be started: error %d", error);
}

tfsdk_status *tfsdk_saving_start(tfsdk_runtime *rt, const char *path, const char *writer,
                                 const tfsdk_attrval *options, size_t n_options,
                                 const char *const *names, tfsdk_tensor *const *tensors, size_t n,
                                 tfsdk_saving **out) {
  *out = NULL;
  tfsdk_saving *v = tfsdk__zalloc(rt, sizeof *v);
  if (v == NULL) return TFSDK__NOMEM(rt);
  v->rt = rt;
  atomic_init(&v->done, false);
  tfsdk__runtime_retain(rt);
  tfsdk_status *s = hold(v, names, tensors, n);
  if (s == NULL) s = tfsdk_writer_create(rt, path, writer, options, n_options, &v->writer);
  if (s == NULL) s = start(v);
  if (s != NULL) {
    release_saving(v);
    return s;
  }
  *out = v;
  return NULL;
}

int32_t tfsdk_saving_done(tfsdk_saving *v) { return atomic_load(&v->done); }

tfsdk_status *tfsdk_saving_wait(tfsdk_saving *v) {
  if (v == NULL) return NULL;
  pthread_join(v->thread, NULL);
  tfsdk_status *s = v->error;
  release_saving(v);
  return s;
}
