/* Which plugins there are, and which of them is opened when.
 *
 * The search path is, in this order: the option plugin_path, TFSDK_PLUGIN_PATH, and the folder
 * tfsdk-1/plugins beside libtfsdk. Nothing is read before the first look-up of something that no
 * live plugin has. Then the folders' indexes tell which file provides what, and a look-up opens
 * that file alone; files that no index vouches for are opened at once, because only they themselves
 * can tell.
 *
 * A file is known by device and inode, so a link to it is the same plugin; a plugin is known by the
 * name in its manifest. Of two files with one name the first on the path counts. A plugin that
 * somebody asked for by name or path and that fails is an error; one that was merely found is a
 * line in the log. Either way it stays in the load report. */
#include "loader.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const tfsdk__fact_word[TFSDK__FACT_KINDS] = {"op",     "kernel", "device",
                                                         "reader", "layer",  "writer"};

void tfsdk__loader_log(tfsdk_runtime *rt, int32_t level, const char *format, ...) {
  char line[2048];
  va_list args;
  if (level < rt->log_level) return;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  tfsdk_runtime_log(rt, level, line);
}

void tfsdk__loader_set(tfsdk_runtime *rt, char **field, const char *text) {
  if (text != NULL && *field != NULL && strcmp(*field, text) == 0) return;
  char *copy = text ? tfsdk__strdup(rt, text) : NULL;
  if (text != NULL && copy == NULL) return;
  tfsdk__free(rt, *field);
  *field = copy;
}

/* ----------------------------------------------------------------------------------- candidates */

tfsdk__candidate *tfsdk__loader_by_file(tfsdk__loader *l, uint64_t dev, uint64_t ino) {
  for (size_t i = 0; ino != 0 && i < l->candidates.n; i++)
    if (l->candidates.data[i]->ino == ino && l->candidates.data[i]->dev == dev)
      return l->candidates.data[i];
  return NULL;
}

static tfsdk__candidate *by_path(tfsdk__loader *l, const char *path) {
  for (size_t i = 0; i < l->candidates.n; i++)
    if (strcmp(l->candidates.data[i]->path, path) == 0) return l->candidates.data[i];
  return NULL;
}

static void free_candidate(tfsdk_runtime *rt, tfsdk__candidate *c) {
  if (c->pending != NULL) tfsdk__loader_take_down(c->pending);
  tfsdk__free(rt, c->path);
  tfsdk__free(rt, c->name);
  tfsdk__free(rt, c->version);
  tfsdk__free(rt, c->summary);
  tfsdk__free(rt, c->detail);
  tfsdk__free(rt, c->needs_device);
  tfsdk__free(rt, c);
}

static tfsdk_status *new_candidate(tfsdk__loader *l, int32_t folder, const char *path,
                                   tfsdk__candidate **out) {
  tfsdk_runtime *rt = l->rt;
  if (!TFSDK__GROW(rt, &l->candidates, 1)) return TFSDK__NOMEM(rt);
  tfsdk__candidate *c = tfsdk__zalloc(rt, sizeof *c);
  char *copy = c ? tfsdk__strdup(rt, path) : NULL;
  if (copy == NULL) {
    tfsdk__free(rt, c);
    return TFSDK__NOMEM(rt);
  }
  const char *slash = strrchr(copy, '/');
  c->path = copy;
  c->file = slash ? slash + 1 : copy;
  c->folder = folder;
  l->candidates.data[l->candidates.n++] = c;
  *out = c;
  return NULL;
}

tfsdk_status *tfsdk__loader_candidate(tfsdk__loader *l, int32_t folder, const char *path,
                                      uint64_t dev, uint64_t ino, tfsdk__candidate **out) {
  tfsdk__candidate *c = tfsdk__loader_by_file(l, dev, ino);
  if (c == NULL && ino == 0) c = by_path(l, path);
  if (c == NULL) {
    TFSDK_TRY(new_candidate(l, folder, path, &c));
    c->dev = dev;
    c->ino = ino;
  }
  *out = c;
  return NULL;
}

