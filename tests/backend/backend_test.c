/* The contract of device.h, tried on every backend: backend_test TYPE=FILE ...
 *
 * A check is run for each backend in a plugin that was opened for it alone; what a device may leave
 * out is skipped. The program's exit code is the number of checks that failed. */
#include "host.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int failures;

/* Goes on after a failure: the rest may tell why. */
#define EXPECT(cond, ...)                                                                          \
  do {                                                                                             \
    if (!(cond)) {                                                                                 \
      atomic_fetch_add(&failures, 1);                                                              \
      fprintf(stderr, "    %s:%d: not %s: ", __FILE__, __LINE__, #cond);                           \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fputc('\n', stderr);                                                                         \
    }                                                                                              \
  } while (0)
#define OK(b, expr)                                                                                \
  do {                                                                                             \
    tfsdk_status *s_ = (expr);                                                                     \
    EXPECT(s_ == NULL, "%s", s_ ? s_->text : "");                                                  \
    (b)->host.drop(&(b)->host, s_);                                                                \
  } while (0)

static tfsdk_dev *open_first(backend *b) {
  tfsdk_dev *d = NULL;
  OK(b, b->def.open(b->self, &b->host, 0, 3, &d));
  return d;
}
static tfsdk_devinfo info_of(backend *b, tfsdk_dev *d) {
  tfsdk_devinfo i = {.struct_size = sizeof i};
  OK(b, b->def.info(d, &i));
  return i;
}
/* Whether the device has memory of its own, and so copies. */
static bool apart(backend *b, tfsdk_dev *d) { return !info_of(b, d).host_memory; }

/* -------------------------------------------------------------------------------------- the record
 */

static bool has_what_is_required(backend *b) {
  EXPECT(b->def.struct_size >= sizeof b->def, "%u bytes", b->def.struct_size);
  EXPECT(b->def.count && b->def.open && b->def.close && b->def.info && b->def.copy,
         "a required member is NULL");
  for (const char *p = b->def.type; *p; p++)
    EXPECT(*p >= 'a' && *p <= 'z', "'%s' is not lower case", b->def.type);
  bool streams = b->def.stream_new != NULL; /* all of these or none */
  EXPECT(streams == (b->def.stream_del != NULL) && streams == (b->def.event_new != NULL) &&
             streams == (b->def.event_del != NULL) && streams == (b->def.record != NULL) &&
             streams == (b->def.wait != NULL) && streams == (b->def.poll != NULL) &&
             streams == (b->def.sync != NULL),
         "streams and events are there by halves");
  EXPECT(b->n_kernels > 0, "no kernel for its own device");
  return true;
}

static bool counts_and_opens_each(backend *b) {
  uint32_t n = 0;
  OK(b, b->def.count(b->self, &n));
  EXPECT(n > 0, "no device");
  tfsdk_dev *d[16] = {NULL};
  for (uint32_t i = 0; i < n && i < 16; i++) {
    OK(b, b->def.open(b->self, &b->host, i, 0, &d[i]));
    EXPECT(d[i] != NULL, "ordinal %u", i);
  }
  for (uint32_t i = 0; i < n && i < 16; i++)
    if (d[i] != NULL) b->def.close(d[i]);
  return true;
}

static bool describes_itself(backend *b) {
  tfsdk_dev *d = open_first(b);
  tfsdk_devinfo i = info_of(b, d);
  EXPECT(i.name[0] != 0 && memchr(i.name, 0, sizeof i.name), "it has no name");
  EXPECT(memchr(i.details, 0, sizeof i.details) != NULL, "details do not end");
  EXPECT(i.memory_free <= i.memory_total || i.memory_total == 0, "%llu of %llu bytes are free",
         (unsigned long long)i.memory_free, (unsigned long long)i.memory_total);
  EXPECT(i.host_memory || (b->def.slab_alloc && b->def.slab_free),
         "memory of its own, but no way to it");
  EXPECT(!i.host_memory || i.threads == 3, "asked for 3 threads, it has %u", i.threads);
  b->def.close(d);
  return true;
}

/* Opening and closing again and again leaves nothing behind; run_check looks at the memory. */
static bool opens_and_closes_many_times(backend *b) {
  for (int i = 0; i < 50; i++) {
    tfsdk_dev *d = open_first(b);
    if (d == NULL) break;
    b->def.close(d);
  }
  return true;
}

/* ------------------------------------------------------------------------------------------ memory
 */

static bool slabs_are_aligned_and_apart(backend *b) {
  tfsdk_dev *d = open_first(b);
  static const uint64_t sizes[] = {1, 4, 255, 256, 257, 1000, 4096, 65537};
  const uint32_t heaps[2] = {TFSDK_HEAP_DEVICE, TFSDK_HEAP_PINNED};
  bool have = b->def.slab_alloc != NULL;
  for (int h = 0; have && h < 2; h++) {
    char *p[8] = {NULL};
    for (int i = 0; i < 8; i++) {
      void *at = NULL;
      OK(b, b->def.slab_alloc(d, heaps[h], sizes[i], &at));
      p[i] = at;
      EXPECT(at != NULL && (uintptr_t)at % 256 == 0, "%p for %llu bytes", at,
             (unsigned long long)sizes[i]);
      for (int k = 0; k < i; k++)
        EXPECT(p[i] >= p[k] + sizes[k] || p[k] >= p[i] + sizes[i],
               "slabs of %llu and %llu bytes overlap", (unsigned long long)sizes[k],
               (unsigned long long)sizes[i]);
    }
    for (int i = 0; i < 8; i++)
      if (p[(i * 3) % 8] != NULL) b->def.slab_free(d, heaps[h], p[(i * 3) % 8], sizes[(i * 3) % 8]);
  }
  b->def.close(d);
  return have;
}

static bool running_out_is_told_and_got_over(backend *b) {
  tfsdk_dev *d = open_first(b);
  uint64_t total = info_of(b, d).memory_total, part = total / 8;
  bool have = b->def.slab_alloc != NULL && total > 0;
  if (have) {
    void *p[9] = {NULL}, *more = NULL;
    int n = 0;
    tfsdk_status *s = NULL;
    while (n < 9 && (s = b->def.slab_alloc(d, TFSDK_HEAP_DEVICE, part, &p[n])) == NULL) n++;
    EXPECT(n >= 4 && n <= 8, "%d eighths of the memory were given", n);
    EXPECT(s != NULL && s->code == TFSDK_RESOURCE_EXHAUSTED, "code %d", s ? s->code : 0);
    b->host.drop(&b->host, s);
    if (n > 1) {
      b->def.slab_free(d, TFSDK_HEAP_DEVICE, p[0], part);
      OK(b, b->def.slab_alloc(d, TFSDK_HEAP_DEVICE, part, &p[0]));
    }
    s = b->def.slab_alloc(d, TFSDK_HEAP_DEVICE, UINT64_MAX / 4, &more);
    EXPECT(s != NULL && s->code == TFSDK_RESOURCE_EXHAUSTED, "an impossible slab is given");
    b->host.drop(&b->host, s);
    for (int i = 0; i < n; i++) b->def.slab_free(d, TFSDK_HEAP_DEVICE, p[i], part);
  }
  b->def.close(d);
  return have;
}

static uint32_t random_bits(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u; /* Numerical Recipes */
  return *seed >> 8;
}

/* A place in memory of either heap, of the device or (host_memory) of the process. */
typedef struct place {
  uint32_t heap;
  char *at;
} place;

static place take(backend *b, tfsdk_dev *d, uint32_t heap, uint64_t bytes) {
  place p = {heap, NULL};
  void *at = NULL;
  if (heap != TFSDK_HEAP_HOST && b->def.slab_alloc != NULL)
    OK(b, b->def.slab_alloc(d, heap, bytes, &at));
  else
    at = malloc(bytes);
  p.at = at;
  return p;
}
static void give(backend *b, tfsdk_dev *d, place p, uint64_t bytes) {
  if (p.heap != TFSDK_HEAP_HOST && b->def.slab_alloc != NULL)
    b->def.slab_free(d, p.heap, p.at, bytes);
  else
    free(p.at);
}

#define AREA 10000

/* Every pair of heaps, at odd offsets and lengths: host -> from -> to -> host, and the rest
 * untouched. */
static void copy_pair(backend *b, tfsdk_dev *d, uint32_t from_heap, uint32_t to_heap) {
  static const uint64_t cases[][3] = {{0, 0, AREA},  {0, 0, 0},       {1, 3, 1},
                                      {7, 64, 1000}, {4096, 1, 5000}, {AREA - 1, AREA - 1, 1}};
  unsigned char sent[AREA], got[AREA], want[AREA];
  place from = take(b, d, from_heap, AREA), to = take(b, d, to_heap, AREA);
  uint32_t seed = from_heap * 3 + to_heap + 1;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    for (int i = 0; i < AREA; i++) sent[i] = (unsigned char)random_bits(&seed);
    memset(want, 0x5a, AREA);
    OK(b, b->def.copy(d, NULL, from.at, from.heap, sent, TFSDK_HEAP_HOST, AREA));
    OK(b, b->def.copy(d, NULL, to.at, to.heap, want, TFSDK_HEAP_HOST, AREA));
    memcpy(want + cases[c][1], sent + cases[c][0], cases[c][2]);
    OK(b, b->def.copy(d, NULL, to.at + cases[c][1], to.heap, from.at + cases[c][0], from.heap,
                      cases[c][2]));
    OK(b, b->def.copy(d, NULL, got, TFSDK_HEAP_HOST, to.at, to.heap, AREA));
    EXPECT(memcmp(got, want, AREA) == 0, "heaps %u to %u, %llu bytes", from.heap, to.heap,
           (unsigned long long)cases[c][2]);
  }
  give(b, d, from, AREA);
  give(b, d, to, AREA);
}

