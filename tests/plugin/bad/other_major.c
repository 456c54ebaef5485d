/* Built for a later major version; hands its manifest to any host. */
#include "bad.h"
ENROLL_OP("test.OtherMajor")
MANIFEST("test-other-major", .abi_major = TFSDK_ABI_MAJOR + 1, .abi_minor_built = 3)