tfsdk__plugin *tfsdk__loader_live(tfsdk__loader *l, const char *name) {
  for (size_t i = 0; i < l->rt->plugins.n; i++)
    if (strcmp(l->rt->plugins.data[i]->manifest.name, name) == 0) return l->rt->plugins.data[i];
  return NULL;
}

void tfsdk__loader_shadow(tfsdk__loader *l, tfsdk__candidate *c, const char *other_path) {
  c->state = TFSDK__REFUSED;
  c->shadowed = true;
  c->code = TFSDK_ALREADY_EXISTS;
  tfsdk__buf why = {0};
  tfsdk__buf_add(&why, "another plugin named '%s' came first: %s", c->name ? c->name : c->file,
                 other_path[0] ? other_path : "built into the program");
  if (!why.failed) tfsdk__loader_set(l->rt, &c->detail, why.s);
  tfsdk__buf_deinit(&why);
  /* earlier folders override later ones; two in one folder are a mistake */
  size_t dir = (size_t)(c->file - c->path);
  bool same_folder =
      strncmp(c->path, other_path, dir) == 0 && strchr(other_path + dir, '/') == NULL;
  tfsdk__loader_log(l->rt, same_folder ? TFSDK_LOG_WARNING : TFSDK_LOG_INFO,
                    "plugin %s is not used: %s", c->path, c->detail ? c->detail : "");
}

/* Opens a candidate that was found rather than asked for. */
static tfsdk_status *bring_up_found(tfsdk__loader *l, tfsdk__candidate *c) {
  const tfsdk__plugin *other = c->name ? tfsdk__loader_live(l, c->name) : NULL;
  if (other != NULL) {
    tfsdk__loader_shadow(l, c, other->path);
    return NULL;
  }
  return tfsdk__loader_bring_up(l, c);
}

/* A failure that nobody asked about: a line in the log, quieter where it is in the order of things.
 */
static void note_failure(tfsdk__loader *l, tfsdk__candidate *c, tfsdk_status *s) {
  if (s == NULL) return;
  bool expected = c->shadowed || c->state == TFSDK__UNAVAILABLE;
  tfsdk__loader_log(l->rt, expected ? TFSDK_LOG_INFO : TFSDK_LOG_WARNING, "%s (%s)",
                    tfsdk_status_message(s), c->path);
  tfsdk_status_release(s);
}

/* The error of a candidate that failed before. */
static tfsdk_status *remembered(const tfsdk__candidate *c) {
  tfsdk_status *s = tfsdk__status_make(c->code, "cannot load plugin %s: %s", c->file,
                                       c->detail ? c->detail : "it failed before");
  tfsdk__status_add(s, "path", "%s", c->path);
  return s;
}

/* Makes sure that a candidate which provides something is live. */
static tfsdk_status *demand(tfsdk__loader *l, tfsdk__candidate *c) {
  switch (c->state) {
  case TFSDK__LOADED:
  case TFSDK__LOADING: return NULL;
  case TFSDK__REFUSED:
  case TFSDK__UNAVAILABLE: return c->shadowed ? NULL : remembered(c);
  default: return bring_up_found(l, c);
  }
}

/* ------------------------------------------------------------------------------------ discovery */

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_plugin_file(const char *name) {
  size_t n = strlen(name);
  return name[0] != '.' && n > 3 && strcmp(name + n - 3, ".so") == 0;
}

/* A file of a folder, unless the index has told of it. */
static tfsdk_status *found_file(tfsdk__loader *l, int32_t folder, const char *name, bool indexed) {
  tfsdk__buf path = {0};
  struct stat st;
  tfsdk_status *s = NULL;
  tfsdk__buf_add(&path, "%s/%s", l->folders.data[folder], name);
  if (path.failed)
    s = TFSDK__NOMEM(l->rt);
  else if (stat(path.s, &st) == 0 && S_ISREG(st.st_mode) &&
           tfsdk__loader_by_file(l, st.st_dev, st.st_ino) == NULL) {
    tfsdk__candidate *c;
    s = tfsdk__loader_candidate(l, folder, path.s, st.st_dev, st.st_ino, &c);
    if (s == NULL) {
      c->size = (uint64_t)st.st_size;
      c->mtime = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
      if (indexed) tfsdk__loader_set(l->rt, &c->detail, "the folder's index does not list it");
    }
  }
  tfsdk__buf_deinit(&path);
  return s;
}

