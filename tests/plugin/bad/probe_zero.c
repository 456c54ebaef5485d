/* Finds out that it cannot work on this machine. */
#include "bad.h"
ENROLL_OP("test.ProbeZero")
static tfsdk_status *probe(const tfsdk_host *host, tfsdk_probe *p) {
  static const char why[] = "no quantum coprocessor";
  (void)host;
  p->score = 0;
  memcpy(p->why, why, sizeof why);
  return NULL;
}
MANIFEST("test-probe-zero", .probe = probe)
