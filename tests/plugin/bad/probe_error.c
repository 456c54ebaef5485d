/* Cannot even find out. */
#include "bad.h"
ENROLL_OP("test.ProbeError")
static tfsdk_status *probe(const tfsdk_host *host, tfsdk_probe *p) {
  (void)p;
  return host->fail(host, TFSDK_INTERNAL, __FILE__, __LINE__, "the bus answers %d", 42);
}
MANIFEST("test-probe-error", .probe = probe)