static bool copies_between_all_heaps(backend *b) {
  tfsdk_dev *d = open_first(b);
  for (uint32_t from = TFSDK_HEAP_HOST; from <= TFSDK_HEAP_PINNED; from++)
    for (uint32_t to = TFSDK_HEAP_HOST; to <= TFSDK_HEAP_PINNED; to++) copy_pair(b, d, from, to);
  b->def.close(d);
  return true;
}

/* The destination's device is asked; the source belongs to another ordinal. */
static bool copies_between_ordinals(backend *b) {
  uint32_t n = 0;
  tfsdk_dev *d[2] = {NULL};
  void *p[2] = {NULL};
  unsigned char sent[1000], got[1000] = {0};
  OK(b, b->def.count(b->self, &n));
  if (n < 2) return false;
  for (uint32_t i = 0; i < 2; i++) OK(b, b->def.open(b->self, &b->host, i, 0, &d[i]));
  bool have = apart(b, d[0]);
  if (have) {
    for (int i = 0; i < 1000; i++) sent[i] = (unsigned char)(i * 7);
    for (int i = 0; i < 2; i++) OK(b, b->def.slab_alloc(d[i], TFSDK_HEAP_DEVICE, 1000, &p[i]));
    OK(b, b->def.copy(d[0], NULL, p[0], TFSDK_HEAP_DEVICE, sent, TFSDK_HEAP_HOST, 1000));
    OK(b, b->def.copy(d[1], NULL, p[1], TFSDK_HEAP_DEVICE, p[0], TFSDK_HEAP_DEVICE, 1000));
    OK(b, b->def.copy(d[1], NULL, got, TFSDK_HEAP_HOST, p[1], TFSDK_HEAP_DEVICE, 1000));
    EXPECT(memcmp(got, sent, 1000) == 0, "the bytes differ");
    for (int i = 0; i < 2; i++) b->def.slab_free(d[i], TFSDK_HEAP_DEVICE, p[i], 1000);
  }
  for (int i = 0; i < 2; i++) b->def.close(d[i]);
  return have;
}

