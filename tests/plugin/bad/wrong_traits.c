/* Claims a sanitizer that the host does not have: the one that it is not itself built with. */
#include "bad.h"
#if defined(__SANITIZE_ADDRESS__)
#define OTHER TFSDK_BUILD_TSAN
#else
#define OTHER TFSDK_BUILD_ASAN
#endif
ENROLL_OP("test.WrongTraits")
MANIFEST("test-wrong-traits", .build_traits = TFSDK_BUILD_LP64 | OTHER)
