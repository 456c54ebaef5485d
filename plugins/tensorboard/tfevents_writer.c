/* The writer `tfevents`: events go through a bounded queue to a thread that writes them.
 *
 * A step never waits for the disk: append copies the event into the queue and waits only while the
 * queue is full. Nothing is dropped as long as the disk takes it; what goes wrong is told by flush
 * and finish, and a run goes on without its log. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <tfsdk/shape.h>
#include <time.h>

#include "event_file.h"

#define BUFFER ((size_t)64 << 10) /* written when so much has come together */

typedef struct entry {
  struct entry *next;
  size_t n;
} entry; /* n bytes follow: a serialized Event */

typedef struct writer {
  const tfsdk_host *host;
  char *folder, *suffix;
  int64_t max_queue, flush_secs;
  pthread_t thread;
  bool running, warned;
  pthread_mutex_t lock; /* guards the rest but `file`, which is the thread's while it runs */
  pthread_cond_t work, room, served;
  entry *first, **last;
  int64_t waiting;
  uint64_t asked, done; /* flushes */
  bool durable, stop;
  tfsdk_status *status; /* of the latest attempt */
  pb told;              /* tags whose metadata were written: length and bytes, one after another */
  event_file file;
} writer;

static char *copy_text(const tfsdk_host *host, const char *text) {
  size_t n = strlen(text) + 1;
  char *out = (char *)host->realloc(host, NULL, 0, n);
  if (out != NULL) memcpy(out, text, n);
  return out;
}
static void free_text(const tfsdk_host *host, char *text) {
  if (text != NULL) host->realloc(host, text, strlen(text) + 1, 0);
}
static void free_entry(writer *w, entry *e) { w->host->realloc(w->host, e, sizeof *e + e->n, 0); }

/* ---------------------------------------------------------------------------------- the thread */

