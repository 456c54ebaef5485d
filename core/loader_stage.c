/* One plugin, from a file to live.
 *
 * Stages: file, entry symbol, query, checks of the manifest, name, needs, probe, open, enroll,
 * live. Of the plugin nothing but query runs before the checks have passed. A failure at any stage
 * undoes the earlier ones, tells its own cause and a hint, and leaves the reason in the candidate
 * for the load report.
 *
 * The stages up to the manifest can be gone through ahead of the others, so that the files of a
 * folder know each other's names before the first of them asks for what it needs. */
#include "loader.h"

/* Every manifest of version 1.0 has at least this. */
#define MANIFEST_MIN (offsetof(tfsdk_plugin, close) + sizeof((tfsdk_plugin *)0)->close)
#define SANITIZERS   ((uint64_t)(TFSDK_BUILD_ASAN | TFSDK_BUILD_TSAN))

static bool good_name(const char *name) {
  size_t n = strlen(name);
  return n > 0 && n <= 64 &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == n;
}

static tfsdk_status *check_traits(uint64_t traits) {
  const uint64_t host = TFSDK_BUILD_TRAITS;
  uint64_t lacking = traits & SANITIZERS & ~host;
  if (lacking != 0)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "built with %s, this host is not; build both in the same way",
                              lacking & TFSDK_BUILD_ASAN ? "AddressSanitizer" : "ThreadSanitizer");
  if ((traits ^ host) & TFSDK_BUILD_LP64)
    return tfsdk__status_make(
        TFSDK_INCOMPATIBLE, "its manifest says that it was built for %d bits, this host has %d",
        traits & TFSDK_BUILD_LP64 ? 64 : 32, host & TFSDK_BUILD_LP64 ? 64 : 32);
  return NULL;
}

/* In this order: each check may rely on the earlier ones. Bytes 0..31 mean the same in every
 * version. */
static tfsdk_status *check_manifest(tfsdk__plugin *p, const tfsdk_plugin *m) {
  if (m == NULL)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "it has no manifest for version %d of the contract (this host is "
                              "%d.%d); get or build it for version %d",
                              TFSDK_ABI_MAJOR, TFSDK_ABI_MAJOR, TFSDK_ABI_MINOR, TFSDK_ABI_MAJOR);
  if (m->magic != TFSDK_PLUGIN_MAGIC)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "its manifest begins with 0x%08x, not with 0x%08x; begin it with "
                              "TFSDK_PLUGIN_HEAD",
                              m->magic, TFSDK_PLUGIN_MAGIC);
  if (m->abi_major != TFSDK_ABI_MAJOR)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "built for version %u.%u of the contract, this host is %d.%d; build "
                              "it with headers of version %d",
                              m->abi_major, m->abi_minor_built, TFSDK_ABI_MAJOR, TFSDK_ABI_MINOR,
                              TFSDK_ABI_MAJOR);
  if (m->abi_minor_need > TFSDK_ABI_MINOR)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "it needs version %u.%u of the contract, this host is %d.%d; take a "
                              "newer tfsdk, or build it with -DTFSDK_TARGET_MINOR=%d",
                              m->abi_major, m->abi_minor_need, TFSDK_ABI_MAJOR, TFSDK_ABI_MINOR,
                              TFSDK_ABI_MINOR);
  TFSDK_TRY(check_traits(m->build_traits));
  if (m->struct_size < MANIFEST_MIN)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "its manifest has %u bytes, version 1.0 of the contract has %u; "
                              "begin it with TFSDK_PLUGIN_HEAD",
                              m->struct_size, (unsigned)MANIFEST_MIN);
  TFSDK_TRY(tfsdk__take(&p->manifest, sizeof p->manifest, m, m->struct_size, "tfsdk_plugin"));
  m = &p->manifest;
  if (m->name == NULL || !good_name(m->name))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "its name is '%s'; a plugin's name has 1 to 64 letters, digits, '-' "
                              "and '_'",
                              m->name ? m->name : "");
  if (m->enroll == NULL)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "its manifest has no enroll; without it a plugin provides nothing");
  return NULL;
}

