/* device.c - the host's processor as a device: its memory is the host's, its work is done when a
 * call returns. Several ordinals share the processor, so that placement and data parallelism can be
 * tried without further hardware.
 */
#include "keep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static tfsdk_status *count(void *self, uint32_t *out_n) {
  (void)self;
  *out_n = 1;
  return NULL;
}

static tfsdk_status *open_device(void *self, const tfsdk_host *host, uint32_t ordinal,
                                 uint32_t threads, tfsdk_dev **out) {
  tfsdk_dev *d = (tfsdk_dev *)host->realloc(host, NULL, 0, sizeof *d);
  (void)self;
  cpu_keep *keep = cpu_keep_create(host);
  if (d == NULL || keep == NULL) {
    if (d != NULL) host->realloc(host, d, sizeof *d, 0);
    cpu_keep_destroy(keep);
    return host->fail(host, TFSDK_RESOURCE_EXHAUSTED, __FILE__, __LINE__,
                      "no memory for the device cpu:%u", ordinal);
  }
  d->keep = keep;
  d->host = host;
  d->ordinal = ordinal;
  d->threads = threads != 0 ? threads : cpu_pool_machine_threads();
  cpu_pool_open();
  *out = d;
  return NULL;
}

static void close_device(tfsdk_dev *d) {
  const tfsdk_host *host = d->host;
  cpu_pool_close();
  cpu_keep_destroy(d->keep);
  host->realloc(host, d, sizeof *d, 0);
}

static tfsdk_status *info(tfsdk_dev *d, tfsdk_devinfo *out) {
  long pages = sysconf(_SC_PHYS_PAGES), idle = sysconf(_SC_AVPHYS_PAGES);
  long page = sysconf(_SC_PAGESIZE);
  out->host_memory = 1;
  out->memory_total = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
  out->memory_free = idle > 0 && page > 0 ? (uint64_t)idle * (uint64_t)page : 0;
  out->threads = d->threads;
  cpu_model_name(out->name, sizeof out->name);
  snprintf(out->details, sizeof out->details, "kernels %s; %s", cpu_isa_name(),
           cpu_blas_text(d->host));
  return NULL;
}

static tfsdk_status *copy(tfsdk_dev *d, tfsdk_stream *s, void *dst, uint32_t dst_heap,
                          const void *src, uint32_t src_heap, uint64_t bytes) {
  (void)d, (void)s, (void)dst_heap, (void)src_heap;
  if (bytes > 0) memmove(dst, src, (size_t)bytes);
  return NULL;
}

static tfsdk_status *fill(tfsdk_dev *d, tfsdk_stream *s, void *dst, uint32_t pattern,
                          uint64_t bytes) {
  unsigned char *p = (unsigned char *)dst;
  (void)d, (void)s;
  for (; bytes >= 4; bytes -= 4, p += 4) memcpy(p, &pattern, 4);
  if (bytes > 0) memcpy(p, &pattern, (size_t)bytes);
  return NULL;
}

static void par_for(tfsdk_dev *d, int64_t n, int64_t grain, tfsdk_range_fn *fn, void *user) {
  cpu_pool_run(d->threads, n, grain, fn, user);
}

const tfsdk_devdef cpu_device = {.struct_size = (uint32_t)sizeof(tfsdk_devdef),
                                 .type = "cpu",
                                 .count = count,
                                 .open = open_device,
                                 .close = close_device,
                                 .info = info,
                                 .copy = copy,
                                 .fill = fill,
                                 .par_for = par_for};