static tfsdk_status *scan_folder(tfsdk__loader *l, int32_t folder) {
  tfsdk_runtime *rt = l->rt;
  const char *path = l->folders.data[folder];
  TFSDK__VEC(char *) names = {NULL, 0, 0};
  bool indexed = false;
  tfsdk_status *s = NULL;
  if (l->indexing == NULL || strcmp(l->indexing, path) != 0)
    TFSDK_TRY(tfsdk__loader_index_read(l, folder, &indexed));
  DIR *d = opendir(path);
  struct dirent *e;
  while (s == NULL && d != NULL && (e = readdir(d)) != NULL) {
    if (!is_plugin_file(e->d_name)) continue;
    char *copy = TFSDK__GROW(rt, &names, 1) ? tfsdk__strdup(rt, e->d_name) : NULL;
    if (copy == NULL)
      s = TFSDK__NOMEM(rt);
    else
      names.data[names.n++] = copy;
  }
  if (d != NULL) closedir(d);
  if (names.n > 0) qsort(names.data, names.n, sizeof *names.data, by_text);
  for (size_t i = 0; i < names.n; i++) {
    if (s == NULL) s = found_file(l, folder, names.data[i], indexed);
    tfsdk__free(rt, names.data[i]);
  }
  tfsdk__free(rt, names.data);
  return s;
}

/* A folder that was asked for and is not there is told; the default one may be missing. */
static tfsdk_status *add_folder(tfsdk__loader *l, const char *path, bool asked) {
  tfsdk_runtime *rt = l->rt;
  struct stat st;
  char *real = realpath(path, NULL);
  int why = real == NULL ? errno : 0;
  if (real != NULL && stat(real, &st) == 0 && !S_ISDIR(st.st_mode)) why = ENOTDIR;
  if (why != 0) {
    free(real);
    tfsdk__candidate *c = by_path(l, path);
    if (!asked || c != NULL) return NULL;
    TFSDK_TRY(new_candidate(l, -1, path, &c));
    c->state = TFSDK__REFUSED;
    c->code = TFSDK_NOT_FOUND;
    tfsdk__loader_set(rt, &c->detail,
                      why == ENOENT ? "there is no such folder on the plugin path" : strerror(why));
    tfsdk__loader_log(rt, TFSDK_LOG_WARNING, "plugin path: %s: %s", path,
                      why == ENOENT ? "there is no such folder" : strerror(why));
    return NULL;
  }
  for (size_t i = 0; i < l->folders.n; i++)
    if (strcmp(l->folders.data[i], real) == 0) {
      free(real);
      return NULL;
    }
  char *copy = TFSDK__GROW(rt, &l->folders, 1) ? tfsdk__strdup(rt, real) : NULL;
  free(real);
  if (copy == NULL) return TFSDK__NOMEM(rt);
  l->folders.data[l->folders.n++] = copy;
  return scan_folder(l, (int32_t)l->folders.n - 1);
}

static tfsdk_status *add_folders(tfsdk__loader *l, const char *list) {
  for (const char *p = list; p != NULL && *p != 0;) {
    size_t n = strcspn(p, ":");
    tfsdk__buf one = {0};
    tfsdk_status *s = NULL;
    tfsdk__buf_add(&one, "%.*s", (int)n, p);
    if (one.failed)
      s = TFSDK__NOMEM(l->rt);
    else if (n > 0)
      s = add_folder(l, one.s, true);
    tfsdk__buf_deinit(&one);
    if (s != NULL) return s;
    p += n + (p[n] == ':');
  }
  return NULL;
}

