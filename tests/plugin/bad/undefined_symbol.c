/* Calls a function that no library has. */
#include "bad.h"
int tfsdk_test_nobody_has_this(void);
static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  return tfsdk_test_nobody_has_this() ? NULL : TFSDK_FAIL(r, INTERNAL, "never");
}
MANIFEST("test-undefined-symbol")
