/* tfsdk/device.h - a type of device: memory, copies, and optionally streams, events and threads.
 *
 * The core asks for large slabs and hands out pieces of them itself; it keeps limits and
 * statistics. A device without streams and events is synchronous: leave those members NULL. A
 * device that brings three kernels is legal: what it lacks runs on the CPU, with copies, where the
 * session allows it.
 *
 *     static tfsdk_status *count(void *self, uint32_t *n) { (void)self; *n = 1; return NULL; }
 *     static tfsdk_status *start(void *self, const tfsdk_host *host, uint32_t ordinal,
 *                                uint32_t threads, tfsdk_dev **out);
 *     static tfsdk_status *info(tfsdk_dev *d, tfsdk_devinfo *out) {
 *       (void)d;
 *       out->host_memory = 1;
 *       return NULL;
 *     }
 *     static const tfsdk_devdef dev = {
 *         .struct_size = sizeof(tfsdk_devdef), .type = "acme", .count = count, .open = start,
 *         .info = info};
 *
 * Threads: calls come concurrently for different streams, one at a time for the same stream. Calls
 * without a stream may come from several threads at once: two sessions share a device.
 */
#ifndef TFSDK_DEVICE_H
#define TFSDK_DEVICE_H

#include <tfsdk/plugin.h>
#include <tfsdk/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tfsdk_dev tfsdk_dev;       /* the plugin's own; opaque to the core */
typedef struct tfsdk_stream tfsdk_stream; /* likewise */
typedef struct tfsdk_event tfsdk_event;   /* likewise */

/* Kinds of memory. HOST is ordinary memory that the CPU reads and writes: the core's own. A device
 * whose memory the CPU can use directly says so in its info (`host_memory`), and no copies are made
 * for it. */
enum tfsdk_heap { TFSDK_HEAP_HOST = 0, TFSDK_HEAP_DEVICE = 1, TFSDK_HEAP_PINNED = 2 };

typedef struct tfsdk_devinfo {
  uint32_t struct_size;  /* set by the host */
  int32_t host_memory;   /* 1: DEVICE memory is host memory */
  uint64_t memory_total; /* bytes; 0 unknown */
  uint64_t memory_free;  /* bytes; 0 unknown */
  uint32_t threads;      /* what par_for uses at most; 0 unknown */
  uint32_t reserved;
  char name[128];    /* "AMD EPYC 9R14" */
  char details[256]; /* what `tfsdk devices` shows besides: library versions, core types */
} tfsdk_devinfo;

struct tfsdk_devdef {
  uint32_t struct_size, reserved;
  const char *type; /* "cpu", "cuda": lower case; scripts name devices "type:ordinal" */
  /* How many there are on this machine. */
  tfsdk_status *(*count)(void *self, uint32_t *out_n);
  /* `threads` 0: as many as the machine has. */
  tfsdk_status *(*open)(void *self, const tfsdk_host *host, uint32_t ordinal, uint32_t threads,
                        tfsdk_dev **out);
  void (*close)(tfsdk_dev *d);
  tfsdk_status *(*info)(tfsdk_dev *d, tfsdk_devinfo *out);
  /* Memory of at least `bytes`, aligned to 256. RESOURCE_EXHAUSTED when there is none. NULL for
   * devices with host_memory: the core then uses its own. */
  tfsdk_status *(*slab_alloc)(tfsdk_dev *d, uint32_t heap, uint64_t bytes, void **out);
  void (*slab_free)(tfsdk_dev *d, uint32_t heap, void *p, uint64_t bytes);
  /* Copies bytes between heaps, in the order of the stream (NULL stream: done when it returns). A
   * copy between two devices of this type is asked of the destination's: src is then the other's
   * memory. */
  tfsdk_status *(*copy)(tfsdk_dev *d, tfsdk_stream *s, void *dst, uint32_t dst_heap,
                        const void *src, uint32_t src_heap, uint64_t bytes);
  /* Sets bytes to a repeated 32-bit pattern. NULL: the core copies from the host instead. */
  tfsdk_status *(*fill)(tfsdk_dev *d, tfsdk_stream *s, void *dst, uint32_t pattern, uint64_t bytes);
  /* Runs fn over ranges of 0..n of at least `grain` on the device's threads (host devices only).
   * Returns when all is done. NULL: the caller's thread does it alone. */
  void (*par_for)(tfsdk_dev *d, int64_t n, int64_t grain, tfsdk_range_fn *fn, void *user);
  /* Streams and events; all NULL for a synchronous device. */
  tfsdk_status *(*stream_new)(tfsdk_dev *d, uint32_t flags, tfsdk_stream **out);
  void (*stream_del)(tfsdk_dev *d, tfsdk_stream *s);
  void *(*stream_native)(tfsdk_dev *d, tfsdk_stream *s);
  tfsdk_status *(*event_new)(tfsdk_dev *d, tfsdk_event **out);
  void (*event_del)(tfsdk_dev *d, tfsdk_event *e);
  tfsdk_status *(*record)(tfsdk_dev *d, tfsdk_stream *s, tfsdk_event *e);
  tfsdk_status *(*wait)(tfsdk_dev *d, tfsdk_stream *s, tfsdk_event *e);
  tfsdk_status *(*poll)(tfsdk_dev *d, tfsdk_event *e, int32_t *out_done);
  tfsdk_status *(*sync)(tfsdk_dev *d, tfsdk_event *e, uint64_t timeout_ns);
  /* Gives memory that the plugin itself caches back to the driver. */
  tfsdk_status *(*trim)(tfsdk_dev *d);
};

#ifdef __cplusplus
}
#endif
#endif
