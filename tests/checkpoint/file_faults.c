/* Preloaded before the C library, it lets the n-th file operation of a process fail, or ends the
 * process there as a kill would: nothing is flushed, no exit function runs.
 *
 *     FAULT_AT=7 FAULT_KIND=die LD_PRELOAD=file_faults.so tfsdk run save.lua
 *
 * Kinds: die (before the operation), half (of a write, half of it is done before), after (the
 * operation is done before), enospc, eio, erofs (the operation fails and the process goes on; so do
 * all after it when FAULT_STAYS is set). Counted are operations that change files whose path has
 * FAULT_PATH in it: open for writing, write, fsync, rename, unlink, mkdir, and closing. FAULT_LOG names
 * a file into which the count is written at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FD 4096
#define DIED   86

static unsigned char watched[MAX_FD]; /* descriptors of files that count */
static long count, fault_at;
static int kind, stays;
static const char *path_part;
enum { NONE, DIE, HALF, AFTER, ENOSPC_, EIO_, EROFS_ };

__attribute__((constructor)) static void prepare(void) {
  static const char *const names[] = {"none", "die", "half", "after", "enospc", "eio", "erofs"};
  const char *at = getenv("FAULT_AT"), *what = getenv("FAULT_KIND");
  fault_at = at != NULL ? atol(at) : 0;
  stays = getenv("FAULT_STAYS") != NULL;
  path_part = getenv("FAULT_PATH");
  for (int i = 0; what != NULL && i < 7; i++)
    if (strcmp(names[i], what) == 0) kind = i;
}

__attribute__((destructor)) static void tell(void) {
  const char *log = getenv("FAULT_LOG");
  char text[32];
  int (*real_open)(const char *, int, ...) = NULL;
  ssize_t (*real_write)(int, const void *, size_t) = NULL;
  if (log == NULL) return;
  *(void **)&real_open = dlsym(RTLD_NEXT, "open");
  *(void **)&real_write = dlsym(RTLD_NEXT, "write");
  int fd = real_open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  int n = snprintf(text, sizeof text, "%ld\n", count);
  if (fd >= 0) (void)!real_write(fd, text, (size_t)n);
}

static int counts(const char *path) {
  return path_part != NULL && path != NULL && strstr(path, path_part) != NULL;
}

/* Whether this operation fails; errno is set then. */
static int struck(void) {
  count++;
  if (fault_at == 0 || (stays ? count < fault_at : count != fault_at)) return 0;
  switch (kind) {
  case DIE: _exit(DIED);
  case ENOSPC_: errno = ENOSPC; return 1;
  case EIO_: errno = EIO; return 1;
  case EROFS_: errno = EROFS; return 1;
  default: return 0;
  }
}

static void done(void) {
  if (kind == AFTER && count == fault_at) _exit(DIED);
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static int do_open(const char *name, const char *path, int flags, mode_t mode) {
  int (*real)(const char *, int, ...);
  *(void **)&real = next(name);
  int writes = counts(path) && (flags & O_ACCMODE) != O_RDONLY;
  int folder = counts(path) && (flags & O_DIRECTORY) != 0;
  if (writes && struck()) return -1;
  int fd = real(path, flags, mode);
  if (fd >= 0 && fd < MAX_FD) watched[fd] = (unsigned char)(writes || folder);
  if (writes) done();
  return fd;
}

#define OPEN(name)                                                                                 \
  int name(const char *path, int flags, ...) {                                                     \
    va_list args;                                                                                  \
    va_start(args, flags);                                                                         \
    mode_t mode = (flags & O_CREAT) != 0 ? (mode_t)va_arg(args, int) : 0;                          \
    va_end(args);                                                                                  \
    return do_open(#name, path, flags, mode);                                                      \
  }
OPEN(open)
OPEN(open64)

static int is_watched(int fd) { return fd >= 0 && fd < MAX_FD && watched[fd]; }

ssize_t write(int fd, const void *data, size_t n) {
  ssize_t (*real)(int, const void *, size_t);
  *(void **)&real = next("write");
  if (!is_watched(fd)) return real(fd, data, n);
  if (struck()) return -1;
  if (kind == HALF && count == fault_at) {
    (void)!real(fd, data, n / 2);
    _exit(DIED);
  }
  ssize_t out = real(fd, data, n);
  done();
  return out;
}

int fsync(int fd) {
  int (*real)(int);
  *(void **)&real = next("fsync");
  if (!is_watched(fd)) return real(fd);
  if (struck()) return -1;
  int out = real(fd);
  done();
  return out;
}

int close(int fd) {
  int (*real)(int);
  *(void **)&real = next("close");
  if (!is_watched(fd)) return real(fd);
  watched[fd] = 0;
  int failed = struck(), error = errno, out = real(fd);
  done();
  if (!failed) return out;
  errno = error;
  return -1;
}

#define ON_PATH(name, parameters, arguments, path)                                                 \
  int name parameters {                                                                            \
    int(*real) parameters;                                                                         \
    *(void **)&real = next(#name);                                                                 \
    if (!counts(path)) return real arguments;                                                      \
    if (struck()) return -1;                                                                       \
    int out = real arguments;                                                                      \
    done();                                                                                        \
    return out;                                                                                    \
  }
ON_PATH(rename, (const char *from, const char *to), (from, to), to)
ON_PATH(unlink, (const char *path), (path), path)
ON_PATH(remove, (const char *path), (path), path)
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode), path)
