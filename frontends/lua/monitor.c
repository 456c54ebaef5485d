/* monitor.c - see monitor.h. `tf.summary.monitor(logdir, {secs = 1})`, `tfsdk run --monitor DIR`.
 *
 * The scalars, at the number of steps done by then:
 *   monitor/steps_per_second    in the last interval. Steps are what the script counts by
 *                               monitor:step(), else runs of sessions, else elements of datasets
 *   monitor/memory_bytes        of tensors on the host device (and, with --device, on that one)
 *   monitor/process_bytes       of the process, resident
 *   monitor/input_stall_ratio   the part of the interval that iterators let the script wait
 *   monitor/queue/NAME          what the script tells by monitor:queue(name, depth)
 *
 * Once in trace_secs (30) one run of a session is traced: its time line as run metadata, and
 *   monitor/op_share/OP         the part of its time of the ops that took most
 *   monitor/peak_bytes          of its values together, at their most
 *   monitor/held_bytes/NODE     the values that hold most of that
 *
 * Counters are atomic; the thread reads them and hands events to a writer of its own. */
#include "monitor.h"
#include "trace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MOST_QUEUES 16

typedef struct queue {
  char name[64];
  atomic_llong depth;
} queue;

struct tl_monitor {
  tl_state *st;
  tfsdk_runtime *rt;
  tfsdk_writer *w;
  char device[32];               /* besides the host's; "" if there is none */
  double seconds, trace_seconds; /* trace_seconds 0: no traces */
  char *logdir;
  atomic_int due; /* a trace; the thread says so */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  int running, stop; /* stop: guarded by lock */
  atomic_ullong runs, steps, elements, waited;
  queue queues[MOST_QUEUES];
  atomic_uint n_queues; /* names of those before it do not change */
  /* the thread's */
  unsigned long long done, waited_before;
  int64_t before, next_trace;
  int idle;
  atomic_int warned;
};

static const char meta_key = 0; /* its address names the metatable */

void tl_monitor_ran(tl_monitor *m) {
  if (m != NULL) atomic_fetch_add_explicit(&m->runs, 1, memory_order_relaxed);
}
void tl_monitor_waited(tl_monitor *m, int64_t ns) {
  if (m == NULL) return;
  atomic_fetch_add_explicit(&m->elements, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&m->waited, (unsigned long long)ns, memory_order_relaxed);
}

int tl_monitor_wants_trace(tl_monitor *m) {
  return m != NULL && atomic_load_explicit(&m->due, memory_order_relaxed) != 0 &&
         atomic_exchange(&m->due, 0) != 0;
}

/* ------------------------------------------------------------------------------------ the events */

typedef struct summary {
  char p[4096];
  size_t n;
} summary;

/* Summary{value 1*{tag 1, simple_value 2}}; tags are shorter than 120 bytes, so each length is one. */
static void add(summary *s, const char *tag, double value) {
  size_t n = strlen(tag);
  float x = (float)value;
  if (n > 112 || s->n + n + 9 > sizeof s->p) return;
  s->p[s->n++] = 1 << 3 | 2;
  s->p[s->n++] = (char)(n + 7);
  s->p[s->n++] = 1 << 3 | 2;
  s->p[s->n++] = (char)n;
  memcpy(s->p + s->n, tag, n);
  s->n += n;
  s->p[s->n++] = 2 << 3 | 5;
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  for (int i = 0; i < 4; i++) s->p[s->n++] = (char)(bits >> 8 * i);
}

static tfsdk_status *write_summary(tl_monitor *m, const summary *s, int64_t step) {
  static const char *const names[2] = {"summary", "step"};
  tfsdk_tensor *t[2] = {NULL, NULL};
  const char *bytes = s->p;
  tfsdk_status *st = tfsdk_tensor_create_strings(m->rt, 0, NULL, &bytes, &s->n, &t[0]);
  if (st == NULL) st = tfsdk_tensor_create(m->rt, TFSDK_INT64, 0, NULL, &step, sizeof step, &t[1]);
  if (st == NULL) st = tfsdk_writer_append(m->w, names, t, 2);
  tfsdk_tensor_release(t[0]);
  tfsdk_tensor_release(t[1]);
  return st;
}

static double resident(void) {
  long pages = 0, all = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL) return -1;
  if (fscanf(f, "%ld %ld", &all, &pages) != 2) pages = -1;
  fclose(f);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* A step is what the script says it is; who says nothing is known by what it runs. */
static unsigned long long steps_of(const tl_monitor *m) {
  unsigned long long n = atomic_load(&m->steps);
  if (n == 0) n = atomic_load(&m->runs);
  return n != 0 ? n : atomic_load(&m->elements);
}

/* Monitored.trace(trace, logdir, step) of lua/summary_plugins.lua */
static int write_trace(lua_State *L) {
  tl_state *st = tl_find(L);
  tl_push_member(L, st, "Monitored", "trace");
  lua_pushvalue(L, 1);
  lua_pushstring(L, st->monitor->logdir);
  lua_pushinteger(L, (lua_Integer)steps_of(st->monitor));
  lua_call(L, 3, 0);
  return 0;
}

