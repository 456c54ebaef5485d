/* Links a library (absent.c) whose folder nobody searches. */
#include "bad.h"
int tfsdk_test_absent(void);
static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  return tfsdk_test_absent() ? NULL : TFSDK_FAIL(r, INTERNAL, "never");
}
MANIFEST("test-missing-dependency")
