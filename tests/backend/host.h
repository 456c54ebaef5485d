/* host.h - a host for one plugin, without the core: what a backend may rely on is in the contract's
 * headers, so this is enough to try its device. Memory is counted, errors are kept as text. */
#ifndef TESTS_BACKEND_HOST_H
#define TESTS_BACKEND_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <tfsdk/device.h>

struct tfsdk_status {
  int32_t code;
  char text[400];
};

typedef struct backend {
  tfsdk_host host; /* first: the callbacks find the rest through it */
  const char *type, *path;
  void *file;
  const tfsdk_plugin *plugin;
  void *self;
  tfsdk_devdef def; /* what enroll gave */
  uint32_t n_kernels, n_complaints;
  atomic_llong bytes; /* in the plugin's hands */
} backend;

/* Loads the file, opens the plugin and takes its device of that type. An error's text, or NULL. */
const char *backend_open(backend *b, const char *type, const char *path);
/* Closes and unloads; gives the bytes that the plugin has not given back. */
long long backend_close(backend *b);

#endif