void tl_monitor_traced(lua_State *L, tl_state *st, int trace) {
  tl_monitor *m = st->monitor;
  if (m == NULL || !lua_checkstack(L, 4)) return;
  lua_pushvalue(L, trace);
  lua_pushcfunction(L, write_trace);
  lua_insert(L, -2);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
  if (!m->warned) {
    const char *why = luaL_tolstring(L, -1, NULL);
    m->warned = 1;
    tfsdk_runtime_log(m->rt, TFSDK_LOG_WARNING, why);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void sample(tl_monitor *m, int last) {
  summary s = {.n = 0};
  char tag[112];
  tfsdk_memory_info memory;
  int64_t now = tl_nanoseconds();
  unsigned long long done = steps_of(m), waited = atomic_load(&m->waited);
  double passed = (double)(now - m->before) * 1e-9;
  if (done < m->done) m->done = 0; /* the script began to count by itself */
  int idle = done == m->done;
  if (passed <= 0 || (idle && (m->idle || last))) { /* once is enough to say that nothing happens */
    m->before = now;
    m->waited_before = waited;
    return;
  }
  m->idle = idle;
  if (m->trace_seconds > 0 && !idle && now >= m->next_trace) {
    m->next_trace = now + (int64_t)(m->trace_seconds * 1e9);
    atomic_store(&m->due, 1);
  }
  add(&s, "monitor/steps_per_second", (double)(done - m->done) / passed);
  tfsdk_runtime_memory(m->rt, "cpu:0", &memory);
  add(&s, "monitor/memory_bytes", (double)memory.in_use);
  if (m->device[0] != 0) {
    tfsdk_runtime_memory(m->rt, m->device, &memory);
    snprintf(tag, sizeof tag, "monitor/memory_bytes/%s", m->device);
    add(&s, tag, (double)memory.in_use);
  }
  double process = resident();
  if (process >= 0) add(&s, "monitor/process_bytes", process);
  if (atomic_load(&m->elements) > 0) {
    double ratio = (double)(waited - m->waited_before) * 1e-9 / passed;
    add(&s, "monitor/input_stall_ratio", ratio > 1 ? 1 : ratio);
  }
  for (unsigned i = 0; i < atomic_load(&m->n_queues); i++) {
    snprintf(tag, sizeof tag, "monitor/queue/%s", m->queues[i].name);
    add(&s, tag, (double)atomic_load(&m->queues[i].depth));
  }
  m->done = done;
  m->waited_before = waited;
  m->before = now;
  tfsdk_status *st = write_summary(m, &s, (int64_t)done);
  if (st != NULL && !m->warned) { /* the script goes on without */
    m->warned = 1;
    tfsdk_runtime_log(m->rt, TFSDK_LOG_WARNING, tfsdk_status_text(st));
  }
  tfsdk_status_release(st);
}

static void *watch(void *user) {
  tl_monitor *m = (tl_monitor *)user;
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  pthread_mutex_lock(&m->lock);
  for (int last = 0; !last;) { /* what happened before the end is told, however short it was */
    int64_t ns = due.tv_nsec + (int64_t)(m->seconds * 1e9);
    due.tv_sec += (time_t)(ns / 1000000000);
    due.tv_nsec = (long)(ns % 1000000000);
    while (!m->stop && pthread_cond_timedwait(&m->wake, &m->lock, &due) != ETIMEDOUT) {}
    last = m->stop;
    pthread_mutex_unlock(&m->lock);
    sample(m, last);
    pthread_mutex_lock(&m->lock);
  }
  pthread_mutex_unlock(&m->lock);
  return NULL;
}

/* ------------------------------------------------------------------------------------ the object */

static void stop(tl_monitor *m) {
  if (m->running) {
    pthread_mutex_lock(&m->lock);
    m->stop = 1;
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    m->running = 0;
  }
  if (m->st->monitor == m) m->st->monitor = NULL;
}

static int monitor_gc(lua_State *L) {
  tl_monitor *m = (tl_monitor *)lua_touserdata(L, 1);
  stop(m);
  tfsdk_writer_release(m->w); /* writes what is left */
  m->w = NULL;
  free(m->logdir);
  m->logdir = NULL;
  return 0;
}

static tl_monitor *check_monitor(lua_State *L) {
  tl_monitor *m = (tl_monitor *)lua_touserdata(L, 1);
  int fits = m != NULL && lua_getmetatable(L, 1);
  if (fits) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &meta_key);
    fits = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
  }
  if (!fits) tl_fail(L, tl_find(L), "monitor", "expected a monitor; call its methods with a colon");
  return m;
}

