/* Links the runtime of AddressSanitizer (a stand-in of that name): opening the true one would end a
 * process that was started without it. */
#include "bad.h"
int tfsdk_test_asan(void);
static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  return tfsdk_test_asan() ? NULL : TFSDK_FAIL(r, INTERNAL, "never");
}
MANIFEST("test-asan-linked")
