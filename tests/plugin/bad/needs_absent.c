/* Needs a plugin that nobody has. */
#include "bad.h"
ENROLL_OP("test.NeedsAbsent")
static const char *const needs[] = {"test-nowhere", NULL};
MANIFEST("test-needs-absent", .needs = needs)
