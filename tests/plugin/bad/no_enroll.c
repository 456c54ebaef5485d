/* Forgot the one function that must be there. */
#include "bad.h"
static const tfsdk_plugin manifest = {TFSDK_PLUGIN_HEAD(TFSDK_KIND_OP), .name = "test-no-enroll",
                                      .version = "1.0", .summary = "a plugin of the tests"};
ENTRY(&manifest)
