/* Another plugin by the name that good.c has. */
#include "bad.h"
ENROLL_OP("test.Rival")
MANIFEST("test-good", .version = "2.0")
