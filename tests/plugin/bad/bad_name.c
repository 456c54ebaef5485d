/* A name with a blank in it. */
#include "bad.h"
ENROLL_OP("test.BadName")
MANIFEST("test bad name")
