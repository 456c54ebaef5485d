/* Needs a type of device that nobody has. */
#include "bad.h"
ENROLL_OP("test.NeedsDevice")
static const char *const needs[] = {"device:abacus", NULL};
MANIFEST("test-needs-device", .needs = needs)
