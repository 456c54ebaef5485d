/* tfsdk/plugin.h - what a plugin is: its manifest, the host's table, and errors.
 *
 * A plugin is a shared object with one exported symbol, `tfsdk_plugin_query`, that returns a
 * constant manifest. It links neither libtfsdk nor Lua: everything it may call stands in the
 * `tfsdk_host` table that the host hands to it. A complete plugin with no content:
 *
 *     #include <tfsdk/plugin.h>
 *     static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
 *       (void)self, (void)r;
 *       return NULL;
 *     }
 *     static const tfsdk_plugin manifest = {
 *         TFSDK_PLUGIN_HEAD(TFSDK_KIND_OP), .name = "acme-empty", .version = "1.0",
 *         .summary = "does nothing", .enroll = enroll};
 *     TFSDK_PLUGIN_ENTRY(acme_empty, &manifest)
 *
 * Order of life: query, checks of the manifest, probe, open, enroll, (use), quiesce, close. Nothing
 * of the plugin but query runs before the checks have passed. These calls come on one thread at a
 * time.
 *
 * Conventions of all headers of this folder
 *   errors     A function that can fail returns `tfsdk_status *`: NULL is success, anything else is
 * owned by the receiver, who returns it to its own caller or releases it once. Output parameters
 *              are written only on success unless said otherwise. Nothing aborts, exits or prints.
 *   ownership  `*_create/_copy/_import` hand over one reference; `*_get/_view` lend; a parameter
 * named `take_*` is consumed even when the call fails. evolution  Every record begins with
 * `struct_size`; new fields come at the end; a field that a plugin does not know is zero, and zero
 * always means "the default". types      Only C scalars, pointers and structs of them cross the
 * boundary; flags and enumerations travel as fixed-width integers.
 */
#ifndef TFSDK_PLUGIN_H
#define TFSDK_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The contract's version. A plugin loads if its major is the host's and the minor it needs is not
 * newer than the host's; `built` is information only. */
#define TFSDK_ABI_MAJOR 1
#define TFSDK_ABI_MINOR 0
/* An author lowers this to run on older hosts. \since 1.0 */
#ifndef TFSDK_TARGET_MINOR
#define TFSDK_TARGET_MINOR TFSDK_ABI_MINOR
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TFSDK_MUST_USE     __attribute__((warn_unused_result))
#define TFSDK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define TFSDK_EXPORT       __attribute__((visibility("default")))
#else
#define TFSDK_MUST_USE
#define TFSDK_PRINTF(f, a)
#define TFSDK_EXPORT
#endif

/* ---------------------------------------------------------------------------------------- errors
 */

/* One list gives code, name and the word that messages begin with. The first 17 are the canonical
 * codes of gRPC and TensorFlow, with their numbers; INCOMPATIBLE says that two versions cannot work
 * together. */
#define TFSDK_CODES(X)                                                                             \
  X(OK, 0)                                                                                         \
  X(CANCELLED, 1)                                                                                  \
  X(UNKNOWN, 2)                                                                                    \
  X(INVALID_ARGUMENT, 3)                                                                           \
  X(DEADLINE_EXCEEDED, 4)                                                                          \
  X(NOT_FOUND, 5)                                                                                  \
  X(ALREADY_EXISTS, 6)                                                                             \
  X(PERMISSION_DENIED, 7)                                                                          \
  X(RESOURCE_EXHAUSTED, 8)                                                                         \
  X(FAILED_PRECONDITION, 9)                                                                        \
  X(ABORTED, 10)                                                                                   \
  X(OUT_OF_RANGE, 11)                                                                              \
  X(UNIMPLEMENTED, 12)                                                                             \
  X(INTERNAL, 13)                                                                                  \
  X(UNAVAILABLE, 14)                                                                               \
  X(DATA_LOSS, 15)                                                                                 \
  X(UNAUTHENTICATED, 16)                                                                           \
  X(INCOMPATIBLE, 17)

enum tfsdk_code {
#define TFSDK_CODE_ENUM_(name, number) TFSDK_##name = number,
  TFSDK_CODES(TFSDK_CODE_ENUM_)
#undef TFSDK_CODE_ENUM_
};

typedef struct tfsdk_status tfsdk_status; /* opaque; made by the host only; NULL is success */

/* Returns the error of `expr` to the caller, if there is one. */
#define TFSDK_TRY(expr)                                                                            \
  do {                                                                                             \
    tfsdk_status *tfsdk_try_ = (expr);                                                             \
    if (tfsdk_try_ != NULL) return tfsdk_try_;                                                     \
  } while (0)

