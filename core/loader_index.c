/* The index of a plugin folder: which file provides what, so that start-up opens none of them.
 *
 * index.txt is text, one fact a line; a `file` line begins what is said of that file:
 *
 *     tfsdk plugin index 1
 *     file 81234 1700000000123456789 build-id:3f2a... ops-nn.so      size, mtime in ns, build, name
 *     plugin ops-nn
 *     version 0.1.0
 *     kinds 1
 *     summary Layers' ops
 *     needs device:cpu
 *     op MatMul
 *     kernel MatMul cpu
 *     device cpu
 *     reader csv .csv .csv.gz
 *     layer conv2d
 *     unavailable no driver         instead of facts: what probe said when the index was written
 *     end
 *
 * An entry is believed if the file's size and mtime are the recorded ones, or else if it is the
 * recorded build (installing and copying change the mtime, stripping and setting the run path
 * change the size; none of them changes what the file provides). Lines of a kind that is not known
 * are passed over. Without the last line the file was cut off and is not believed at all. */
#include "loader.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char head_line[] = "tfsdk plugin index 1";

/* -------------------------------------------------------------------------------------- reading */

/* The file's text, NUL-ended. *out NULL: there is none. */
static tfsdk_status *read_text(tfsdk_runtime *rt, const char *path, char **out) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  *out = NULL;
  if (fd < 0) return NULL;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
    size_t size = (size_t)st.st_size, n = 0;
    char *text = tfsdk__alloc(rt, size + 1);
    ssize_t got = 1;
    if (text == NULL) {
      close(fd);
      return TFSDK__NOMEM(rt);
    }
    while (n < size && (got = read(fd, text + n, size - n)) > 0) n += (size_t)got;
    text[n] = 0;
    *out = text;
  }
  close(fd);
  return NULL;
}

static bool whole(const char *text) {
  size_t n = strlen(text), head = strlen(head_line);
  return n > head + 5 && strncmp(text, head_line, head) == 0 && text[head] == '\n' &&
         strcmp(text + n - 5, "\nend\n") == 0;
}

typedef struct reading {
  tfsdk__loader *l;
  int32_t folder;
  tfsdk__candidate *c; /* NULL: what is said of this file is not used */
} reading;

/* file SIZE MTIME BUILD NAME */
static tfsdk_status *begin_file(reading *r, char *rest) {
  tfsdk__loader *l = r->l;
  struct stat st;
  char *p = rest, *build, recorded[TFSDK__IDENTITY_SIZE];
  unsigned long long size = strtoull(p, &p, 10);
  long long mtime = strtoll(p, &p, 10);
  r->c = NULL;
  if (*p != ' ') return NULL;
  build = p + 1;
  p = strchr(build, ' ');
  if (p == NULL || strchr(p + 1, '/') != NULL) return NULL;
  *p = 0;
  tfsdk__buf path = {0};
  tfsdk_status *s = NULL;
  tfsdk__buf_add(&path, "%s/%s", l->folders.data[r->folder], p + 1);
  if (path.failed)
    s = TFSDK__NOMEM(l->rt);
  else if (stat(path.s, &st) == 0 && tfsdk__loader_by_file(l, st.st_dev, st.st_ino) == NULL) {
    int64_t now = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    bool same = (unsigned long long)st.st_size == size && now == mtime;
    if (!same) same = tfsdk__elf_identity(path.s, recorded) && strcmp(recorded, build) == 0;
    tfsdk__candidate *c;
    s = tfsdk__loader_candidate(l, r->folder, path.s, st.st_dev, st.st_ino, &c);
    if (s == NULL && same) {
      c->state = TFSDK__INDEXED;
      r->c = c;
    } else if (s == NULL) {
      tfsdk__loader_set(l->rt, &c->detail, "the folder's index describes another build of it");
    }
  }
  tfsdk__buf_deinit(&path);
  return s;
}

/* The first on the search path of two plugins with one name counts. */
static void name_file(reading *r, const char *name) {
  tfsdk__loader *l = r->l;
  for (size_t i = 0; i < l->candidates.n; i++) {
    const tfsdk__candidate *other = l->candidates.data[i];
    bool lives = other->state != TFSDK__REFUSED && other->state != TFSDK__UNAVAILABLE;
    if (other == r->c || other->name == NULL || !lives || strcmp(other->name, name) != 0) continue;
    tfsdk__loader_set(l->rt, &r->c->name, name);
    tfsdk__loader_shadow(l, r->c, other->path);
    r->c = NULL;
    return;
  }
  tfsdk__loader_set(l->rt, &r->c->name, name);
}

