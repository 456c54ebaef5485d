/* Built with newer headers, but needs nothing of them: legal. */
#include "bad.h"
ENROLL_OP("test.NewerBuilt")
MANIFEST("test-newer-built", .abi_minor_built = TFSDK_ABI_MINOR + 7)
