/* Nothing is wrong with this one. */
#include "bad.h"
ENROLL_OP("test.Good")
MANIFEST("test-good")