static tfsdk_status *add_fact(reading *r, uint32_t kind, char *rest) {
  tfsdk__loader *l = r->l;
  tfsdk__map *map = &l->by_name[kind];
  char *space = strchr(rest, ' ');
  if (space != NULL) *space = 0;
  tfsdk__fact f = {rest, space ? space + 1 : "", r->c, kind, 0};
  if (!TFSDK__GROW(l->rt, &l->indexed, 1)) return TFSDK__NOMEM(l->rt);
  size_t first = (size_t)(uintptr_t)tfsdk__map_get(map, rest);
  if (kind == TFSDK__FACT_KERNEL) f.next = (uint32_t)first; /* all of them matter */
  if ((first == 0 || kind == TFSDK__FACT_KERNEL) &&
      !tfsdk__map_put(l->rt, map, rest, (void *)(uintptr_t)(l->indexed.n + 1)))
    return TFSDK__NOMEM(l->rt);
  l->indexed.data[l->indexed.n++] = f;
  if (kind == TFSDK__FACT_OP) r->c->n_ops++;
  if (kind == TFSDK__FACT_KERNEL) r->c->n_kernels++;
  if (kind == TFSDK__FACT_DEVICE) r->c->n_devices++;
  if (kind == TFSDK__FACT_READER) r->c->n_readers++;
  return NULL;
}

static tfsdk_status *read_line(reading *r, char *line) {
  tfsdk_runtime *rt = r->l->rt;
  char *rest = strchr(line, ' ');
  if (rest == NULL) return NULL;
  *rest++ = 0;
  if (strcmp(line, "file") == 0) return begin_file(r, rest);
  if (r->c == NULL) return NULL;
  for (uint32_t k = 0; k < TFSDK__FACT_KINDS; k++)
    if (strcmp(line, tfsdk__fact_word[k]) == 0) return add_fact(r, k, rest);
  if (strcmp(line, "plugin") == 0)
    name_file(r, rest);
  else if (strcmp(line, "version") == 0)
    tfsdk__loader_set(rt, &r->c->version, rest);
  else if (strcmp(line, "summary") == 0)
    tfsdk__loader_set(rt, &r->c->summary, rest);
  else if (strcmp(line, "kinds") == 0)
    r->c->kinds = (uint32_t)strtoul(rest, NULL, 10);
  else if (strncmp(rest, "device:", 7) == 0 && strcmp(line, "needs") == 0)
    tfsdk__loader_set(rt, &r->c->needs_device, rest + 7);
  else if (strcmp(line, "unavailable") == 0) {
    r->c->state = TFSDK__DEFERRED;
    tfsdk__loader_set(rt, &r->c->detail, rest);
  }
  return NULL;
}

tfsdk_status *tfsdk__loader_index_read(tfsdk__loader *l, int32_t folder, bool *out_exists) {
  tfsdk_runtime *rt = l->rt;
  reading r = {l, folder, NULL};
  tfsdk__buf path = {0};
  char *text = NULL;
  tfsdk__buf_add(&path, "%s/index.txt", l->folders.data[folder]);
  tfsdk_status *s = path.failed ? TFSDK__NOMEM(rt) : read_text(rt, path.s, &text);
  if (s == NULL && text != NULL && !whole(text)) {
    tfsdk__loader_log(rt, TFSDK_LOG_INFO, "%s is no index that this version reads; write it anew",
                      path.s);
    tfsdk__free(rt, text);
    text = NULL;
  }
  tfsdk__buf_deinit(&path);
  if (text == NULL) return s;
  if (!TFSDK__GROW(rt, &l->texts, 1)) {
    tfsdk__free(rt, text);
    return TFSDK__NOMEM(rt);
  }
  l->texts.data[l->texts.n++] = text;
  *out_exists = true;
  size_t lines = 0;
  for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++) lines++;
  if (!TFSDK__GROW(rt, &l->indexed, lines)) return TFSDK__NOMEM(rt);
  char *line = strchr(text, '\n') + 1, *end;
  while (s == NULL && (end = strchr(line, '\n')) != NULL) {
    *end = 0;
    s = read_line(&r, line);
    line = end + 1;
  }
  return s;
}

/* -------------------------------------------------------------------------------------- writing */

/* One line: no line break may come in from outside. */
static void put_line(tfsdk__buf *b, const char *word, const char *text) {
  tfsdk__buf_add(b, "%s ", word);
  size_t at = b->n;
  tfsdk__buf_add(b, "%s\n", text);
  for (size_t i = at; !b->failed && i + 1 < b->n; i++)
    if (b->s[i] == '\n' || b->s[i] == '\r') b->s[i] = ' ';
}

static void put_facts(const tfsdk__loader *l, const tfsdk__candidate *c, tfsdk__buf *b) {
  const tfsdk__fact *all = l->enrolled.data;
  for (size_t i = 0; i < l->enrolled.n; i++) {
    const char *word = tfsdk__fact_word[all[i].kind];
    bool twice = false; /* kernels for further types of the same op */
    if (all[i].from != c) continue;
    for (size_t j = i; !twice && all[i].kind == TFSDK__FACT_KERNEL && j-- > 0;)
      twice = all[j].from == c && all[j].kind == TFSDK__FACT_KERNEL &&
              strcmp(all[j].name, all[i].name) == 0 && strcmp(all[j].extra, all[i].extra) == 0;
    if (twice) continue;
    if (all[i].extra[0] != 0)
      tfsdk__buf_add(b, "%s %s %s\n", word, all[i].name, all[i].extra);
    else
      tfsdk__buf_add(b, "%s %s\n", word, all[i].name);
  }
}

