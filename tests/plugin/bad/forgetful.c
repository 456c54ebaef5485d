/* Opens with a block of memory that it never gives back, though it still knows it. */
#include "bad.h"
ENROLL_OP("test.Forgetful")
static void *volatile block; /* where a leak check sees it */
static tfsdk_status *open_(const tfsdk_host *host, const char *options, void **self) {
  (void)options;
  *self = block = host->realloc(host, NULL, 0, 77);
  return NULL;
}
MANIFEST("test-forgetful", .open = open_)
