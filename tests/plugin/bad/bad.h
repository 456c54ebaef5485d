/* What the plugins of this folder have in common: a valid op and a valid manifest, to be spoiled in
 * one point each. */
#ifndef TFSDK_TESTS_BAD_H
#define TFSDK_TESTS_BAD_H

#include <tfsdk/unit.h>

#define UNUSED __attribute__((unused))

static UNUSED tfsdk_status *infer(tfsdk_infer *c) {
  c->out[0].shape = c->in[0].shape;
  return NULL;
}

static UNUSED tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  memcpy(r->out[0].data, r->in[0].data, (size_t)r->out[0].n_elem * sizeof(float));
  return NULL;
}

static UNUSED const tfsdk_arg in[] = {{"x", "float32", "any", 0, 0}};
static UNUSED const tfsdk_arg out[] = {{"y", "float32", "x", 0, 0}};
static UNUSED const char *const samples[] = {"float32[2]", NULL};

#define OP(name_)                                                                                  \
  {                                                                                                \
    TFSDK_OP_HEAD(name_, "its input"), .doc = "Gives its input.", .in = in, .n_in = 1, .out = out, \
                                       .n_out = 1, .infer = infer, .reference = compute,           \
                                       .no_grad_reason = "a test", .samples = samples              \
  }

/* enroll: registers one op. */
#define ENROLL_OP(name_)                                                                           \
  static const tfsdk_opdef op = OP(name_);                                                         \
  static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {                                    \
    (void)self;                                                                                    \
    return r->op(r, &op);                                                                          \
  }

#define ENTRY(manifest)                                                                            \
  TFSDK_EXPORT const tfsdk_plugin *tfsdk_plugin_query(uint32_t, uint32_t);                         \
  const tfsdk_plugin *tfsdk_plugin_query(uint32_t host_major, uint32_t host_minor) {               \
    (void)host_major;                                                                              \
    (void)host_minor;                                                                              \
    return manifest;                                                                               \
  }

#define MANIFEST(name_, ...)                                                                       \
  static const tfsdk_plugin manifest = {                                                           \
      TFSDK_PLUGIN_HEAD(TFSDK_KIND_OP),   .name = name_,    .version = "1.0",                      \
      .summary = "a plugin of the tests", .enroll = enroll, ##__VA_ARGS__};                        \
  ENTRY(&manifest)

#endif
