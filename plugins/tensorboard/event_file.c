/* Event files; see event_file.h. */
#include "event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

#define MOST_PENDING ((size_t)64 << 20) /* while the disk is full: what is more is lost */

static const char version[] = "brain.Event:2";

double event_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void event_put(pb *b, double wall_time, int64_t step, uint32_t field, const void *bytes, size_t n) {
  pb_put_double(b, 1, wall_time);
  pb_put_int(b, 2, step);
  if (field != 0) pb_always_bytes(b, field, bytes, n);
}

void event_file_init(event_file *f, const tfsdk_host *host, const char *folder,
                     const char *suffix) {
  pb first = pb_new(host);
  memset(f, 0, sizeof *f);
  f->host = host;
  f->folder = folder;
  f->suffix = suffix;
  f->fd = -1;
  f->doing = "";
  f->pending = pb_new(host);
  event_put(&first, (double)(int64_t)event_now(), 0, 3, version, sizeof version - 1);
  if (first.failed)
    f->lost++;
  else
    event_file_add(f, first.p, first.n);
  pb_free(&first);
}

void event_file_add(event_file *f, const char *event, size_t n) {
  size_t before = f->pending.n;
  if (f->error != 0 && before - f->done > MOST_PENDING) {
    f->lost++;
    return;
  }
  record_put(&f->pending, event, n);
  if (!f->pending.failed) return;
  f->pending.n = before; /* whole records only */
  f->pending.failed = false;
  f->lost++;
}

static bool fail(event_file *f, const char *doing) {
  f->error = errno != 0 ? errno : EIO;
  f->doing = doing;
  return false;
}

/* All folders of f->path up to its last slash. */
static bool make_folders(event_file *f) {
  for (char *p = f->path + 1; *p != 0; p++) {
    if (*p != '/') continue;
    *p = 0;
    struct stat st;
    bool made = mkdir(f->path, 0777) == 0 || errno == EEXIST;
    int error = errno;
    if (!made && stat(f->path, &st) == 0) made = true; /* of a read-only disk, but there */
    *p = '/';
    errno = error;
    if (!made) return fail(f, "the folder cannot be made");
  }
  return true;
}

/* events.out.tfevents.TIME.HOST.PID.N: N tells the writers of one process apart. */
static bool open_file(event_file *f) {
  static atomic_uint counter;
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0 || host[0] == 0) snprintf(host, sizeof host, "host");
  for (char *p = host; *p != 0; p++)
    if (*p == '/') *p = '_';
  for (int tries = 0; tries < 1000; tries++) {
    int n = snprintf(f->path, sizeof f->path, "%s/events.out.tfevents.%010lld.%s.%ld.%u%s",
                     f->folder, (long long)event_now(), host, (long)getpid(),
                     atomic_fetch_add(&counter, 1), f->suffix);
    if (n < 0 || (size_t)n >= sizeof f->path) {
      errno = ENAMETOOLONG;
      return fail(f, "the file cannot be made");
    }
    if (tries == 0 && !make_folders(f)) return false;
    f->fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (f->fd >= 0) return true;
    if (errno != EEXIST) break;
  }
  return fail(f, "the file cannot be made");
}

void event_file_write(event_file *f, bool durable) {
  f->error = 0;
  if (f->fd < 0 && !open_file(f)) return;
  while (f->done < f->pending.n) {
    ssize_t n = write(f->fd, f->pending.p + f->done, f->pending.n - f->done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      fail(f, "the file cannot be written");
      return;
    }
    f->done += (size_t)n;
  }
  f->done = f->pending.n = 0;
  if (durable && fsync(f->fd) != 0 && errno != EINVAL) fail(f, "the file cannot be made durable");
}

tfsdk_status *event_file_status(const event_file *f) {
  int32_t code =
      f->error == ENOSPC || f->error == EDQUOT || f->error == EFBIG  ? TFSDK_RESOURCE_EXHAUSTED
      : f->error == EACCES || f->error == EPERM || f->error == EROFS ? TFSDK_PERMISSION_DENIED
      : f->error == ENOENT || f->error == ENOTDIR                    ? TFSDK_NOT_FOUND
                                                                     : TFSDK_UNAVAILABLE;
  if (f->error != 0)
    return f->host->fail(f->host, code, __FILE__, __LINE__,
                         "%s: %s: %s (%zu bytes of events wait, %llu events are lost)",
                         f->path[0] != 0 ? f->path : f->folder, f->doing, strerror(f->error),
                         f->pending.n - f->done, (unsigned long long)f->lost);
  if (f->lost != 0)
    return f->host->fail(f->host, TFSDK_DATA_LOSS, __FILE__, __LINE__,
                         "%s: %llu events are lost: there was no room for them", f->path,
                         (unsigned long long)f->lost);
  return NULL;
}

void event_file_close(event_file *f) {
  if (f->fd >= 0 && close(f->fd) != 0 && f->error == 0) fail(f, "the file cannot be closed");
  f->fd = -1;
  pb_free(&f->pending);
}
