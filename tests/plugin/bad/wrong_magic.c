/* The manifest does not begin as manifests do. */
#include "bad.h"
ENROLL_OP("test.WrongMagic")
static const tfsdk_plugin manifest = {.magic = 0x12345678u,
                                      .struct_size = sizeof(tfsdk_plugin),
                                      .abi_major = TFSDK_ABI_MAJOR,
                                      .name = "test-wrong-magic",
                                      .enroll = enroll};
ENTRY(&manifest)
