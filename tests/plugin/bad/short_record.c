/* The manifest says that it ends before its functions. */
#include "bad.h"
ENROLL_OP("test.ShortRecord")
MANIFEST("test-short-record", .struct_size = 64)
