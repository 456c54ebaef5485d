/* Registers an op, then fails: nothing of it may be seen, and it must be closed. */
#include "bad.h"
static const tfsdk_opdef op = OP("test.RolledBack");
static const tfsdk_host *host_;
static tfsdk_status *open_(const tfsdk_host *host, const char *options, void **self) {
  (void)options;
  host_ = host;
  *self = host->realloc(host, NULL, 0, 100);
  return NULL;
}
static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  TFSDK_TRY(r->op(r, &op));
  return TFSDK_FAIL(r, INTERNAL, "the second op is missing");
}
static tfsdk_status *quiesce(void *self) {
  (void)self;
  host_->log(host_, TFSDK_LOG_WARNING, "quiesced");
  return NULL;
}
static void close_(void *self) {
  host_->realloc(host_, self, 100, 0);
  host_->log(host_, TFSDK_LOG_WARNING, "closed");
}
MANIFEST("test-failing-enroll", .open = open_, .quiesce = quiesce, .close = close_)