static bool fills_with_a_pattern(backend *b) {
  if (b->def.fill == NULL) return false;
  tfsdk_dev *d = open_first(b);
  static const uint64_t lengths[] = {0, 4, 5, 7, 4096, AREA - 8};
  unsigned char got[AREA], want[AREA];
  place p = take(b, d, TFSDK_HEAP_DEVICE, AREA);
  for (size_t c = 0; c < sizeof lengths / sizeof *lengths; c++) {
    memset(want, 0x11, AREA);
    OK(b, b->def.copy(d, NULL, p.at, TFSDK_HEAP_DEVICE, want, TFSDK_HEAP_HOST, AREA));
    for (uint64_t i = 0; i < lengths[c]; i++)
      want[4 + i] = (unsigned char)(0xa1b2c3d4u >> 8 * (i % 4));
    OK(b, b->def.fill(d, NULL, p.at + 4, 0xa1b2c3d4u, lengths[c]));
    OK(b, b->def.copy(d, NULL, got, TFSDK_HEAP_HOST, p.at, TFSDK_HEAP_DEVICE, AREA));
    EXPECT(memcmp(got, want, AREA) == 0, "%llu bytes", (unsigned long long)lengths[c]);
  }
  give(b, d, p, AREA);
  b->def.close(d);
  return true;
}

