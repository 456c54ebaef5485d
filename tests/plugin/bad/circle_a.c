/* Needs circle_b, which needs this one. */
#include "bad.h"
ENROLL_OP("test.CircleA")
static const char *const needs[] = {"test-circle-b", NULL};
MANIFEST("test-circle-a", .needs = needs)