/* The folder beside the file that this code is in. */
static tfsdk_status *add_default_folder(tfsdk__loader *l) {
  static const char here;
  Dl_info where;
  if (dladdr(&here, &where) == 0 || where.dli_fname == NULL) return NULL;
  char *real = realpath(where.dli_fname, NULL);
  char *slash = real ? strrchr(real, '/') : NULL;
  tfsdk_status *s = NULL;
  if (slash != NULL) {
    tfsdk__buf path = {0};
    tfsdk__buf_add(&path, "%.*s/tfsdk-1/plugins", (int)(slash - real), real);
    s = path.failed ? TFSDK__NOMEM(l->rt) : add_folder(l, path.s, false);
    tfsdk__buf_deinit(&path);
  }
  free(real);
  return s;
}

/* Forgets what discovery found, so that it can be made again from the start. Live plugins and what
 * was asked for by path stay. */
static void forget(tfsdk__loader *l) {
  tfsdk_runtime *rt = l->rt;
  size_t kept = 0;
  for (size_t i = 0; i < l->candidates.n; i++) {
    tfsdk__candidate *c = l->candidates.data[i];
    bool known =
        c->state == TFSDK__FOUND || c->state == TFSDK__INDEXED || c->state == TFSDK__DEFERRED;
    if (known)
      free_candidate(rt, c);
    else
      l->candidates.data[kept++] = c;
  }
  l->candidates.n = kept;
  for (size_t i = 0; i < kept; i++) l->candidates.data[i]->folder = -1;
  l->indexed.n = 0;
  for (int k = 0; k < TFSDK__FACT_KINDS; k++) tfsdk__map_deinit(rt, &l->by_name[k]);
  for (size_t i = 0; i < l->texts.n; i++) tfsdk__free(rt, l->texts.data[i]);
  for (size_t i = 0; i < l->folders.n; i++) tfsdk__free(rt, l->folders.data[i]);
  l->texts.n = l->folders.n = 0;
}

static tfsdk_status *discover(tfsdk__loader *l) {
  if (l->discovered) return NULL;
  l->discovered = true;
  if (l->rt->options.no_dynamic_plugins) return NULL;
  tfsdk_status *s = l->indexing ? add_folder(l, l->indexing, true) : NULL;
  if (s == NULL) s = add_folders(l, l->rt->options.plugin_path);
  if (s == NULL) s = add_folders(l, secure_getenv("TFSDK_PLUGIN_PATH"));
  if (s == NULL) s = add_default_folder(l);
  if (s != NULL) {
    forget(l);
    l->discovered = false;
  }
  return s;
}

tfsdk_status *tfsdk__loader_ready(tfsdk__loader *l) {
  TFSDK_TRY(discover(l));
  if (l->examining) return NULL;
  l->examining = true;
  for (size_t i = 0; i < l->candidates.n; i++) {
    tfsdk__candidate *c = l->candidates.data[i];
    if (c->state == TFSDK__FOUND && c->folder >= 0)
      note_failure(l, c, tfsdk__loader_identify(l, c));
  }
  for (size_t i = 0; i < l->candidates.n; i++) {
    tfsdk__candidate *c = l->candidates.data[i];
    if (c->state == TFSDK__FOUND && c->folder >= 0) note_failure(l, c, bring_up_found(l, c));
  }
  l->examining = false;
  return NULL;
}

/* ------------------------------------------------------------------------------------- look-ups */

static tfsdk__fact *first_fact(tfsdk__loader *l, uint32_t kind, const char *name) {
  size_t at = (size_t)(uintptr_t)tfsdk__map_get(&l->by_name[kind], name);
  return at == 0 ? NULL : &l->indexed.data[at - 1];
}

/* Gives those a chance that could not work when the index was written and might have what is looked
 * for: those of the `wanted` kinds. Kernels of a device of the plugin's own come when that device
 * is asked for, those for another plugin's device when that is the one. */
static void try_deferred(tfsdk__loader *l, uint32_t wanted, const char *device) {
  for (size_t i = 0; i < l->candidates.n; i++) {
    tfsdk__candidate *c = l->candidates.data[i];
    if (c->state != TFSDK__DEFERRED || (c->kinds & wanted) == 0) continue;
    if (wanted == TFSDK_KIND_KERNEL && (c->kinds & TFSDK_KIND_DEVICE)) continue;
    if (device != NULL && c->needs_device != NULL && strcmp(c->needs_device, device) != 0) continue;
    note_failure(l, c, bring_up_found(l, c));
  }
}

