/* pool.c - the one thread pool of the process.
 *
 * A range of indices is cut into pieces by its size alone. Each thread owns a run of neighbouring
 * pieces, so that the next loop over the same tensor finds it in the same core's cache, and takes
 * pieces of the others once its own are done. The caller works too, and at the end waits for those
 * threads only that have begun: one that a foreign process keeps off its core delays nobody. (With
 * libgomp each loop waits for every thread; under load that made short loops three times slower.)
 *
 * Libraries with threads of their own, OpenBLAS above all, are called piece by piece from in here
 * and told to use one thread, so there are never two sets of threads that fight for the cores.
 *
 * A waiting thread looks for work for some microseconds, giving way to whoever wants its core, then
 * sleeps. Threads are made when the first loop is long enough to be shared.
 */
#include "cpu.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_PIECES  128 /* of one loop */
#define MAX_THREADS 256 /* that share one loop */
#ifndef SPIN_NS
#define SPIN_NS 50000 /* longer than most gaps between the loops of a training step */
#endif

typedef struct own_run { /* the pieces of one thread that nobody has begun; on a cache line of its
                            own */
  CPU_ALIGNED(64) atomic_int_fast64_t next;
  int64_t end;
} own_run;

typedef struct loop {
  tfsdk_range_fn *fn;
  void *user;
  int64_t n, piece;
  uint32_t threads;
  atomic_uint entered; /* threads that have begun, without the caller */
  own_run run[MAX_THREADS];
} loop;

/* `gate` is a futex: OPEN while a loop may be entered, WAITED when its caller sleeps until it is
 * empty, and the number of threads inside. The loop is valid while somebody is inside. */
#define OPEN   (1u << 31)
#define WAITED (1u << 30)

static struct {
  CPU_ALIGNED(64) atomic_uint round; /* futex: counts the loops; idle threads sleep on it */
  CPU_ALIGNED(64) atomic_uint gate;
  CPU_ALIGNED(64) atomic_uint sleepers;
  atomic_flag busy; /* the threads belong to one loop at a time */
  loop *job;
  pthread_mutex_t lock; /* guards what follows */
  pthread_t thread[MAX_THREADS];
  atomic_uint n_threads; /* without the caller */
  uint32_t users;        /* open devices */
  pid_t pid;             /* whose threads they are: they do not survive a fork */
  atomic_int stop;
} pool = {.busy = ATOMIC_FLAG_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* In the threads' static block: no call to find them, and no block of their own from malloc, which
 * LeakSanitizer takes for one of the linker's when it happens to lie 16 bytes into a page. */
#define OF_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
OF_THREAD int inside;    /* this thread is working on a piece */
OF_THREAD uint32_t slot; /* its number among those that work on the loop */

static void sleep_while(atomic_uint *word, unsigned value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}
static void wake(atomic_uint *word, unsigned n) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}
static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static void relax(void) {
#if defined(__x86_64__)
  for (int i = 0; i < 8; i++) __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

/* Looks at the word until it is not `value`, for SPIN_NS at most; then the caller may as well
 * sleep. */
static void watch(atomic_uint *word, unsigned value) {
  int64_t end = 0;
  for (int turn = 0; atomic_load_explicit(word, memory_order_acquire) == value; turn++) {
    int64_t now = now_ns();
    if (turn == 0) end = now + SPIN_NS;
    if (now >= end) return;
    if (turn % 16 == 15)
      sched_yield();
    else
      relax();
  }
}

/* ------------------------------------------------------------------------------ one loop's work */

static void run_piece(const loop *l, int64_t i) {
  int64_t begin = i * l->piece, end = begin + l->piece;
  l->fn(l->user, begin, end < l->n ? end : l->n);
}

/* `me` chooses the pieces to begin with: the same from loop to loop. */
static void work(loop *l, uint32_t me) {
  inside = 1;
  for (uint32_t k = 0; k < l->threads; k++) {
    own_run *r = &l->run[(me + k) % l->threads];
    for (;;) {
      int64_t i = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);
      if (i >= r->end) break;
      run_piece(l, i);
    }
  }
  inside = 0;
}

static int enter(void) {
  unsigned g = atomic_load_explicit(&pool.gate, memory_order_relaxed);
  while (g & OPEN)
    if (atomic_compare_exchange_weak_explicit(&pool.gate, &g, g + 1, memory_order_acq_rel,
                                              memory_order_relaxed))
      return 1;
  return 0;
}
static void leave(void) {
  unsigned g = atomic_fetch_sub_explicit(&pool.gate, 1, memory_order_acq_rel) - 1;
  if (g == WAITED) wake(&pool.gate, 1);
}

