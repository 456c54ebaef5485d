/* The one user of libltdl.
 *
 * libltdl keeps its state in the process, without locks: hence the one global of the core, a mutex
 * round every call. Its own loaders bind lazily and report "file not found" whatever the cause. So
 * a loader of our own stands in front of them: it binds at once, keeps symbols local and keeps the
 * linker's text. It answers only to calls made here; to an application's own lt_dlopen it is not
 * there.
 *
 * When our loader fails, libltdl would go on to the next, which may open the broken file lazily and
 * run its constructors. So ours answers with a stand-in module instead: the chain ends, and the
 * handle is closed at once. lt_dlexit is never called: plugins stay until the process ends. */
#include "loader.h"
#include <dlfcn.h>
#include <link.h>
#include <ltdl.h>
#include <sys/stat.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct request {
  const char *path;
  bool asked;   /* our loader was called (it is not when libltdl has the file already) */
  void *module; /* NULL: it failed */
  char *error;  /* the linker's text */
} request;

static TFSDK__OF_THREAD request *current;
static char stand_in;

/* The files that stay: libltdl and the linker know them by path, so a new file under an old path
 * would silently be the old one. */
typedef struct kept_file {
  struct kept_file *next;
  void *handle;
  dev_t dev;
  ino_t ino;
} kept_file;
static kept_file *kept;

static kept_file *kept_of(void *handle) {
  kept_file *k = kept;
  while (k != NULL && k->handle != handle) k = k->next;
  return k;
}

static lt_module module_open(lt_user_data data, const char *filename, lt_dladvise advise) {
  request *r = current;
  (void)data;
  (void)filename;
  (void)advise;
  if (r == NULL) return NULL;
  current = NULL; /* constructors may use libltdl for themselves */
  r->asked = true;
  r->module = dlopen(r->path, RTLD_NOW | RTLD_LOCAL);
  if (r->module == NULL) {
    const char *text = dlerror();
    r->error = strdup(text ? text : "unknown error of the dynamic linker");
  }
  current = r;
  return r->module ? r->module : &stand_in;
}

static int module_close(lt_user_data data, lt_module module) {
  (void)data;
  return module == &stand_in ? 0 : dlclose(module);
}

/* dlsym also looks into the libraries that the module links; only the module's own symbols count.
 */
static void *find_symbol(lt_user_data data, lt_module module, const char *name) {
  struct link_map *map = NULL;
  Dl_info where;
  (void)data;
  void *symbol = module == &stand_in ? NULL : dlsym(module, name);
  if (symbol == NULL) return NULL;
  if (dlinfo(module, RTLD_DI_LINKMAP, &map) == 0 && map != NULL && dladdr(symbol, &where) != 0 &&
      where.dli_fname != NULL && strcmp(where.dli_fname, map->l_name) != 0)
    return NULL;
  return symbol;
}

/* libltdl may free the table: it must be of malloc. */
static bool start(void) {
  static bool started;
  if (started) return true;
  lt_dlvtable *v = calloc(1, sizeof *v);
  if (v == NULL || lt_dlinit() != 0) {
    free(v);
    return false;
  }
  v->name = "tfsdk";
  v->module_open = module_open;
  v->module_close = module_close;
  v->find_sym = find_symbol;
  v->priority = LT_DLLOADER_PREPEND;
  if (lt_dlloader_add(v) != 0) {
    free(v);
    lt_dlexit();
    return false;
  }
  started = true;
  return true;
}

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* The linker's text begins with the file that it could not open or resolve, which may be a library
 * that the plugin links. */
