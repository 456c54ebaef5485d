/* plugin.c - manifest of the CPU backend: the device "cpu" and its fast kernels. Opening it starts
 * no thread and loads no library; see pool.c and blas.c for when that happens.
 */
#include "cpu.h"
#include "units.h"

static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  TFSDK_TRY(r->device(r, &cpu_device));
  for (const tfsdk_unit *const *u = tfsdk_units; *u != NULL; u++)
    TFSDK_TRY(tfsdk_unit_enroll(*u, r));
  return NULL;
}

static const tfsdk_plugin manifest = {
    TFSDK_PLUGIN_HEAD(TFSDK_KIND_DEVICE | TFSDK_KIND_KERNEL), .name = "cpu", .version = "0.1.0",
    .summary = "the host's processor: threads, OpenBLAS, vectorised kernels", .enroll = enroll};
TFSDK_PLUGIN_ENTRY(cpu, &manifest)