static tfsdk_status *check_name(tfsdk__loader *l, tfsdk__candidate *c, const tfsdk__plugin *p) {
  const tfsdk__plugin *other = tfsdk__loader_live(l, p->manifest.name);
  if (other == NULL) return NULL;
  c->shadowed = true;
  return tfsdk__status_make(TFSDK_ALREADY_EXISTS,
                            "a plugin named '%s' is loaded already from %s; this one is %s: give "
                            "one of them another name, or remove it",
                            p->manifest.name, other->path[0] ? other->path : "the program itself",
                            p->path[0] ? p->path : "built in");
}

static tfsdk_status *load_needs(tfsdk__loader *l, tfsdk__candidate *c, const tfsdk__plugin *p) {
  tfsdk_status *s = NULL;
  c->asked_by = l->loading;
  l->loading = c;
  for (const char *const *need = p->manifest.needs; s == NULL && need && *need; need++) {
    s = tfsdk__loader_need(l, *need);
    if (s != NULL) tfsdk__status_prefix(s, "it needs %s", *need);
  }
  l->loading = c->asked_by;
  c->asked_by = NULL;
  return s;
}

static tfsdk_status *probe(tfsdk__plugin *p) {
  tfsdk_probe result;
  if (p->manifest.probe == NULL) return NULL;
  memset(&result, 0, sizeof result);
  result.struct_size = sizeof result;
  tfsdk_status *s = p->manifest.probe(&p->host, &result);
  if (s != NULL) {
    tfsdk__status_prefix(s, "its probe failed");
    return s;
  }
  result.why[sizeof result.why - 1] = 0;
  if (result.score > 0) return NULL;
  return tfsdk__status_make(TFSDK_UNAVAILABLE, "it cannot work on this machine: %s",
                            result.why[0] ? result.why : "it does not say why");
}

/* ------------------------------------------------------------------------------------ enrolling */

static void add_fact(tfsdk__loader *l, tfsdk__candidate *c, uint32_t kind, const char *name,
                     const char *extra) {
  tfsdk__fact f = {name, extra ? extra : "", c, kind, 0};
  l->enrolled.data[l->enrolled.n++] = f;
}

/* What a transaction holds, for look-ups by name and for the index. Room was made before. */
static void note_facts(tfsdk__loader *l, tfsdk__candidate *c, const tfsdk__txn *t) {
  for (size_t i = 0; i < t->ops.n; i++)
    add_fact(l, c, TFSDK__FACT_OP, t->ops.data[i]->def.name, NULL);
  for (size_t i = 0; i < t->kernels.n; i++)
    add_fact(l, c, TFSDK__FACT_KERNEL, t->kernels.data[i]->def.op, t->kernels.data[i]->def.device);
  for (size_t i = 0; i < t->devices.n; i++)
    add_fact(l, c, TFSDK__FACT_DEVICE, t->devices.data[i].type, NULL);
  for (size_t i = 0; i < t->readers.n; i++)
    add_fact(l, c, TFSDK__FACT_READER, t->readers.data[i].name, t->readers.data[i].extensions);
  for (size_t i = 0; i < t->writers.n; i++)
    add_fact(l, c, TFSDK__FACT_WRITER, t->writers.data[i].name, t->writers.data[i].extensions);
  for (size_t i = 0; i < t->layers.n; i++)
    add_fact(l, c, TFSDK__FACT_LAYER, t->layers.data[i].name, NULL);
}

static void count_records(tfsdk__candidate *c, tfsdk__plugin *p, const tfsdk__txn *t) {
  p->n_ops = c->n_ops = (uint32_t)t->ops.n;
  p->n_kernels = c->n_kernels = (uint32_t)t->kernels.n;
  p->n_devices = c->n_devices = (uint32_t)t->devices.n;
  p->n_readers = c->n_readers = (uint32_t)t->readers.n;
  p->n_writers = (uint32_t)t->writers.n;
  p->n_layers = (uint32_t)t->layers.n;
}