static tfsdk_status *provide(tfsdk_runtime *rt, uint32_t kind, uint32_t plugin_kind,
                             const tfsdk__map *known, const char *name) {
  tfsdk__loader *l = rt->loader;
  pthread_mutex_lock(&rt->lock);
  tfsdk_status *s = tfsdk__loader_ready(l);
  tfsdk__fact *f = s ? NULL : first_fact(l, kind, name);
  if (f != NULL) {
    s = demand(l, f->from);
    if (s != NULL) tfsdk__status_prefix(s, "a plugin has %s '%s'", tfsdk__fact_word[kind], name);
  } else if (s == NULL && tfsdk__map_get(known, name) == NULL) {
    try_deferred(l, plugin_kind, NULL);
  }
  pthread_mutex_unlock(&rt->lock);
  return s;
}

tfsdk_status *tfsdk__loader_provide_op(tfsdk_runtime *rt, const char *op) {
  return provide(rt, TFSDK__FACT_OP, TFSDK_KIND_OP, &rt->ops, op);
}

tfsdk_status *tfsdk__loader_provide_layer(tfsdk_runtime *rt, const char *layer) {
  return provide(rt, TFSDK__FACT_LAYER, TFSDK_KIND_LAYER, &rt->layers, layer);
}

void tfsdk__loader_provide_kernels(tfsdk_runtime *rt, const char *op, const char *device) {
  tfsdk__loader *l = rt->loader;
  pthread_mutex_lock(&rt->lock);
  tfsdk_status *s = tfsdk__loader_ready(l);
  if (s != NULL) {
    tfsdk__loader_log(rt, TFSDK_LOG_WARNING, "looking for plugins: %s", tfsdk_status_message(s));
    tfsdk_status_release(s);
  }
  size_t at = (size_t)(uintptr_t)tfsdk__map_get(&l->by_name[TFSDK__FACT_KERNEL], op);
  while (at != 0) {
    tfsdk__fact f = l->indexed.data[at - 1];
    at = f.next;
    bool fresh = f.from->state == TFSDK__INDEXED;
    if (fresh && (device == NULL || strcmp(f.extra, device) == 0))
      note_failure(l, f.from, bring_up_found(l, f.from));
  }
  try_deferred(l, TFSDK_KIND_KERNEL, device);
  pthread_mutex_unlock(&rt->lock);
}

static bool device_known(const tfsdk_runtime *rt, const char *type) {
  for (size_t i = 0; i < rt->devtypes.n; i++)
    if (strcmp(rt->devtypes.data[i]->def.type, type) == 0) return true;
  return false;
}

tfsdk_status *tfsdk__loader_provide_device(tfsdk_runtime *rt, const char *type) {
  tfsdk__loader *l = rt->loader;
  pthread_mutex_lock(&rt->lock);
  tfsdk_status *s = device_known(rt, type) ? NULL : tfsdk__loader_ready(l);
  if (s == NULL && !device_known(rt, type)) {
    tfsdk__fact *f = first_fact(l, TFSDK__FACT_DEVICE, type);
    if (f != NULL) {
      s = demand(l, f->from);
      if (s != NULL) tfsdk__status_prefix(s, "a plugin has the device '%s'", type);
    } else {
      try_deferred(l, TFSDK_KIND_DEVICE, NULL);
    }
  }
  pthread_mutex_unlock(&rt->lock);
  return s;
}

/* The length of the longest of the endings (".csv .csv.gz") that the path has; 0 none. */
static size_t ending(const char *path, const char *endings) {
  size_t n = strlen(path), best = 0;
  for (const char *p = endings; *p != 0;) {
    size_t k = strcspn(p, " ");
    if (k > best && k <= n && strncmp(path + n - k, p, k) == 0) best = k;
    p += k;
    p += strspn(p, " ");
  }
  return best;
}