/* Makes an error. `c` is any context that the host handed to the plugin (infer, run, emission,
 * gradient, kernel build): each begins with its host. The text says what was wrong, the value, and
 * what was expected; the host adds op, node, shapes and script line by itself. */
#define TFSDK_FAIL(c, code, ...)                                                                   \
  ((c)->host->fail((c)->host, TFSDK_##code, __FILE__, __LINE__, __VA_ARGS__))

/* Returns an INVALID_ARGUMENT error unless `cond` holds. */
#define TFSDK_REQUIRE(c, cond, ...)                                                                \
  do {                                                                                             \
    if (!(cond)) return TFSDK_FAIL(c, INVALID_ARGUMENT, __VA_ARGS__);                              \
  } while (0)

/* ------------------------------------------------------------------------------------------ host
 */

enum tfsdk_log_level {
  TFSDK_LOG_DEBUG = 0,
  TFSDK_LOG_INFO = 1,
  TFSDK_LOG_WARNING = 2,
  TFSDK_LOG_ERROR = 3,
  TFSDK_LOG_NONE = 4
};

/* The host as one plugin sees it. Valid from probe until close returns; every member may be called
 * from any thread. There is one table for each loaded plugin, so that memory, log lines and errors
 * name it. */
typedef struct tfsdk_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  const char *version; /* the host's own version, for messages */
  /* A further table by name and version; NULL when this host has none. */
  const void *(*iface)(const struct tfsdk_host *host, const char *name, uint32_t version);
  /* Makes an error. The text is formatted and copied at once. Never returns NULL: when memory is
   * out it returns a static error of code RESOURCE_EXHAUSTED. */
  tfsdk_status *(*fail)(const struct tfsdk_host *host, int32_t code, const char *file, int32_t line,
                        const char *format, ...)TFSDK_PRINTF(5, 6);
  /* Releases an error that the plugin has dealt with itself. NULL is allowed. */
  void (*drop)(const struct tfsdk_host *host, tfsdk_status *take_status);
  int32_t (*code)(const struct tfsdk_host *host, const tfsdk_status *status);
  const char *(*message)(const struct tfsdk_host *host, const tfsdk_status *status);
  void (*log)(const struct tfsdk_host *host, int32_t level, const char *message);
  /* Memory, counted for this plugin. `old_bytes` is the size that was asked for before (0 with a
   * NULL block); new_bytes 0 frees. NULL when memory is out; the old block is then untouched. */
  void *(*realloc)(const struct tfsdk_host *host, void *block, size_t old_bytes, size_t new_bytes);
  const char *self_path; /* the plugin's own file, absolute; "" in a static build */
} tfsdk_host;

/* -------------------------------------------------------------------------------------- manifest
 */

enum tfsdk_plugin_kind { /* bits of `kinds` */
                         TFSDK_KIND_OP = 1,
                         TFSDK_KIND_DEVICE = 2,
                         TFSDK_KIND_LAYER = 4,
                         TFSDK_KIND_READER = 8,
                         TFSDK_KIND_WRITER = 16,
                         TFSDK_KIND_KERNEL = 32
};

enum tfsdk_build_trait { /* bits of `build_traits`: the host refuses what cannot work with it */
                         TFSDK_BUILD_ASAN = 1,
                         TFSDK_BUILD_TSAN = 2,
                         TFSDK_BUILD_LP64 = 4 /* 64-bit long and size_t */
};

#if defined(__SANITIZE_ADDRESS__)
#define TFSDK_BUILD_SANITIZER_ TFSDK_BUILD_ASAN
#elif defined(__SANITIZE_THREAD__)
#define TFSDK_BUILD_SANITIZER_ TFSDK_BUILD_TSAN
#else
#define TFSDK_BUILD_SANITIZER_ 0
#endif
#define TFSDK_BUILD_TRAITS                                                                         \
  ((uint64_t)TFSDK_BUILD_SANITIZER_ | (sizeof(void *) == 8 ? (uint64_t)TFSDK_BUILD_LP64 : 0))

#define TFSDK_PLUGIN_MAGIC 0x4b534654u /* "TFSK" in memory order on a little-endian machine */

/* What probe finds out: 0 "cannot work here", 100 "the best there is", and why. */
typedef struct tfsdk_probe {
  uint32_t struct_size;
  int32_t score;
  char why[240];
} tfsdk_probe;

typedef struct tfsdk_opdef tfsdk_opdef;         /* op.h */
typedef struct tfsdk_kerneldef tfsdk_kerneldef; /* kernel.h */
typedef struct tfsdk_devdef tfsdk_devdef;       /* device.h */
typedef struct tfsdk_layerdef tfsdk_layerdef;   /* emit.h */
typedef struct tfsdk_readerdef tfsdk_readerdef; /* io.h */
typedef struct tfsdk_writerdef tfsdk_writerdef; /* io.h */

/* Collects what a plugin provides; valid only during enroll. Records are copied; the strings and
 * functions they point to must live as long as the plugin. Nothing is visible to others before
 * enroll has returned NULL, and nothing at all when any record is refused. */
typedef struct tfsdk_registrar {
  const tfsdk_host *host;
  uint32_t struct_size;
  uint32_t reserved;
  tfsdk_status *(*op)(struct tfsdk_registrar *r, const tfsdk_opdef *def);
  tfsdk_status *(*kernel)(struct tfsdk_registrar *r, const tfsdk_kerneldef *def);
  tfsdk_status *(*device)(struct tfsdk_registrar *r, const tfsdk_devdef *def);
  tfsdk_status *(*layer)(struct tfsdk_registrar *r, const tfsdk_layerdef *def);
  tfsdk_status *(*reader)(struct tfsdk_registrar *r, const tfsdk_readerdef *def);
  tfsdk_status *(*writer)(struct tfsdk_registrar *r, const tfsdk_writerdef *def);
} tfsdk_registrar;

/* Constant data of the plugin. Its first 32 bytes have the same meaning in every major version. */
typedef struct tfsdk_plugin {
  uint32_t magic; /* TFSDK_PLUGIN_MAGIC */
  uint32_t struct_size;
  uint16_t abi_major, abi_minor_need, abi_minor_built, reserved0;
  uint32_t kinds;        /* TFSDK_KIND_* */
  uint32_t flags;        /* none yet */
  uint64_t build_traits; /* TFSDK_BUILD_TRAITS */
  const char *name;      /* unique: "acme-leaky"; letters, digits, '-' and '_' */
  const char *version;   /* "1.2.0" */
  const char *summary;   /* one line */
  /* NULL-ended list, or NULL, of what must be there before: the name of another plugin, or
   * "device:TYPE". The host loads it first. */
  const char *const *needs;
  /* Says whether the plugin can work on this machine (driver there, CPU able) and leaves nothing
   * behind. NULL: always. */
  tfsdk_status *(*probe)(const tfsdk_host *host, tfsdk_probe *out);
  /* Makes the plugin's own state. `options` is JSON text or NULL. NULL: no state. */
  tfsdk_status *(*open)(const tfsdk_host *host, const char *options, void **out_self);
  /* Hands over the records; registers, and does nothing else. Required. */
  tfsdk_status *(*enroll)(void *self, tfsdk_registrar *r);
  /* Stops threads, drops handles, flushes. NULL: nothing to do. */
  tfsdk_status *(*quiesce)(void *self);
  void (*close)(void *self);
} tfsdk_plugin;

#define TFSDK_PLUGIN_HEAD(kinds_)                                                                  \
  TFSDK_PLUGIN_MAGIC, (uint32_t)sizeof(tfsdk_plugin), TFSDK_ABI_MAJOR, TFSDK_TARGET_MINOR,         \
      TFSDK_ABI_MINOR, 0, (kinds_), 0, TFSDK_BUILD_TRAITS

/* Pure: allocates nothing, starts nothing, returns the same pointer each time. NULL says "I have no
 * manifest for this major version". */
typedef const tfsdk_plugin *tfsdk_plugin_query_fn(uint32_t host_major, uint32_t host_minor);

#ifdef TFSDK_STATIC_PLUGIN
#define TFSDK_ENTRY_SYMBOL_(prefix) prefix##_LTX_tfsdk_plugin_query
#else
#define TFSDK_ENTRY_SYMBOL_(prefix) tfsdk_plugin_query
#endif
/* Defines the one exported symbol. `prefix` keeps the entries apart in a static build. */
#define TFSDK_PLUGIN_ENTRY(prefix, manifest)                                                       \
  TFSDK_EXPORT const tfsdk_plugin *TFSDK_ENTRY_SYMBOL_(prefix)(uint32_t host_major,                \
                                                               uint32_t host_minor);               \
  const tfsdk_plugin *TFSDK_ENTRY_SYMBOL_(prefix)(uint32_t host_major, uint32_t host_minor) {      \
    (void)host_minor;                                                                              \
    return host_major == TFSDK_ABI_MAJOR ? (manifest) : NULL;                                      \
  }

#ifdef __cplusplus
}
#endif
#endif
