/* The host table: all that a plugin can call. Each plugin gets a table of its own, so that errors,
 * log lines and memory carry its name without its doing anything for it. */
#include "internal.h"

static const void *no_iface(const tfsdk_host *host, const char *name, uint32_t version) {
  (void)host;
  (void)name;
  (void)version;
  return NULL; /* version 1.0 of the contract has no further tables */
}

static void drop(const tfsdk_host *host, tfsdk_status *take_status) {
  (void)host;
  tfsdk_status_release(take_status);
}

static int32_t code_of(const tfsdk_host *host, const tfsdk_status *status) {
  (void)host;
  return tfsdk_status_code(status);
}

static const char *message_of(const tfsdk_host *host, const tfsdk_status *status) {
  (void)host;
  return tfsdk_status_message(status);
}

/* An error must not look like success, whatever code the caller chose. */
static int32_t error_code(int32_t code) {
  return code > TFSDK_OK && code <= TFSDK_INCOMPATIBLE ? code : TFSDK_UNKNOWN;
}

static int32_t clamp_level(int32_t level) {
  return level < TFSDK_LOG_DEBUG   ? TFSDK_LOG_DEBUG
         : level > TFSDK_LOG_ERROR ? TFSDK_LOG_ERROR
                                   : level;
}

static void fill(tfsdk_host *h) {
  h->struct_size = sizeof *h;
  h->abi_major = TFSDK_ABI_MAJOR;
  h->abi_minor = TFSDK_ABI_MINOR;
  h->version = tfsdk_version();
  h->iface = no_iface;
  h->drop = drop;
  h->code = code_of;
  h->message = message_of;
  h->self_path = "";
}

/* ------------------------------------------------------------------------- a plugin's own table */

static tfsdk_status *plugin_fail(const tfsdk_host *host, int32_t code, const char *file,
                                 int32_t line, const char *format, ...) TFSDK_PRINTF(5, 6);

static tfsdk_status *plugin_fail(const tfsdk_host *host, int32_t code, const char *file,
                                 int32_t line, const char *format, ...) {
  const tfsdk_plugin *m = &tfsdk__plugin_of(host)->manifest;
  va_list args;
  (void)file; /* kept in the table for debuggers: a breakpoint here shows where an error is made */
  (void)line;
  va_start(args, format);
  tfsdk_status *s = tfsdk__status_vmake(error_code(code), format, args);
  va_end(args);
  if (m->version != NULL && m->version[0] != 0)
    tfsdk__status_add(s, "plugin", "%s %s", m->name, m->version);
  else
    tfsdk__status_add(s, "plugin", "%s", m->name);
  return s;
}

static void plugin_log(const tfsdk_host *host, int32_t level, const char *message) {
  const tfsdk__plugin *p = tfsdk__plugin_of(host);
  level = clamp_level(level);
  if (level < p->rt->log_level) return;
  tfsdk__buf line = {0};
  tfsdk__buf_add(&line, "%s: %s", p->manifest.name, message ? message : "");
  tfsdk_runtime_log(p->rt, level, line.failed ? message : line.s);
  tfsdk__buf_deinit(&line);
}

/* The block's true size is known here, so a wrong `old_bytes` cannot upset the account. */
static void *plugin_realloc(const tfsdk_host *host, void *block, size_t old_bytes,
                            size_t new_bytes) {
  tfsdk__plugin *p = tfsdk__plugin_of(host);
  size_t had = block ? tfsdk__alloc_bytes(block) : 0;
  void *fresh = NULL;
  (void)old_bytes;
  if (new_bytes != 0) {
    fresh = tfsdk__realloc(p->rt, block, new_bytes);
    if (fresh == NULL) return NULL;
    if (block == NULL) atomic_fetch_add_explicit(&p->live_blocks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->live_bytes, new_bytes, memory_order_relaxed);
  } else if (block != NULL) {
    tfsdk__free(p->rt, block);
    atomic_fetch_sub_explicit(&p->live_blocks, 1, memory_order_relaxed);
  }
  atomic_fetch_sub_explicit(&p->live_bytes, had, memory_order_relaxed);
  return fresh;
}

void tfsdk__host_init(tfsdk__plugin *p, tfsdk_runtime *rt) {
  p->rt = rt;
  fill(&p->host);
  p->host.fail = plugin_fail;
  p->host.log = plugin_log;
  p->host.realloc = plugin_realloc;
  p->host.self_path = p->path ? p->path : "";
}

/* ------------------------------------------------------------------------- the core's own table */

static tfsdk_runtime *runtime_of(const tfsdk_host *host) {
  return (tfsdk_runtime *)((uintptr_t)host - offsetof(tfsdk_runtime, core_host));
}

static tfsdk_status *core_fail(const tfsdk_host *host, int32_t code, const char *file, int32_t line,
                               const char *format, ...) TFSDK_PRINTF(5, 6);

static tfsdk_status *core_fail(const tfsdk_host *host, int32_t code, const char *file, int32_t line,
                               const char *format, ...) {
  va_list args;
  (void)host;
  (void)file;
  (void)line;
  va_start(args, format);
  tfsdk_status *s = tfsdk__status_vmake(error_code(code), format, args);
  va_end(args);
  return s;
}

static void core_log(const tfsdk_host *host, int32_t level, const char *message) {
  tfsdk_runtime_log(runtime_of(host), clamp_level(level), message ? message : "");
}

static void *core_realloc(const tfsdk_host *host, void *block, size_t old_bytes, size_t new_bytes) {
  tfsdk_runtime *rt = runtime_of(host);
  (void)old_bytes;
  if (new_bytes != 0) return tfsdk__realloc(rt, block, new_bytes);
  tfsdk__free(rt, block);
  return NULL;
}

void tfsdk__host_init_core(tfsdk_runtime *rt) {
  fill(&rt->core_host);
  rt->core_host.fail = core_fail;
  rt->core_host.log = core_log;
  rt->core_host.realloc = core_realloc;
  rt->host = &rt->core_host;
}
