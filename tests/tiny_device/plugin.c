/* plugin.c - manifest of the pretend accelerator. */
#include "tiny.h"

static const int32_t float32_only[] = {TFSDK_FLOAT32, 0};
const tfsdk_where tiny_float32[1] = {{"T", float32_only}};

extern const tfsdk_unit tfsdk_unit_conv2d, tfsdk_unit_elementwise, tfsdk_unit_mat_mul,
    tfsdk_unit_sum, tfsdk_unit_train;

static tfsdk_status *open_plugin(const tfsdk_host *host, const char *options, void **out_self) {
  tiny_machine *m = (tiny_machine *)host->realloc(host, NULL, 0, sizeof *m);
  (void)options;
  if (m == NULL) return host->fail(host, TFSDK_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "no memory");
  memset(m, 0, sizeof *m);
  m->host = host;
  *out_self = m;
  return NULL;
}

static void close_plugin(void *self) {
  tiny_machine *m = (tiny_machine *)self;
  m->host->realloc(m->host, m, sizeof *m, 0);
}

static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  static const tfsdk_unit *const units[] = {&tfsdk_unit_conv2d, &tfsdk_unit_elementwise,
                                            &tfsdk_unit_mat_mul, &tfsdk_unit_sum,
                                            &tfsdk_unit_train};
  (void)self;
  TFSDK_TRY(r->device(r, &tiny_device));
  for (uint32_t i = 0; i < TFSDK_COUNT(units); i++) TFSDK_TRY(tfsdk_unit_enroll(units[i], r));
  return NULL;
}

static const tfsdk_plugin manifest = {TFSDK_PLUGIN_HEAD(TFSDK_KIND_DEVICE | TFSDK_KIND_KERNEL),
                                      .name = "tiny-device",
                                      .version = "1.0",
                                      .summary = "a pretend accelerator, for tests",
                                      .open = open_plugin,
                                      .enroll = enroll,
                                      .close = close_plugin};
TFSDK_PLUGIN_ENTRY(tiny_device, &manifest)