/* Readers and writers: by name, else by the longest ending that fits the path. */
static tfsdk_status *provide_format(tfsdk_runtime *rt, uint32_t kind, uint32_t plugin_kind,
                                    const tfsdk__map *known, const char *name, const char *path) {
  tfsdk__loader *l = rt->loader;
  pthread_mutex_lock(&rt->lock);
  tfsdk_status *s = tfsdk__loader_ready(l);
  tfsdk__fact *f = s || name == NULL ? NULL : first_fact(l, kind, name);
  size_t best = 0;
  for (size_t i = 0; s == NULL && name == NULL && path != NULL && i < l->indexed.n; i++) {
    tfsdk__fact *one = &l->indexed.data[i];
    size_t n = one->kind == kind ? ending(path, one->extra) : 0;
    if (n > best) {
      best = n;
      f = one;
    }
  }
  if (f != NULL) {
    const char *format = f->name;
    s = demand(l, f->from);
    if (s != NULL)
      tfsdk__status_prefix(s, "a plugin has the %s '%s'", tfsdk__fact_word[kind], format);
  } else if (s == NULL && (name == NULL || tfsdk__map_get(known, name) == NULL)) {
    try_deferred(l, plugin_kind, NULL);
  }
  pthread_mutex_unlock(&rt->lock);
  return s;
}

tfsdk_status *tfsdk__loader_provide_reader(tfsdk_runtime *rt, const char *name, const char *path) {
  return provide_format(rt, TFSDK__FACT_READER, TFSDK_KIND_READER, &rt->readers, name, path);
}

tfsdk_status *tfsdk__loader_provide_writer(tfsdk_runtime *rt, const char *name, const char *path) {
  return provide_format(rt, TFSDK__FACT_WRITER, TFSDK_KIND_WRITER, &rt->writers, name, path);
}

void tfsdk__loader_each(tfsdk_runtime *rt, const char *kind, int (*fn)(void *, const char *),
                        void *user) {
  tfsdk__loader *l = rt->loader;
  uint32_t k = 0;
  int stop = 0;
  while (k < TFSDK__FACT_KINDS && strcmp(tfsdk__fact_word[k], kind) != 0) k++;
  if (k == TFSDK__FACT_KINDS || k == TFSDK__FACT_KERNEL) return;
  pthread_mutex_lock(&rt->lock);
  tfsdk_status_release(tfsdk__loader_ready(l));
  /* fn may load plugins: both lists may grow meanwhile */
  for (size_t i = 0; !stop && i < l->indexed.n; i++) {
    const tfsdk__fact f = l->indexed.data[i];
    if (f.kind == k && first_fact(l, k, f.name) == &l->indexed.data[i]) stop = fn(user, f.name);
  }
  for (size_t i = 0; !stop && i < l->enrolled.n; i++) {
    const tfsdk__fact f = l->enrolled.data[i];
    if (f.kind == k && first_fact(l, k, f.name) == NULL) stop = fn(user, f.name);
  }
  pthread_mutex_unlock(&rt->lock);
}

/* ------------------------------------------------------------------------------ names and needs */

/* Whether the candidate is, or from its file name seems to be, the plugin of that name. */
static bool is_named(const tfsdk__candidate *c, const char *name) {
  size_t n = strlen(name);
  if (c->name != NULL) return strcmp(c->name, name) == 0;
  return strncmp(c->file, name, n) == 0 && strcmp(c->file + n, ".so") == 0;
}

static tfsdk_status *circle(tfsdk__loader *l, const tfsdk__candidate *c) {
  tfsdk__buf text = {0};
  const tfsdk__candidate *chain[32];
  size_t n = 0;
  for (const tfsdk__candidate *i = l->loading; i != NULL && n < 32; i = i->asked_by) {
    chain[n++] = i;
    if (i == c) break;
  }
  while (n-- > 0)
    tfsdk__buf_add(&text, "%s needs ", chain[n]->name ? chain[n]->name : chain[n]->file);
  tfsdk__buf_add(&text, "%s", c->name ? c->name : c->file);
  tfsdk_status *s = tfsdk__status_make(TFSDK_FAILED_PRECONDITION,
                                       "the needs go in a circle: %s; take one of them out",
                                       text.failed ? c->file : text.s);
  tfsdk__buf_deinit(&text);
  return s;
}

