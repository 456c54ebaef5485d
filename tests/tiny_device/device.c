/* device.c - memory of the pretend accelerator.
 *
 * Each ordinal has two mappings of the same length: `address`, which nobody may touch and from
 * which slabs are handed out, and `bytes`, where their content is. Only this file knows both. Slabs
 * are kept in the order of their addresses; a new one takes the first gap that is long enough.
 */
#include "tiny.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALIGN 256

typedef struct slab {
  uint64_t at, bytes; /* at: from the beginning of the mappings */
} slab;

struct tfsdk_dev {
  tiny_machine *machine;
  uint32_t ordinal;
  char *address, *bytes;
  pthread_mutex_t lock; /* guards what follows */
  slab *slabs;
  size_t n, cap;
  uint64_t in_use;
};

static tfsdk_status *fail(const tfsdk_host *h, int32_t code, const char *what, uint32_t ordinal) {
  return h->fail(h, code, __FILE__, __LINE__, "tiny:%u: %s", ordinal, what);
}

static tfsdk_status *count(void *self, uint32_t *out_n) {
  (void)self;
  *out_n = TINY_ORDINALS;
  return NULL;
}

static char *map(int protection) {
  void *p = mmap(NULL, TINY_BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : (char *)p;
}

static void destroy(tfsdk_dev *d) {
  const tfsdk_host *h = d->machine->host;
  if (d->address != NULL) munmap(d->address, TINY_BYTES);
  if (d->bytes != NULL) munmap(d->bytes, TINY_BYTES);
  pthread_mutex_destroy(&d->lock);
  h->realloc(h, d->slabs, d->cap * sizeof *d->slabs, 0);
  h->realloc(h, d, sizeof *d, 0);
}

static tfsdk_status *open_device(void *self, const tfsdk_host *host, uint32_t ordinal,
                                 uint32_t threads, tfsdk_dev **out) {
  tiny_machine *m = (tiny_machine *)self;
  (void)threads;
  if (ordinal >= TINY_ORDINALS)
    return fail(host, TFSDK_NOT_FOUND, "there is no such device", ordinal);
  if (m->dev[ordinal] != NULL) return fail(host, TFSDK_ALREADY_EXISTS, "is open already", ordinal);
  tfsdk_dev *d = (tfsdk_dev *)host->realloc(host, NULL, 0, sizeof *d);
  if (d == NULL) return fail(host, TFSDK_RESOURCE_EXHAUSTED, "no host memory", ordinal);
  memset(d, 0, sizeof *d);
  d->machine = m;
  d->ordinal = ordinal;
  pthread_mutex_init(&d->lock, NULL);
  d->address = map(PROT_NONE);
  d->bytes = map(PROT_READ | PROT_WRITE);
  if (d->address == NULL || d->bytes == NULL) {
    destroy(d);
    return fail(host, TFSDK_RESOURCE_EXHAUSTED, "no address space", ordinal);
  }
  m->dev[ordinal] = d;
  *out = d;
  return NULL;
}

static void close_device(tfsdk_dev *d) {
  if (d->n > 0)
    d->machine->host->log(d->machine->host, TFSDK_LOG_ERROR, "tiny: closed with memory in use");
  d->machine->dev[d->ordinal] = NULL;
  destroy(d);
}

static tfsdk_status *info(tfsdk_dev *d, tfsdk_devinfo *out) {
  pthread_mutex_lock(&d->lock);
  out->memory_free = TINY_BYTES - d->in_use;
  pthread_mutex_unlock(&d->lock);
  out->host_memory = 0;
  out->memory_total = TINY_BYTES;
  out->threads = 1;
  snprintf(out->name, sizeof out->name, "pretend accelerator");
  snprintf(out->details, sizeof out->details, "for tests");
  return NULL;
}

/* --------------------------------------------------------------------------------------- memory */

/* Room for `bytes` at the first gap. Locked. */
static bool place(tfsdk_dev *d, uint64_t bytes, uint64_t *out_at) {
  uint64_t at = 0;
  size_t i = 0;
  for (; i < d->n && d->slabs[i].at - at < bytes; i++)
    at = (d->slabs[i].at + d->slabs[i].bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
  if (bytes > TINY_BYTES || at > TINY_BYTES - bytes) return false;
  memmove(&d->slabs[i + 1], &d->slabs[i], (d->n - i) * sizeof *d->slabs);
  d->slabs[i].at = at;
  d->slabs[i].bytes = bytes;
  d->n++;
  d->in_use += bytes;
  *out_at = at;
  return true;
}

static bool grow(tfsdk_dev *d) {
  const tfsdk_host *h = d->machine->host;
  size_t cap = d->cap ? 2 * d->cap : 64;
  if (d->n < d->cap) return true;
  slab *more = (slab *)h->realloc(h, d->slabs, d->cap * sizeof *more, cap * sizeof *more);
  if (more == NULL) return false;
  d->slabs = more;
  d->cap = cap;
  return true;
}

static tfsdk_status *slab_alloc(tfsdk_dev *d, uint32_t heap, uint64_t bytes, void **out) {
  uint64_t at = 0;
  if (bytes == 0) bytes = 1;
  if (heap != TFSDK_HEAP_DEVICE) { /* ordinary memory: nothing here needs it pinned */
    *out = bytes <= TINY_BYTES ? aligned_alloc(ALIGN, (size_t)((bytes + ALIGN - 1) / ALIGN * ALIGN))
                               : NULL;
    return *out ? NULL
                : fail(d->machine->host, TFSDK_RESOURCE_EXHAUSTED, "no host memory", d->ordinal);
  }
  pthread_mutex_lock(&d->lock);
  bool ok = grow(d) && place(d, bytes, &at);
  if (ok) memset(d->bytes + at, 0xff, (size_t)bytes);
  pthread_mutex_unlock(&d->lock);
  if (!ok) return fail(d->machine->host, TFSDK_RESOURCE_EXHAUSTED, "out of memory", d->ordinal);
  *out = d->address + at;
  return NULL;
}

static void slab_free(tfsdk_dev *d, uint32_t heap, void *p, uint64_t bytes) {
  if (heap != TFSDK_HEAP_DEVICE) {
    free(p);
    return;
  }
  if (bytes == 0) bytes = 1;
  pthread_mutex_lock(&d->lock);
  size_t i = 0;
  while (i < d->n && d->address + d->slabs[i].at != (char *)p) i++;
  bool known = i < d->n && d->slabs[i].bytes == bytes;
  if (known) {
    memset(d->bytes + d->slabs[i].at, 0xff, (size_t)bytes);
    memmove(&d->slabs[i], &d->slabs[i + 1], (d->n - i - 1) * sizeof *d->slabs);
    d->n--;
    d->in_use -= bytes;
  }
  pthread_mutex_unlock(&d->lock);
  if (!known)
    d->machine->host->log(d->machine->host, TFSDK_LOG_ERROR,
                          "tiny: frees what is no slab of that size");
}

/* Whether an address is one of this device's, in use or not. */
static bool owns(const tfsdk_dev *d, const void *p) {
  return (const char *)p >= d->address && (const char *)p < d->address + TINY_BYTES;
}

/* The bytes behind an address; NULL unless all are in one slab. */
static void *content(tfsdk_dev *d, const void *p, uint64_t bytes) {
  uint64_t at = (uint64_t)((const char *)p - d->address);
  bool inside = false;
  pthread_mutex_lock(&d->lock);
  for (size_t i = 0; i < d->n && !inside; i++)
    inside = at >= d->slabs[i].at && at + bytes <= d->slabs[i].at + d->slabs[i].bytes;
  pthread_mutex_unlock(&d->lock);
  return inside ? d->bytes + at : NULL;
}

static tfsdk_status *not_ours(tfsdk_dev *d, const void *p, uint64_t bytes, const char *whose) {
  const tfsdk_host *h = d->machine->host;
  return h->fail(h, TFSDK_INTERNAL, __FILE__, __LINE__, "tiny:%u: %llu bytes at %p are not %s",
                 d->ordinal, (unsigned long long)bytes, (void *)(uintptr_t)p, whose);
}

tfsdk_status *tiny_bytes(tfsdk_run *r, const void *address, uint64_t bytes, void **out) {
  tfsdk_dev *d = (tfsdk_dev *)r->device;
  *out = owns(d, address) ? content(d, address, bytes) : NULL;
  return *out ? NULL : not_ours(d, address, bytes, "the device's");
}

/* A device address of either ordinal, or a host address, as the heap says. */
static tfsdk_status *resolve(tfsdk_dev *d, uint32_t heap, const void *p, uint64_t bytes,
                             void **out) {
  *out = heap == TFSDK_HEAP_DEVICE ? NULL : (void *)(uintptr_t)p;
  for (uint32_t i = 0; i < TINY_ORDINALS; i++) {
    tfsdk_dev *other = d->machine->dev[i];
    if (other != NULL && owns(other, p))
      *out = heap == TFSDK_HEAP_DEVICE ? content(other, p, bytes) : NULL;
  }
  if (*out != NULL) return NULL;
  return not_ours(d, p, bytes, heap == TFSDK_HEAP_DEVICE ? "a tiny device's" : "the host's");
}

static tfsdk_status *copy(tfsdk_dev *d, tfsdk_stream *s, void *dst, uint32_t dst_heap,
                          const void *src, uint32_t src_heap, uint64_t bytes) {
  void *to, *from;
  (void)s;
  if (bytes == 0) return NULL;
  TFSDK_TRY(resolve(d, dst_heap, dst, bytes, &to));
  TFSDK_TRY(resolve(d, src_heap, src, bytes, &from));
  memmove(to, from, (size_t)bytes);
  return NULL;
}

static tfsdk_status *fill(tfsdk_dev *d, tfsdk_stream *s, void *dst, uint32_t pattern,
                          uint64_t bytes) {
  void *to;
  (void)s;
  if (bytes == 0) return NULL;
  TFSDK_TRY(resolve(d, TFSDK_HEAP_DEVICE, dst, bytes, &to));
  for (uint64_t i = 0; i < bytes; i++)
    ((unsigned char *)to)[i] = (unsigned char)(pattern >> 8 * (i % 4));
  return NULL;
}

const tfsdk_devdef tiny_device = {.struct_size = (uint32_t)sizeof(tfsdk_devdef),
                                  .type = "tiny",
                                  .count = count,
                                  .open = open_device,
                                  .close = close_device,
                                  .info = info,
                                  .slab_alloc = slab_alloc,
                                  .slab_free = slab_free,
                                  .copy = copy,
                                  .fill = fill};
