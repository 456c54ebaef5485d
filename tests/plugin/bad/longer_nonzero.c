/* The manifest of a newer contract that uses what this host does not know. */
#include "bad.h"
ENROLL_OP("test.LongerNonzero")
static const struct {
  tfsdk_plugin known;
  uint64_t unknown[2];
} manifest = {{TFSDK_PLUGIN_MAGIC, sizeof manifest, TFSDK_ABI_MAJOR, TFSDK_ABI_MINOR,
               TFSDK_ABI_MINOR + 1, 0, TFSDK_KIND_OP, 0, TFSDK_BUILD_TRAITS,
               .name = "test-longer-nonzero", .version = "1.0", .enroll = enroll},
              {0, 1}};
ENTRY(&manifest.known)
