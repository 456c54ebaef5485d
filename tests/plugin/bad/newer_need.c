/* Needs a minor version that this host does not have. */
#include "bad.h"
ENROLL_OP("test.NewerNeed")
MANIFEST("test-newer-need", .abi_minor_need = TFSDK_ABI_MINOR + 7)