/* All or nothing: what the plugin registers is seen by nobody before the commit. */
static tfsdk_status *enroll(tfsdk__loader *l, tfsdk__candidate *c, tfsdk__plugin *p) {
  tfsdk__txn t;
  size_t noted = l->enrolled.n;
  if (!TFSDK__GROW(l->rt, &l->rt->plugins, 1)) return TFSDK__NOMEM(l->rt);
  tfsdk__txn_begin(&t, p);
  tfsdk_status *s = p->manifest.enroll(p->self, &t.registrar);
  size_t n = t.ops.n + t.kernels.n + t.devices.n + t.readers.n + t.writers.n + t.layers.n;
  if (s == NULL && !TFSDK__GROW(l->rt, &l->enrolled, n)) s = TFSDK__NOMEM(l->rt);
  if (s != NULL) {
    tfsdk__txn_rollback(&t);
    tfsdk__status_prefix(s, "its enroll failed");
    return s;
  }
  note_facts(l, c, &t);
  count_records(c, p, &t);
  s = tfsdk__txn_commit(&t);
  if (s != NULL) {
    l->enrolled.n = noted;
    c->n_ops = c->n_kernels = c->n_devices = c->n_readers = 0;
    tfsdk__status_prefix(s, "its enroll failed");
    return s;
  }
  l->rt->plugins.data[l->rt->plugins.n++] = p;
  return NULL;
}

/* --------------------------------------------------------------------------------- life and end */

static void quiesce_and_close(tfsdk__plugin *p) {
  if (!p->opened) return;
  p->opened = false;
  if (p->manifest.quiesce != NULL) {
    tfsdk_status *s = p->manifest.quiesce(p->self);
    if (s != NULL)
      tfsdk__loader_log(p->rt, TFSDK_LOG_WARNING, "plugin %s: its quiesce failed: %s",
                        p->manifest.name, tfsdk_status_message(s));
    tfsdk_status_release(s);
  }
  if (p->manifest.close != NULL) p->manifest.close(p->self);
  p->self = NULL;
}

void tfsdk__loader_take_down(tfsdk__plugin *p) {
  tfsdk_runtime *rt = p->rt;
  quiesce_and_close(p);
  size_t blocks = atomic_load(&p->live_blocks);
  if (blocks != 0)
    tfsdk__loader_log(rt, TFSDK_LOG_WARNING,
                      "plugin %s has ended without freeing %zu blocks of memory (%zu bytes)",
                      p->manifest.name, blocks, atomic_load(&p->live_bytes));
  tfsdk__ltdl_close(p->handle);
  tfsdk__free(rt, p->path);
  tfsdk__free(rt, p);
}

/* The manifest's texts are copied: a refused plugin's file is unmapped. */
static void describe(tfsdk_runtime *rt, tfsdk__candidate *c, const tfsdk_plugin *m) {
  tfsdk__loader_set(rt, &c->name, m->name);
  tfsdk__loader_set(rt, &c->version, m->version);
  tfsdk__loader_set(rt, &c->summary, m->summary);
  c->kinds = m->kinds;
  for (const char *const *need = m->needs; need && *need; need++)
    if (strncmp(*need, "device:", 7) == 0) tfsdk__loader_set(rt, &c->needs_device, *need + 7);
}

/* The stages up to the manifest, into c->pending. */
static tfsdk_status *stages_of_file(tfsdk__loader *l, tfsdk__candidate *c, tfsdk__plugin *p) {
  tfsdk_plugin_query_fn *query = c->query;
  if (query == NULL) {
    TFSDK_TRY(tfsdk__elf_check(p->path));
    TFSDK_TRY(tfsdk__ltdl_open(p->path, &p->handle));
    void *symbol = tfsdk__ltdl_symbol(p->handle, "tfsdk_plugin_query");
    if (symbol == NULL)
      return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                                "it exports no symbol tfsdk_plugin_query, so it is no plugin; "
                                "define it with TFSDK_PLUGIN_ENTRY");
    memcpy(&query, &symbol, sizeof query);
  }
  TFSDK_TRY(check_manifest(p, query(TFSDK_ABI_MAJOR, TFSDK_ABI_MINOR)));
  describe(l->rt, c, &p->manifest);
  return NULL;
}

