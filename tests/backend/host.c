/* host.c - see host.h. */
#include "host.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static backend *of(const tfsdk_host *h) { return (backend *)(uintptr_t)h; }

static const void *iface(const tfsdk_host *h, const char *name, uint32_t version) {
  (void)h, (void)name, (void)version;
  return NULL;
}
static tfsdk_status *fail(const tfsdk_host *h, int32_t code, const char *file, int32_t line,
                          const char *format, ...) {
  tfsdk_status *s = malloc(sizeof *s);
  va_list args;
  (void)h, (void)file, (void)line;
  if (s == NULL) abort();
  s->code = code;
  va_start(args, format);
  vsnprintf(s->text, sizeof s->text, format, args);
  va_end(args);
  return s;
}
static void drop(const tfsdk_host *h, tfsdk_status *s) {
  (void)h;
  free(s);
}
static int32_t code(const tfsdk_host *h, const tfsdk_status *s) {
  (void)h;
  return s ? s->code : TFSDK_OK;
}
static const char *message(const tfsdk_host *h, const tfsdk_status *s) {
  (void)h;
  return s ? s->text : "";
}
static void keep_log(const tfsdk_host *h, int32_t level, const char *text) {
  if (level < TFSDK_LOG_ERROR) return;
  of(h)->n_complaints++;
  fprintf(stderr, "    the plugin says: %s\n", text);
}
static void *counted_realloc(const tfsdk_host *h, void *block, size_t old_bytes, size_t new_bytes) {
  void *p = NULL;
  if (new_bytes == 0)
    free(block);
  else if ((p = realloc(block, new_bytes)) == NULL)
    return NULL;
  atomic_fetch_add(&of(h)->bytes, (long long)new_bytes - (long long)(block ? old_bytes : 0));
  return p;
}

/* ------------------------------------------------------------------------------------ registrar */

typedef struct registrar {
  tfsdk_registrar base; /* first */
  backend *b;
} registrar;

static tfsdk_status *take_op(tfsdk_registrar *r, const tfsdk_opdef *def) {
  (void)r, (void)def;
  return NULL;
}
static tfsdk_status *take_kernel(tfsdk_registrar *r, const tfsdk_kerneldef *def) {
  backend *b = ((registrar *)r)->b;
  b->n_kernels += strcmp(def->device, b->type) == 0;
  return NULL;
}
static tfsdk_status *take_device(tfsdk_registrar *r, const tfsdk_devdef *def) {
  backend *b = ((registrar *)r)->b;
  size_t n = def->struct_size < sizeof b->def ? def->struct_size : sizeof b->def;
  if (strcmp(def->type, b->type) == 0) memcpy(&b->def, def, n);
  return NULL;
}
static tfsdk_status *take_layer(tfsdk_registrar *r, const tfsdk_layerdef *def) {
  (void)r, (void)def;
  return NULL;
}
static tfsdk_status *take_reader(tfsdk_registrar *r, const tfsdk_readerdef *def) {
  (void)r, (void)def;
  return NULL;
}
static tfsdk_status *take_writer(tfsdk_registrar *r, const tfsdk_writerdef *def) {
  (void)r, (void)def;
  return NULL;
}

const char *backend_open(backend *b, const char *type, const char *path) {
  memset(b, 0, sizeof *b);
  b->type = type;
  b->path = path;
  b->host = (tfsdk_host){.struct_size = sizeof b->host,
                         .abi_major = TFSDK_ABI_MAJOR,
                         .abi_minor = TFSDK_ABI_MINOR,
                         .version = "0",
                         .iface = iface,
                         .fail = fail,
                         .drop = drop,
                         .code = code,
                         .message = message,
                         .log = keep_log,
                         .realloc = counted_realloc,
                         .self_path = path};
  b->file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (b->file == NULL) return dlerror();
  tfsdk_plugin_query_fn *query;
  *(void **)&query = dlsym(b->file, "tfsdk_plugin_query");
  b->plugin = query ? query(TFSDK_ABI_MAJOR, TFSDK_ABI_MINOR) : NULL;
  if (b->plugin == NULL) return "no manifest";
  if (b->plugin->open != NULL && b->plugin->open(&b->host, NULL, &b->self) != NULL)
    return "open fails";
  registrar r = {{&b->host, sizeof r.base, 0, take_op, take_kernel, take_device, take_layer,
                  take_reader, take_writer},
                 b};
  if (b->plugin->enroll(b->self, &r.base) != NULL) return "enroll fails";
  return b->def.type != NULL ? NULL : "the plugin has no such device";
}

long long backend_close(backend *b) {
  if (b->plugin != NULL && b->plugin->quiesce != NULL) drop(&b->host, b->plugin->quiesce(b->self));
  if (b->plugin != NULL && b->plugin->close != NULL) b->plugin->close(b->self);
  if (b->file != NULL) dlclose(b->file);
  return atomic_load(&b->bytes);
}
