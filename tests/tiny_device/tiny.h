/* tiny.h - a pretend accelerator: the device type "tiny", for tests.
 *
 * It computes on the host, but the addresses that it hands out cannot be read or written there: a
 * copy that somebody forgot to make is a crash, not a number that happens to be right. It has few
 * kernels, for float32 only; all else falls back to the CPU. Memory that nobody has written, and
 * memory that was given back, is filled with NaN.
 *
 * Files: device.c memory and copies; the others kernels, each listed in plugin.c.
 */
#ifndef TINY_H
#define TINY_H

#include <tfsdk/device.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

#define TINY_ORDINALS 2
#define TINY_BYTES    ((uint64_t)256 << 20) /* of each ordinal */

/* What the plugin's open makes: the devices that are open know each other, for copies between them.
 */
typedef struct tiny_machine {
  const tfsdk_host *host;
  tfsdk_dev *dev[TINY_ORDINALS];
} tiny_machine;

extern const tfsdk_devdef tiny_device;

/* Where the bytes behind an address of the kernel's own device are. An error when they are not all
 * in one piece of memory that is in use. */
tfsdk_status *tiny_bytes(tfsdk_run *r, const void *address, uint64_t bytes, void **out);

/* The elements of a view; NULL for an empty one. */
static inline tfsdk_status *tiny_floats(tfsdk_run *r, const tfsdk_view *v, float **out) {
  void *p = NULL;
  if (v->n_elem > 0) TFSDK_TRY(tiny_bytes(r, v->data, v->byte_size, &p));
  *out = (float *)p;
  return NULL;
}

/* The record of a kernel that takes float32 for the type attribute T. */
extern const tfsdk_where tiny_float32[1];
#define TINY_KERNEL(op, fn)                                                                        \
  TFSDK_KERNEL_HEAD(op, "tiny", 100), .label = "tiny", .where = tiny_float32, .n_where = 1,        \
                                      .compute = fn

#endif
