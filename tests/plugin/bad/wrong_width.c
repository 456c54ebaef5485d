/* Claims to be of the other word size. */
#include "bad.h"
ENROLL_OP("test.WrongWidth")
MANIFEST("test-wrong-width", .build_traits = TFSDK_BUILD_TRAITS ^ TFSDK_BUILD_LP64)
