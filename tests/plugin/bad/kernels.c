/* Kernels for the op of good.c, for two types of device, and no op. */
#include "bad.h"
static const tfsdk_kerneldef kernels[] = {
    {TFSDK_KERNEL_HEAD("test.Good", "cpu", 150), .label = "test", .compute = compute},
    {TFSDK_KERNEL_HEAD("test.Good", "abacus", 100), .label = "beads", .compute = compute}};
static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  TFSDK_TRY(r->kernel(r, &kernels[0]));
  return r->kernel(r, &kernels[1]);
}
static const tfsdk_plugin manifest = {TFSDK_PLUGIN_HEAD(TFSDK_KIND_KERNEL), .name = "test-kernels",
                                      .version = "1.0", .summary = "a plugin of the tests",
                                      .enroll = enroll};
ENTRY(&manifest)
