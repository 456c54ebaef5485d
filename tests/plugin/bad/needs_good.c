/* Needs good.c; its file may come before that in the folder. */
#include "bad.h"
ENROLL_OP("test.NeedsGood")
static const char *const needs[] = {"test-good", NULL};
MANIFEST("test-needs-good", .needs = needs)
