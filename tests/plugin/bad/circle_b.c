/* Needs circle_a, which needs this one. */
#include "bad.h"
ENROLL_OP("test.CircleB")
static const char *const needs[] = {"test-circle-a", NULL};
MANIFEST("test-circle-b", .needs = needs)