static tfsdk_status *explain(const char *path, const char *text) {
  const char *colon = strstr(text, ": ");
  int n = colon ? (int)(colon - text) : 0;
  bool own = n > 0 && strlen(path) == (size_t)n && strncmp(text, path, (size_t)n) == 0;
  const char *rest = colon ? colon + 2 : text;
  const char *symbol = strstr(text, "undefined symbol: ");
  const char *version = strstr(text, ": version `");
  if (symbol != NULL) {
    symbol += strlen("undefined symbol: ");
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "undefined symbol %.*s%s%.*s; link the library that defines it (what "
                              "plugins call of the host comes through its table; "
                              "-Wl,--no-undefined finds this when building)",
                              (int)strcspn(symbol, " ,\n"), symbol, own ? "" : " in ", own ? 0 : n,
                              text);
  }
  if (!own && n > 0 && begins(rest, "cannot open shared object file: No such file"))
    return tfsdk__status_make(TFSDK_NOT_FOUND,
                              "it needs the library %.*s, which is not found; install it, or add "
                              "its folder to LD_LIBRARY_PATH",
                              n, text);
  if (own && begins(rest, "cannot open shared object file: Permission denied"))
    return tfsdk__status_make(TFSDK_PERMISSION_DENIED, "no permission to read the file");
  if (version != NULL)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "it was built for a newer system library (%s); build it on this "
                              "system",
                              version + 2);
  if (own && (strstr(rest, "too short") || strstr(rest, "ELF")))
    return tfsdk__status_make(TFSDK_DATA_LOSS, "the file is damaged (%s); build or copy it again",
                              rest);
  return tfsdk__status_make(TFSDK_INCOMPATIBLE, "the dynamic linker says: %s", own ? rest : text);
}

tfsdk_status *tfsdk__ltdl_open(const char *path, void **out_handle) {
  request r = {path, false, NULL, NULL};
  tfsdk_status *s = NULL;
  pthread_mutex_lock(&lock);
  if (!start()) {
    s = tfsdk__status_make(TFSDK_INTERNAL, "libltdl does not start: %s", lt_dlerror());
    pthread_mutex_unlock(&lock);
    return s;
  }
  current = &r;
  lt_dlhandle h = lt_dlopen(path);
  current = NULL;
  if (r.asked && r.module == NULL) {
    s = explain(path, r.error ? r.error : "out of memory");
    if (h != NULL) lt_dlclose(h);
  } else if (h == NULL) {
    const char *text = lt_dlerror();
    s = tfsdk__status_make(TFSDK_INTERNAL, "libltdl says: %s", text ? text : "nothing");
    if (r.module != NULL) dlclose(r.module);
  } else {
    const kept_file *k = kept_of(h);
    struct stat st;
    if (k != NULL && stat(path, &st) == 0 && (st.st_dev != k->dev || st.st_ino != k->ino)) {
      lt_dlclose(h);
      s = tfsdk__status_make(
          TFSDK_FAILED_PRECONDITION,
          "the file was replaced after this process had opened it, and the old one "
          "stays; start the program anew to use the new one");
    }
  }
  pthread_mutex_unlock(&lock);
  free(r.error);
  if (s == NULL) *out_handle = h;
  return s;
}

void *tfsdk__ltdl_symbol(void *handle, const char *name) {
  pthread_mutex_lock(&lock);
  void *symbol = lt_dlsym(handle, name);
  pthread_mutex_unlock(&lock);
  return symbol;
}

void tfsdk__ltdl_keep(void *handle) {
  struct stat st;
  pthread_mutex_lock(&lock);
  lt_dlmakeresident(handle);
  const lt_dlinfo *info = lt_dlgetinfo(handle);
  if (kept_of(handle) == NULL && info != NULL && stat(info->filename, &st) == 0) {
    kept_file *k = calloc(1, sizeof *k);
    if (k != NULL) {
      k->handle = handle;
      k->dev = st.st_dev;
      k->ino = st.st_ino;
      k->next = kept;
      kept = k;
    }
  }
  pthread_mutex_unlock(&lock);
}

/* Of a resident module this only counts down. */
void tfsdk__ltdl_close(void *handle) {
  if (handle == NULL) return;
  pthread_mutex_lock(&lock);
  lt_dlclose(handle);
  pthread_mutex_unlock(&lock);
}