static void add_seconds(struct timespec *t, int64_t seconds) {
  const int64_t most = (int64_t)1 << 30;
  t->tv_sec += (time_t)(seconds > most ? most : seconds);
}
static bool before(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A failing disk is told once, not every two minutes. */
static void warn(writer *w) {
  if (w->file.error == 0) {
    w->warned = false;
    return;
  }
  if (w->warned) return;
  w->warned = true;
  tfsdk_status *s = event_file_status(&w->file);
  w->host->log(w->host, TFSDK_LOG_WARNING, w->host->message(w->host, s));
  w->host->drop(w->host, s);
}

static void write_out(writer *w, bool durable) {
  event_file_write(&w->file, durable);
  warn(w);
}

static void *run(void *user) {
  writer *w = (writer *)user;
  struct timespec now, due;
  bool stop = false;
  write_out(w, false); /* the file is there as soon as its writer is */
  clock_gettime(CLOCK_MONOTONIC, &due);
  add_seconds(&due, w->flush_secs);
  while (!stop) {
    pthread_mutex_lock(&w->lock);
    int error = 0;
    while (w->first == NULL && w->asked == w->done && !w->stop && error != ETIMEDOUT)
      error = pthread_cond_timedwait(&w->work, &w->lock, &due);
    entry *list = w->first;
    uint64_t asked = w->asked;
    bool durable = w->durable;
    w->first = NULL;
    w->last = &w->first;
    w->waiting = 0;
    w->durable = false;
    stop = w->stop;
    pthread_cond_broadcast(&w->room);
    pthread_mutex_unlock(&w->lock);
    while (list != NULL) {
      entry *next = list->next;
      event_file_add(&w->file, (const char *)(list + 1), list->n);
      free_entry(w, list);
      list = next;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    bool late = !before(&now, &due);
    if (late) {
      due = now;
      add_seconds(&due, w->flush_secs > 0 ? w->flush_secs : 1);
    }
    if (stop || late || asked != w->done || w->flush_secs == 0 ||
        (w->file.error == 0 && w->file.pending.n >= BUFFER))
      write_out(w, durable);
    if (asked == w->done) continue; /* only this thread changes `done` */
    tfsdk_status *s = event_file_status(&w->file);
    pthread_mutex_lock(&w->lock);
    w->host->drop(w->host, w->status);
    w->status = s;
    w->done = asked;
    pthread_cond_broadcast(&w->served);
    pthread_mutex_unlock(&w->lock);
  }
  return NULL;
}

/* Signals are the program's affair. */
static int start(writer *w) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = pthread_create(&w->thread, NULL, run, w);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  w->running = error == 0;
  return error;
}

static void join(writer *w) {
  if (!w->running) return;
  pthread_mutex_lock(&w->lock);
  w->stop = true;
  pthread_cond_signal(&w->work);
  pthread_mutex_unlock(&w->lock);
  pthread_join(w->thread, NULL);
  w->running = false;
}

/* --------------------------------------------------------------------------------- the record */

static void writer_close(void *user) {
  writer *w = (writer *)user;
  const tfsdk_host *host = w->host;
  join(w);
  event_file_close(&w->file);
  pb_free(&w->told);
  pthread_cond_destroy(&w->work);
  pthread_cond_destroy(&w->room);
  pthread_cond_destroy(&w->served);
  pthread_mutex_destroy(&w->lock);
  host->drop(host, w->status);
  free_text(host, w->folder);
  free_text(host, w->suffix);
  host->realloc(host, w, sizeof *w, 0);
}

static tfsdk_status *writer_open(void *self, const tfsdk_host *host, const char *path,
                                 const tfsdk_attrs *options, void **out) {
  pthread_condattr_t clock;
  writer *w = (writer *)host->realloc(host, NULL, 0, sizeof *w);
  (void)self;
  if (w == NULL) return host->fail(host, TFSDK_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "no memory");
  memset(w, 0, sizeof *w);
  w->host = host;
  w->folder = copy_text(host, path[0] != 0 ? path : ".");
  w->suffix = copy_text(host, tfsdk_attr_string(options, "filename_suffix"));
  w->max_queue = tfsdk_attr_int(options, "max_queue");
  w->flush_secs = tfsdk_attr_int(options, "flush_secs");
  if (w->max_queue < 1) w->max_queue = 1;
  w->last = &w->first;
  w->told = pb_new(host);
  pthread_mutex_init(&w->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&w->work, &clock);
  pthread_condattr_destroy(&clock);
  pthread_cond_init(&w->room, NULL);
  pthread_cond_init(&w->served, NULL);
  event_file_init(&w->file, host, w->folder, w->suffix);
  tfsdk_status *s = NULL;
  if (w->folder == NULL || w->suffix == NULL) {
    s = TFSDK_FAIL(w, RESOURCE_EXHAUSTED, "no memory");
  } else if (strchr(w->suffix, '/') != NULL) {
    s = TFSDK_FAIL(w, INVALID_ARGUMENT, "filename_suffix '%s' has a slash", w->suffix);
  } else {
    int error = start(w);
    if (error != 0)
      s = TFSDK_FAIL(w, RESOURCE_EXHAUSTED, "a thread for events cannot be started: error %d",
                     error);
  }
  if (s != NULL) {
    writer_close(w);
    return s;
  }
  *out = w;
  return NULL;
}

typedef struct content {
  const char *name;
  uint32_t field; /* of Event */
} content;
static const content contents[] = {{"event", 0},          {"graph_def", 4},
                                   {"summary", 5},        {"session_log", 7},
                                   {"meta_graph_def", 9}, {"tagged_run_metadata", 8}};

static tfsdk_status *push(writer *w, const pb *b) {
  entry *e = b->failed ? NULL : (entry *)w->host->realloc(w->host, NULL, 0, sizeof *e + b->n);
  if (e == NULL) return TFSDK_FAIL(w, RESOURCE_EXHAUSTED, "no memory for an event");
  e->next = NULL;
  e->n = b->n;
  if (b->n > 0) memcpy(e + 1, b->p, b->n);
  pthread_mutex_lock(&w->lock);
  while (w->waiting >= w->max_queue) pthread_cond_wait(&w->room, &w->lock);
  *w->last = e;
  w->last = &e->next;
  w->waiting++;
  pthread_cond_signal(&w->work);
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* Whether the metadata of a tag were written before; notes that they are now. */
static bool was_told(writer *w, const char *tag, size_t n) {
  for (size_t at = 0; at < w->told.n;) {
    size_t size;
    memcpy(&size, w->told.p + at, sizeof size);
    at += sizeof size;
    if (size == n && memcmp(w->told.p + at, tag, n) == 0) return true;
    at += size;
  }
  if (pb_room(&w->told, sizeof n + n) != NULL) {
    pb_raw(&w->told, &n, sizeof n);
    pb_raw(&w->told, tag, n);
  }
  return false;
}

/* A summary with the metadata of each tag only the first time, as TensorFlow's writer does. */
static bool put_summary(writer *w, pb *b, const char *bytes, size_t n) {
  pb_reader m = pb_read(bytes, n);
  const unsigned char *from = m.p;
  bool whole = true;
  while (pb_next(&m)) {
    pb_reader value = pb_read(m.bytes, m.n);
    const char *tag = "";
    size_t n_tag = 0;
    bool metadata = false;
    while (m.field == 1 && pb_next(&value)) {
      if (pb_is(&value, 1, 2)) {
        tag = value.bytes;
        n_tag = value.n;
      }
      metadata = metadata || pb_is(&value, 9, 2);
    }
    whole = whole && !value.wrong;
    if (metadata && was_told(w, tag, n_tag)) {
      size_t begin = pb_begin(b, 1);
      value = pb_read(m.bytes, m.n);
      for (const unsigned char *part = value.p; pb_next(&value); part = value.p)
        if (value.field != 9) pb_raw(b, part, (size_t)(value.p - part));
      pb_end(b, begin);
    } else {
      pb_raw(b, from, (size_t)(m.p - from));
    }
    from = m.p;
  }
  return whole && !m.wrong;
}

static tfsdk_status *writer_append(void *user, const char *const *names, const tfsdk_view *values,
                                   uint32_t n) {
  writer *w = (writer *)user;
  double wall_time = event_now();
  int64_t step = 0;
  const content *what = NULL;
  const char *bytes = "";
  uint64_t size = 0;
  for (uint32_t i = 0; i < n; i++) {
    const tfsdk_view *v = &values[i];
    char kind = tfsdk_dtype_kind(v->dtype);
    const content *c = NULL;
    for (size_t k = 0; k < sizeof contents / sizeof contents[0]; k++)
      if (strcmp(names[i], contents[k].name) == 0) c = &contents[k];
    bool fits = v->n_elem == 1 && (strcmp(names[i], "wall_time") == 0 ? kind == 'f'
                                   : strcmp(names[i], "step") == 0    ? kind == 'i'
                                                                      : c != NULL && kind == 's');
    if (!fits || (c != NULL && what != NULL))
      return TFSDK_FAIL(w, INVALID_ARGUMENT,
                        "'%s' (%s, %lld elements) is no part of an event; there are step (a whole "
                        "number), wall_time (a floating one), and one string of event, summary, "
                        "graph_def, meta_graph_def, session_log, tagged_run_metadata",
                        names[i], tfsdk_dtype_name(v->dtype), (long long)v->n_elem);
    if (c != NULL) {
      what = c;
      bytes = tfsdk_view_string(v, 0, &size);
    } else if (kind == 'f') {
      wall_time = tfsdk_view_number(v, 0);
    } else {
      step = tfsdk_view_int(v, 0);
    }
  }
  if (what == NULL) return TFSDK_FAIL(w, INVALID_ARGUMENT, "an event without content");
  pb b = pb_new(w->host);
  if (what->field == 0) {
    pb_raw(&b, bytes, (size_t)size);
  } else if (what->field == 5) {
    pb summary = pb_new(w->host);
    bool whole = put_summary(w, &summary, bytes, (size_t)size);
    event_put(&b, wall_time, step, 5, summary.p, summary.n);
    b.failed = b.failed || summary.failed;
    pb_free(&summary);
    if (!whole) {
      pb_free(&b);
      return TFSDK_FAIL(w, INVALID_ARGUMENT, "the string of %llu bytes is no serialized Summary",
                        (unsigned long long)size);
    }
  } else {
    event_put(&b, wall_time, step, what->field, bytes, (size_t)size);
  }
  tfsdk_status *s = push(w, &b);
  pb_free(&b);
  return s;
}

static tfsdk_status *writer_flush(void *user, int32_t durable) {
  writer *w = (writer *)user;
  pthread_mutex_lock(&w->lock);
  uint64_t ticket = ++w->asked;
  w->durable = w->durable || durable != 0;
  pthread_cond_signal(&w->work);
  while (w->done < ticket) pthread_cond_wait(&w->served, &w->lock);
  tfsdk_status *s = w->status;
  w->status = NULL;
  pthread_mutex_unlock(&w->lock);
  return s;
}

static tfsdk_status *writer_finish(void *user) {
  writer *w = (writer *)user;
  tfsdk_status *s = writer_flush(w, 0);
  join(w);
  event_file_close(&w->file);
  if (s != NULL) return s;
  return event_file_status(&w->file);
}

static const tfsdk_attrdef options[] = {
    {"max_queue", "int", "10", "events that wait for the thread before append does", 0, 1e9},
    {"flush_secs", "int", "120", "seconds after which events are in the file; 0: at once", 0, 1e9},
    {"filename_suffix", "string", "", "the end of the file's name", 0, 0},
};
static const tfsdk_writerdef writers[] = {{
    .struct_size = sizeof(tfsdk_writerdef),
    .n_option = TFSDK_COUNT(options),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "tfevents",
    .extensions = "",
    .doc = "Event files, as TensorBoard reads them. The path is the folder, made if need be; the "
           "file is events.out.tfevents.TIME.HOST.PID.N, and each writer has its own. A record is "
           "an event: `step` and `wall_time` (may be left out: 0 and now), and one of `summary`, "
           "`graph_def`, `meta_graph_def`, `session_log`, `tagged_run_metadata`, each a serialized "
           "message, or `event`, a whole one.",
    .option = options,
    .open = writer_open,
    .append = writer_append,
    .flush = writer_flush,
    .finish = writer_finish,
    .close = writer_close,
}};
TFSDK_UNIT_WRITERS(tfevents_writer, writers);
