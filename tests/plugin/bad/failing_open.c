/* Takes memory, fails to open, and gives the memory back. */
#include "bad.h"
ENROLL_OP("test.FailingOpen")
static tfsdk_status *open_(const tfsdk_host *host, const char *options, void **self) {
  void *block = host->realloc(host, NULL, 0, 1000);
  (void)options;
  (void)self;
  block = host->realloc(host, block, 1000, 5000);
  host->realloc(host, block, 5000, 0);
  return host->fail(host, TFSDK_UNAVAILABLE, __FILE__, __LINE__, "the licence server is asleep");
}
MANIFEST("test-failing-open", .open = open_)