static void *thread_main(void *arg) {
  const uint32_t me = (uint32_t)(uintptr_t)arg;
  unsigned seen = atomic_load(&pool.round);
  while (!atomic_load(&pool.stop)) {
    if (enter()) { /* as many as the loop has places for */
      slot = atomic_fetch_add_explicit(&pool.job->entered, 1, memory_order_relaxed) + 1;
      if (slot < pool.job->threads) work(pool.job, me);
      leave();
    }
    watch(&pool.round, seen);
    if (atomic_load(&pool.round) == seen) {
      atomic_fetch_add(&pool.sleepers, 1);
      if (!atomic_load(&pool.stop)) sleep_while(&pool.round, seen);
      atomic_fetch_sub(&pool.sleepers, 1);
    }
    seen = atomic_load(&pool.round);
  }
  return NULL;
}

/* -------------------------------------------------------------------------------- start and end */

/* The host's signals are for its own threads. */
static void grow(uint32_t wanted) {
  sigset_t all, before;
  pthread_mutex_lock(&pool.lock);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (atomic_load(&pool.n_threads) < wanted) {
    uint32_t n = atomic_load(&pool.n_threads);
    if (pthread_create(&pool.thread[n], NULL, thread_main, (void *)(uintptr_t)(n + 1)) != 0) break;
    pool.pid = getpid();
    pthread_setname_np(pool.thread[n], "tfsdk-cpu");
    atomic_store(&pool.n_threads, n + 1);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_mutex_unlock(&pool.lock);
}

void cpu_pool_open(void) {
  pthread_mutex_lock(&pool.lock);
  pool.users++;
  pthread_mutex_unlock(&pool.lock);
}

void cpu_pool_close(void) {
  pthread_mutex_lock(&pool.lock);
  if (--pool.users == 0) {
    uint32_t n = atomic_load(&pool.n_threads);
    atomic_store(&pool.stop, 1);
    atomic_fetch_add(&pool.round, 1);
    wake(&pool.round, MAX_THREADS);
    for (uint32_t i = 0; i < n && pool.pid == getpid(); i++) pthread_join(pool.thread[i], NULL);
    atomic_store(&pool.n_threads, 0);
    atomic_store(&pool.stop, 0);
  }
  pthread_mutex_unlock(&pool.lock);
}

/* A quota of the container counts: 32 threads on a quota of 2 CPUs are throttled, not faster. */
static uint32_t quota(void) {
  long long limit = 0, period = 0;
  FILE *f = fopen("/sys/fs/cgroup/cpu.max", "r");
  int got;
  if (f == NULL) return MAX_THREADS;
  got = fscanf(f, "%lld %lld", &limit, &period);
  fclose(f);
  if (got != 2 || limit <= 0 || period <= 0) return MAX_THREADS;
  limit = (limit + period - 1) / period;
  return limit < MAX_THREADS ? (uint32_t)limit : MAX_THREADS;
}

uint32_t cpu_pool_machine_threads(void) {
  cpu_set_t set;
  long n = 0;
  uint32_t most = quota();
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
  if (n < 1) n = sysconf(_SC_NPROCESSORS_ONLN);
  if (n < 1) n = 1;
  return n < (long)most ? (uint32_t)n : most;
}

/* ---------------------------------------------------------------------------------------- loops */

static void run_shared(loop *l, int64_t pieces, uint32_t threads) {
  unsigned g, asleep;
  if (threads > pieces) threads = (uint32_t)pieces;
  if (atomic_load(&pool.n_threads) + 1 < threads) grow(threads - 1);
  l->threads = threads;
  atomic_init(&l->entered, 0);
  for (uint32_t t = 0; t < threads; t++) {
    atomic_init(&l->run[t].next, pieces * t / threads);
    l->run[t].end = pieces * (t + 1) / threads;
  }
  pool.job = l;
  atomic_store(&pool.gate, OPEN);
  atomic_fetch_add(&pool.round, 1);
  asleep = atomic_load(&pool.sleepers);
  if (asleep > 0) wake(&pool.round, threads - 1);
  work(l, 0);
  g = atomic_fetch_and(&pool.gate, ~OPEN) & ~OPEN;
  while (g != 0) {
    watch(&pool.gate, g);
    g = atomic_load(&pool.gate);
    if (g == 0) break;
    g = atomic_fetch_or(&pool.gate, WAITED) | WAITED;
    if (g == WAITED) break;
    sleep_while(&pool.gate, g);
    g = atomic_load(&pool.gate) & ~WAITED;
  }
  atomic_store(&pool.gate, 0);
}

uint32_t cpu_pool_slot(void) { return inside ? slot : 0; }

void cpu_pool_run(uint32_t threads, int64_t n, int64_t grain, tfsdk_range_fn *fn, void *user) {
  loop l;
  int64_t pieces;
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  l.piece = (n + MAX_PIECES - 1) / MAX_PIECES;
  if (l.piece < grain) l.piece = grain;
  pieces = (n + l.piece - 1) / l.piece;
  l.fn = fn;
  l.user = user;
  l.n = n;
  if (pieces > 1 && threads > 1 && !inside && !atomic_flag_test_and_set(&pool.busy)) {
    run_shared(&l, pieces, threads < MAX_THREADS ? threads : MAX_THREADS);
    atomic_flag_clear(&pool.busy);
  } else {
    for (int64_t i = 0; i < pieces; i++) run_piece(&l, i);
  }
}