/* m:close(): the last interval is written. */
static int monitor_close(lua_State *L) {
  tl_state *st = tl_find(L);
  tl_monitor *m = check_monitor(L);
  tfsdk_writer *w = m->w;
  stop(m);
  m->w = NULL;
  if (w == NULL) return 0;
  tfsdk_status *s = tfsdk_writer_finish(w);
  tfsdk_writer_release(w);
  tl_check_op(L, st, s, "monitor.close");
  return 0;
}

/* m:step(n): n steps more, 1 if it is left out. */
static int monitor_step(lua_State *L) {
  tl_monitor *m = check_monitor(L);
  lua_Integer n = luaL_optinteger(L, 2, 1);
  if (n < 0) tl_fail(L, tl_find(L), "monitor.step", "steps only grow, they cannot be %d", (int)n);
  atomic_fetch_add_explicit(&m->steps, (unsigned long long)n, memory_order_relaxed);
  return 0;
}

/* m:queue(name, depth): how full a queue of the script's own is. */
static int monitor_queue(lua_State *L) {
  tl_monitor *m = check_monitor(L);
  const char *name = luaL_checkstring(L, 2);
  lua_Integer depth = luaL_checkinteger(L, 3);
  unsigned n = atomic_load(&m->n_queues), i = 0;
  while (i < n && strcmp(m->queues[i].name, name) != 0) i++;
  if (i == n) {
    if (n == MOST_QUEUES || strlen(name) >= sizeof m->queues[0].name)
      return tl_fail(L, tl_find(L), "monitor.queue",
                     "at most %d queues with names of at most 63 bytes, not '%s'", MOST_QUEUES,
                     name);
    strcpy(m->queues[i].name, name);
  }
  atomic_store(&m->queues[i].depth, depth);
  if (i == n) atomic_store(&m->n_queues, n + 1);
  return 0;
}

/* Signals are the program's affair. */
static int start_thread(tl_monitor *m) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = pthread_create(&m->thread, NULL, watch, m);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  m->running = error == 0;
  return error;
}

#define TRACE_SECONDS 30

static int start_monitor(lua_State *L, tl_state *st, const char *logdir, double seconds,
                         double trace_seconds) {
  tfsdk_attrval options[2] = {tfsdk_a_int("flush_secs", 0),
                              tfsdk_a_string("filename_suffix", ".monitor")};
  pthread_condattr_t clock;
  if (st->monitor != NULL)
    return tl_fail(L, st, "tf.summary.monitor", "there is a monitor already; close it before");
  if (!(seconds >= 0.01 && seconds <= 86400))
    return tl_fail(L, st, "tf.summary.monitor", "secs must be 0.01 to 86400, not %f", seconds);
  if (!(trace_seconds == 0 || (trace_seconds >= 0.01 && trace_seconds <= 1e9)))
    return tl_fail(L, st, "tf.summary.monitor",
                   "trace_secs must be 0 (no traces) or 0.01 to 1e9, not %f", trace_seconds);
  tl_monitor *m = (tl_monitor *)lua_newuserdatauv(L, sizeof *m, 0);
  memset(m, 0, sizeof *m);
  m->st = st;
  m->rt = tl_runtime(L, st);
  m->seconds = seconds;
  m->trace_seconds = trace_seconds;
  if (st->options.device != NULL && strcmp(st->options.device, "cpu:0") != 0)
    snprintf(m->device, sizeof m->device, "%s", st->options.device);
  m->before = tl_nanoseconds();
  pthread_mutex_init(&m->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&m->wake, &clock);
  pthread_condattr_destroy(&clock);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &meta_key);
  lua_setmetatable(L, -2);
  m->logdir = strdup(logdir);
  if (m->logdir == NULL) return tl_fail(L, st, "tf.summary.monitor", "no memory");
  tl_check_op(L, st, tfsdk_writer_create(m->rt, logdir, "tfevents", options, 2, &m->w),
              "tf.summary.monitor");
  int error = start_thread(m);
  if (error != 0)
    return tl_fail(L, st, "tf.summary.monitor", "a thread cannot be started: error %d", error);
  st->monitor = m;
  return 1;
}

int tl_monitor_start(lua_State *L, tl_state *st, const char *logdir, double seconds) {
  return start_monitor(L, st, logdir, seconds, TRACE_SECONDS);
}

/* private.monitor(logdir, secs, trace_secs) */
static int start(lua_State *L) {
  return start_monitor(L, tl_find(L), luaL_checkstring(L, 1), luaL_checknumber(L, 2),
                       luaL_checknumber(L, 3));
}

void tl_open_monitor(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__gc", monitor_gc}, {"__close", monitor_close}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"step", monitor_step}, {"queue", monitor_queue}, {"close", monitor_close}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"monitor", start}, {NULL, NULL}};
  lua_newtable(L);
  luaL_setfuncs(L, meta, 0);
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pushliteral(L, "Monitor");
  lua_setfield(L, -2, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &meta_key);
  tl_add_private(L, st, hidden);
}