typedef struct mover {
  backend *b;
  tfsdk_dev *d;
  uint32_t seed;
  int wrong;
} mover;

static void *move(void *user) {
  mover *m = user;
  unsigned char sent[3000], got[3000];
  for (int round = 0; round < 100; round++) {
    uint64_t n = 1 + random_bits(&m->seed) % 3000;
    void *p = NULL;
    for (uint64_t i = 0; i < n; i++) sent[i] = (unsigned char)random_bits(&m->seed);
    tfsdk_status *s = m->b->def.slab_alloc(m->d, TFSDK_HEAP_DEVICE, n, &p);
    if (s == NULL) s = m->b->def.copy(m->d, NULL, p, TFSDK_HEAP_DEVICE, sent, TFSDK_HEAP_HOST, n);
    if (s == NULL) s = m->b->def.copy(m->d, NULL, got, TFSDK_HEAP_HOST, p, TFSDK_HEAP_DEVICE, n);
    m->wrong += s != NULL || memcmp(sent, got, n) != 0;
    m->b->host.drop(&m->b->host, s);
    if (p != NULL) m->b->def.slab_free(m->d, TFSDK_HEAP_DEVICE, p, n);
  }
  return NULL;
}

/* Without streams calls may come from several threads at once: two sessions on one device. */
static bool memory_may_be_used_from_several_threads(backend *b) {
  if (b->def.slab_alloc == NULL) return false;
  tfsdk_dev *d = open_first(b);
  pthread_t thread[4];
  mover m[4];
  for (uint32_t i = 0; i < 4; i++) {
    m[i] = (mover){b, d, i + 1, 0};
    pthread_create(&thread[i], NULL, move, &m[i]);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(thread[i], NULL);
    EXPECT(m[i].wrong == 0, "%d of 100 rounds went wrong", m[i].wrong);
  }
  b->def.close(d);
  return true;
}

/* ----------------------------------------------------------------------------------------- par_for
 */

typedef struct tally {
  backend *b;
  tfsdk_dev *d;
  int64_t n, grain;
  atomic_int *seen;     /* by index */
  atomic_int malformed; /* empty or outside ranges, or (not the last) shorter than the grain */
  int64_t nested;       /* > 0: each range runs a loop of so many inside */
  atomic_llong inside;
} tally;

static void count_inner(void *user, int64_t begin, int64_t end) {
  tally *t = user;
  atomic_fetch_add(&t->inside, end - begin);
}
static void count_range(void *user, int64_t begin, int64_t end) {
  tally *t = user;
  if (begin < 0 || end > t->n || begin >= end || (end - begin < t->grain && end != t->n))
    atomic_fetch_add(&t->malformed, 1);
  for (int64_t i = begin; i < end && i < t->n; i++) atomic_fetch_add(&t->seen[i], 1);
  if (t->nested > 0) t->b->def.par_for(t->d, t->nested, 1, count_inner, t);
}

static void expect_once(backend *b, tfsdk_dev *d, int64_t n, int64_t grain, int64_t nested) {
  tally t = {b, d, n, grain, calloc((size_t)n + 1, sizeof *t.seen), 0, nested, 0};
  int64_t wrong = 0;
  b->def.par_for(d, n, grain, count_range, &t);
  for (int64_t i = 0; i < n; i++) wrong += atomic_load(&t.seen[i]) != 1;
  EXPECT(wrong == 0, "n %lld, grain %lld: %lld indices not run exactly once", (long long)n,
         (long long)grain, (long long)wrong);
  EXPECT(atomic_load(&t.malformed) == 0, "n %lld, grain %lld: %d ranges are malformed",
         (long long)n, (long long)grain, atomic_load(&t.malformed));
  if (nested > 0)
    EXPECT(n == 0 || (atomic_load(&t.inside) > 0 && atomic_load(&t.inside) % nested == 0),
           "inner loops ran %lld of a multiple of %lld", (long long)atomic_load(&t.inside),
           (long long)nested);
  free(t.seen);
}

