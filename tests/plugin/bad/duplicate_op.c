/* Brings an op of its own and one that good.c has. */
#include "bad.h"
static const tfsdk_opdef ops[] = {OP("test.Own"), OP("test.Good")};
static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  TFSDK_TRY(r->op(r, &ops[0]));
  return r->op(r, &ops[1]);
}
MANIFEST("test-duplicate-op")