static tfsdk_status *identify(tfsdk__loader *l, tfsdk__candidate *c) {
  tfsdk_runtime *rt = l->rt;
  if (c->pending != NULL) return NULL;
  tfsdk__plugin *p = tfsdk__zalloc(rt, sizeof *p);
  char *path = p ? tfsdk__strdup(rt, c->path) : NULL;
  if (path == NULL) {
    tfsdk__free(rt, p);
    return TFSDK__NOMEM(rt);
  }
  p->path = path;
  p->st_dev = c->dev;
  p->st_ino = c->ino;
  tfsdk__host_init(p, rt);
  p->manifest.name = c->file;
  tfsdk_status *s = stages_of_file(l, c, p);
  if (s != NULL)
    tfsdk__loader_take_down(p);
  else
    c->pending = p;
  return s;
}

static tfsdk_status *stages_of_life(tfsdk__loader *l, tfsdk__candidate *c, tfsdk__plugin *p) {
  TFSDK_TRY(check_name(l, c, p));
  TFSDK_TRY(load_needs(l, c, p));
  TFSDK_TRY(check_name(l, c, p)); /* a need may have brought one of that name */
  TFSDK_TRY(probe(p));
  if (p->manifest.open != NULL) {
    tfsdk_status *s = p->manifest.open(&p->host, NULL, &p->self);
    if (s != NULL) {
      p->self = NULL;
      tfsdk__status_prefix(s, "its open failed");
      return s;
    }
  }
  p->opened = true;
  return enroll(l, c, p);
}

/* Marks the candidate with the error and dresses the error with the file. The host's running out of
 * memory says nothing about the plugin: it may be tried again. */
static tfsdk_status *refuse(tfsdk__loader *l, tfsdk__candidate *c, int32_t before,
                            tfsdk_status *s) {
  int32_t code = tfsdk_status_code(s);
  c->code = code;
  c->state = s == tfsdk__status_no_memory() ? before
             : code == TFSDK_UNAVAILABLE    ? TFSDK__UNAVAILABLE
                                            : TFSDK__REFUSED;
  tfsdk__loader_set(l->rt, &c->detail, tfsdk_status_message(s));
  tfsdk__status_prefix(s, "cannot load plugin %s",
                       c->file[0] ? c->file
                       : c->name  ? c->name
                                  : "(built in)");
  if (c->path[0] != 0) tfsdk__status_add(s, "path", "%s", c->path);
  if (c->name != NULL && c->version != NULL)
    tfsdk__status_add(s, "plugin", "%s %s", c->name, c->version);
  return s;
}

tfsdk_status *tfsdk__loader_identify(tfsdk__loader *l, tfsdk__candidate *c) {
  tfsdk_status *s = identify(l, c);
  return s ? refuse(l, c, c->state, s) : NULL;
}

tfsdk_status *tfsdk__loader_bring_up(tfsdk__loader *l, tfsdk__candidate *c) {
  int32_t before = c->state;
  if (before == TFSDK__LOADED) return NULL;
  c->state = TFSDK__LOADING;
  c->shadowed = false;
  tfsdk_status *s = identify(l, c);
  tfsdk__plugin *p = c->pending;
  c->pending = NULL;
  if (s == NULL) s = stages_of_life(l, c, p);
  if (s != NULL) {
    s = refuse(l, c, before, s);
    if (p != NULL) {
      /* a commit without memory may leave names behind that stand in the plugin's file */
      if (p->handle != NULL && s == tfsdk__status_no_memory()) tfsdk__ltdl_keep(p->handle);
      tfsdk__loader_take_down(p);
    }
    return s;
  }
  if (p->handle != NULL) tfsdk__ltdl_keep(p->handle);
  c->plugin = p;
  c->state = TFSDK__LOADED;
  if (c->code != TFSDK_OK) tfsdk__loader_set(l->rt, &c->detail, NULL);
  c->code = TFSDK_OK;
  tfsdk__loader_log(l->rt, TFSDK_LOG_DEBUG, "plugin %s %s loaded from %s", p->manifest.name,
                    p->manifest.version ? p->manifest.version : "", c->path);
  return NULL;
}