static bool loops_run_each_index_once(backend *b) {
  if (b->def.par_for == NULL) return false;
  tfsdk_dev *d = open_first(b);
  static const int64_t lengths[] = {0, 1, 2, 3, 7, 63, 64, 65, 127, 128, 129, 1000, 4099, 100003};
  static const int64_t grains[] = {1, 2, 3, 16, 100, 4096, 1 << 30};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (size_t k = 0; k < sizeof grains / sizeof *grains; k++)
      expect_once(b, d, lengths[i], grains[k], 0);
  for (int i = 0; i < 500; i++)
    expect_once(b, d, 300 + i, 1, 0); /* one after another without a pause */
  b->def.close(d);
  return true;
}

/* Kernels must not nest loops, but one that calls a library that does must not hang or lose work.
 */
static bool loops_inside_loops_are_run(backend *b) {
  if (b->def.par_for == NULL) return false;
  tfsdk_dev *d = open_first(b);
  for (int64_t n = 1; n < 2000; n = n * 3 + 1) expect_once(b, d, n, 4, 50);
  b->def.close(d);
  return true;
}

static void *loop_often(void *user) {
  const mover *m = user;
  for (int i = 0; i < 200; i++)
    expect_once(m->b, m->d, 1 + (int64_t)m->seed * 37 + i, 1 + i % 5, i % 10 == 0 ? 3 : 0);
  return NULL;
}

static bool loops_may_come_from_several_threads(backend *b) {
  if (b->def.par_for == NULL) return false;
  tfsdk_dev *d = open_first(b);
  pthread_t thread[4];
  mover m[4];
  for (uint32_t i = 0; i < 4; i++) {
    m[i] = (mover){b, d, i + 1, 0};
    pthread_create(&thread[i], NULL, loop_often, &m[i]);
  }
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  b->def.close(d);
  return true;
}

/* -------------------------------------------------------------------------------------- running */

static const struct {
  const char *name;
  bool (*run)(backend *b); /* false: not a matter of this device */
} checks[] = {
    {"has what is required", has_what_is_required},
    {"counts and opens each", counts_and_opens_each},
    {"describes itself", describes_itself},
    {"opens and closes many times", opens_and_closes_many_times},
    {"slabs are aligned and apart", slabs_are_aligned_and_apart},
    {"running out is told and got over", running_out_is_told_and_got_over},
    {"copies between all heaps", copies_between_all_heaps},
    {"copies between ordinals", copies_between_ordinals},
    {"fills with a pattern", fills_with_a_pattern},
    {"memory may be used from several threads", memory_may_be_used_from_several_threads},
    {"loops run each index once", loops_run_each_index_once},
    {"loops inside loops are run", loops_inside_loops_are_run},
    {"loops may come from several threads", loops_may_come_from_several_threads},
};

static const char *run_check(size_t i, const char *type, const char *path) {
  backend b;
  int before = failures;
  const char *error = backend_open(&b, type, path);
  EXPECT(error == NULL, "%s: %s", path, error ? error : "");
  bool ran = error == NULL && checks[i].run(&b);
  long long left = backend_close(&b);
  EXPECT(left == 0, "the plugin keeps %lld bytes after close", left);
  EXPECT(b.n_complaints == 0, "the plugin complains");
  return failures > before ? "FAILED" : ran ? "passed" : "not there";
}

int main(int argc, char **argv) {
  for (int a = 1; a < argc; a++) {
    char *path = strchr(argv[a], '=');
    if (path == NULL) {
      fprintf(stderr, "usage: backend_test TYPE=FILE ...\n");
      return 2;
    }
    *path++ = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
      printf("%-6s %-42s %s\n", argv[a], checks[i].name, run_check(i, argv[a], path));
  }
  printf("backend: %d failed\n", failures);
  return failures > 100 ? 100 : failures;
}