static void put_file(const tfsdk__loader *l, const tfsdk__candidate *c, tfsdk__buf *b) {
  char build[TFSDK__IDENTITY_SIZE], number[16];
  if (strchr(c->file, '\n') != NULL || !tfsdk__elf_identity(c->path, build)) return;
  tfsdk__buf_add(b, "file %llu %lld %s %s\n", (unsigned long long)c->size, (long long)c->mtime,
                 build, c->file);
  put_line(b, "plugin", c->name);
  if (c->version != NULL) put_line(b, "version", c->version);
  snprintf(number, sizeof number, "%u", c->kinds);
  put_line(b, "kinds", number);
  if (c->summary != NULL) put_line(b, "summary", c->summary);
  if (c->state == TFSDK__UNAVAILABLE) {
    if (c->needs_device != NULL) tfsdk__buf_add(b, "needs device:%s\n", c->needs_device);
    put_line(b, "unavailable", c->detail ? c->detail : "it could not work");
    return;
  }
  for (const char *const *need = c->plugin->manifest.needs; need && *need; need++)
    put_line(b, "needs", *need);
  put_facts(l, c, b);
}

/* Whoever reads meanwhile sees the old index or the new one. */
static tfsdk_status *write_whole(const char *folder, const tfsdk__buf *text) {
  tfsdk__buf path = {0}, temporary = {0};
  tfsdk_status *s = NULL;
  tfsdk__buf_add(&path, "%s/index.txt", folder);
  tfsdk__buf_add(&temporary, "%s/.index.txt.%ld", folder, (long)getpid());
  if (path.failed || temporary.failed)
    s = tfsdk__status_no_memory();
  else {
    int fd = open(temporary.s, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool ok = fd >= 0;
    for (size_t at = 0; ok && at < text->n;) {
      ssize_t n = write(fd, text->s + at, text->n - at);
      if (n > 0)
        at += (size_t)n;
      else
        ok = n < 0 && errno == EINTR;
    }
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && ok) {
      ok = false;
      error = errno;
    }
    if (ok && rename(temporary.s, path.s) != 0) {
      ok = false;
      error = errno;
    }
    if (!ok) {
      if (fd >= 0) unlink(temporary.s);
      s = tfsdk__status_make(error == EACCES || error == EROFS ? TFSDK_PERMISSION_DENIED
                                                               : TFSDK_UNAVAILABLE,
                             "cannot write %s: %s", path.s, strerror(error));
    }
  }
  tfsdk__buf_deinit(&path);
  tfsdk__buf_deinit(&temporary);
  return s;
}

static void pass_on(void *user, int32_t level, const char *line) {
  tfsdk_runtime_log(user, level, line);
}

/* A runtime of its own opens every plugin of the folder: what enroll registers there is what the
 * index says. The caller's runtime may have other plugins of the same names. */
tfsdk_status *tfsdk_plugin_index(tfsdk_runtime *rt, const char *folder) {
  tfsdk_runtime_options options = {.struct_size = sizeof options,
                                   .threads = 1,
                                   .plugin_path = rt->options.plugin_path,
                                   .log_level = rt->log_level + 100,
                                   .log = pass_on,
                                   .log_user = rt};
  tfsdk_runtime *own = NULL;
  struct stat st;
  char *real = realpath(folder, NULL);
  if (real == NULL || stat(real, &st) != 0 || !S_ISDIR(st.st_mode)) {
    free(real);
    return tfsdk__status_make(TFSDK_NOT_FOUND,
                              "cannot write an index of %s: there is no such folder", folder);
  }
  tfsdk__buf text = {0};
  tfsdk_status *s = tfsdk_runtime_create(&options, &own);
  if (s == NULL) {
    tfsdk__loader *l = own->loader;
    l->indexing = real;
    pthread_mutex_lock(&own->lock);
    s = tfsdk__loader_ready(l);
    tfsdk__buf_add(&text, "%s\n", head_line);
    for (size_t i = 0; s == NULL && i < l->candidates.n; i++) {
      const tfsdk__candidate *c = l->candidates.data[i];
      bool ours = c->folder >= 0 && strcmp(l->folders.data[c->folder], real) == 0;
      if (ours &&
          (c->state == TFSDK__LOADED || (c->state == TFSDK__UNAVAILABLE && c->name != NULL)))
        put_file(l, c, &text);
    }
    tfsdk__buf_add(&text, "end\n");
    pthread_mutex_unlock(&own->lock);
    if (s == NULL && text.failed) s = tfsdk__status_no_memory();
    if (s == NULL) s = write_whole(real, &text);
    tfsdk_runtime_release(own);
  }
  tfsdk__buf_deinit(&text);
  free(real);
  return s;
}