static tfsdk_status *not_found(tfsdk__loader *l, const char *name) {
  const char *nearest = NULL;
  int best = 4;
  tfsdk__buf where = {0};
  for (size_t i = 0; i < l->folders.n; i++)
    tfsdk__buf_add(&where, "%s%s", i ? ":" : "", l->folders.data[i]);
  for (size_t i = 0; i < l->candidates.n; i++) {
    const char *other = l->candidates.data[i]->name;
    int d = other ? tfsdk__distance(name, other) : 1000;
    if (d < best) {
      best = d;
      nearest = other;
    }
  }
  tfsdk_status *s = tfsdk__status_make(
      TFSDK_NOT_FOUND, "there is no plugin named '%s' on the search path (%s)%s%s%s", name,
      where.s                             ? where.s
      : l->rt->options.no_dynamic_plugins ? "which is off in this runtime"
                                          : "which is empty",
      nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  tfsdk__buf_deinit(&where);
  return s;
}

static tfsdk_status *require(tfsdk__loader *l, const char *name) {
  tfsdk__candidate *best = NULL;
  if (tfsdk__loader_live(l, name) != NULL) return NULL;
  TFSDK_TRY(tfsdk__loader_ready(l));
  if (tfsdk__loader_live(l, name) != NULL) return NULL;
  for (size_t i = 0; best == NULL && i < l->candidates.n; i++)
    if (is_named(l->candidates.data[i], name) && !l->candidates.data[i]->shadowed)
      best = l->candidates.data[i];
  if (best == NULL) return not_found(l, name);
  if (best->state == TFSDK__LOADING) return circle(l, best);
  TFSDK_TRY(tfsdk__loader_bring_up(l, best));
  if (tfsdk__loader_live(l, name) != NULL) return NULL;
  return tfsdk__status_make(TFSDK_NOT_FOUND, "%s is a plugin named '%s', not '%s'", best->path,
                            best->name, name);
}

tfsdk_status *tfsdk__loader_need(tfsdk__loader *l, const char *need) {
  if (strncmp(need, "device:", 7) != 0) return require(l, need);
  TFSDK_TRY(tfsdk__loader_provide_device(l->rt, need + 7));
  if (device_known(l->rt, need + 7)) return NULL;
  return tfsdk__status_make(TFSDK_NOT_FOUND, "no plugin on the search path has a device '%s'",
                            need + 7);
}

/* ----------------------------------------------------------------------------- public functions */

tfsdk_status *tfsdk_plugin_require(tfsdk_runtime *rt, const char *name) {
  pthread_mutex_lock(&rt->lock);
  tfsdk_status *s = require(rt->loader, name);
  pthread_mutex_unlock(&rt->lock);
  return s;
}

/* The absolute path: links resolved if the file is there. */
static char *absolute(const char *path) {
  char *real = realpath(path, NULL);
  if (real != NULL) return real;
  if (path[0] == '/') return strdup(path);
  char *cwd = getcwd(NULL, 0);
  tfsdk__buf b = {0};
  tfsdk__buf_add(&b, "%s/%s", cwd ? cwd : ".", path);
  free(cwd);
  if (!b.failed) return b.s;
  tfsdk__buf_deinit(&b);
  return NULL;
}

static tfsdk_status *load(tfsdk__loader *l, const char *path) {
  struct stat st = {0};
  tfsdk__candidate *c = NULL;
  if (l->rt->options.no_dynamic_plugins)
    return tfsdk__status_make(TFSDK_FAILED_PRECONDITION,
                              "cannot load plugin %s: this runtime was made with "
                              "no_dynamic_plugins; only built-in plugins can be added to it",
                              path);
  char *real = absolute(path);
  if (real == NULL) return TFSDK__NOMEM(l->rt);
  if (stat(real, &st) != 0) memset(&st, 0, sizeof st);
  tfsdk_status *s = tfsdk__loader_candidate(l, -1, real, st.st_dev, st.st_ino, &c);
  free(real);
  if (s != NULL) return s;
  if (c->state == TFSDK__LOADING) return circle(l, c);
  return tfsdk__loader_bring_up(l, c);
}

tfsdk_status *tfsdk_plugin_load(tfsdk_runtime *rt, const char *path) {
  pthread_mutex_lock(&rt->lock);
  tfsdk_status *s = load(rt->loader, path);
  pthread_mutex_unlock(&rt->lock);
  return s;
}

tfsdk_status *tfsdk_plugin_add_static(tfsdk_runtime *rt, tfsdk_plugin_query_fn *query) {
  tfsdk__loader *l = rt->loader;
  tfsdk__candidate *c = NULL;
  tfsdk_status *s = NULL;
  pthread_mutex_lock(&rt->lock);
  for (size_t i = 0; c == NULL && i < l->candidates.n; i++)
    if (l->candidates.data[i]->query == query) c = l->candidates.data[i];
  if (c == NULL) s = new_candidate(l, -1, "", &c);
  if (s == NULL) {
    c->query = query;
    s = tfsdk__loader_bring_up(l, c);
  }
  pthread_mutex_unlock(&rt->lock);
  return s;
}

void tfsdk_plugin_load_all(tfsdk_runtime *rt) {
  tfsdk__loader *l = rt->loader;
  pthread_mutex_lock(&rt->lock);
  tfsdk_status_release(tfsdk__loader_ready(l));
  for (size_t i = 0; i < l->candidates.n; i++) {
    tfsdk__candidate *c = l->candidates.data[i];
    if (c->state == TFSDK__INDEXED || c->state == TFSDK__DEFERRED)
      note_failure(l, c, bring_up_found(l, c));
  }
  pthread_mutex_unlock(&rt->lock);
}

static const char *state_word(int32_t state) {
  switch (state) {
  case TFSDK__LOADED: return "loaded";
  case TFSDK__REFUSED: return "refused";
  case TFSDK__DEFERRED:
  case TFSDK__UNAVAILABLE: return "unavailable";
  default: return "indexed";
  }
}

void tfsdk_plugin_each(tfsdk_runtime *rt, int (*fn)(void *user, const tfsdk_plugin_report *r),
                       void *user) {
  tfsdk__loader *l = rt->loader;
  int stop = 0;
  pthread_mutex_lock(&rt->lock);
  tfsdk_status_release(tfsdk__loader_ready(l));
  for (size_t i = 0; !stop && i < l->candidates.n; i++) {
    const tfsdk__candidate *c = l->candidates.data[i];
    tfsdk_plugin_report r = {0};
    r.path = c->path;
    r.name = c->name ? c->name : "";
    r.version = c->version ? c->version : "";
    r.summary = c->summary ? c->summary : "";
    r.state = state_word(c->state);
    r.detail = c->detail ? c->detail : "";
    r.n_ops = c->n_ops;
    r.n_kernels = c->n_kernels;
    r.n_devices = c->n_devices;
    r.n_readers = c->n_readers;
    stop = fn(user, &r);
  }
  pthread_mutex_unlock(&rt->lock);
}

/* -------------------------------------------------------------------------------- birth and end */

tfsdk_status *tfsdk__loader_create(tfsdk_runtime *rt) {
  rt->loader = tfsdk__zalloc(rt, sizeof *rt->loader);
  if (rt->loader == NULL) return TFSDK__NOMEM(rt);
  rt->loader->rt = rt;
  return NULL;
}

/* Last in, first out: a plugin's needs outlive it. */
void tfsdk__loader_release(tfsdk_runtime *rt) {
  tfsdk__loader *l = rt->loader;
  for (size_t i = rt->plugins.n; i-- > 0;) tfsdk__loader_take_down(rt->plugins.data[i]);
  tfsdk__free(rt, rt->plugins.data);
  rt->plugins.data = NULL;
  rt->plugins.n = rt->plugins.cap = 0;
  if (l == NULL) return;
  forget(l);
  for (size_t i = 0; i < l->candidates.n; i++) free_candidate(rt, l->candidates.data[i]);
  tfsdk__free(rt, l->candidates.data);
  tfsdk__free(rt, l->folders.data);
  tfsdk__free(rt, l->texts.data);
  tfsdk__free(rt, l->indexed.data);
  tfsdk__free(rt, l->enrolled.data);
  tfsdk__free(rt, l);
  rt->loader = NULL;
}
