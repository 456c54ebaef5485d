/* Files that appear whole or not at all; see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "run/model" -> "run"; "model" -> "."; "/model" -> "/". */
static const char *folder_of(arena *memory, const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return ".";
  return slash == path ? "/" : arena_text(memory, path, (size_t)(slash - path));
}

static tfsdk_status *make_folders(const tfsdk_host *host, arena *memory, const char *path) {
  struct stat st;
  const char *folder = folder_of(memory, path);
  if (folder == NULL) return NO_MEMORY(memory);
  if (stat(folder, &st) == 0 || errno != ENOENT) return NULL; /* opening the file says the rest */
  TFSDK_TRY(make_folders(host, memory, folder));
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return file_error(host, folder, "the folder cannot be made", errno);
  return NULL;
}

tfsdk_status *output_open(output *o, const tfsdk_host *host, arena *memory, const char *path,
                          void *buffer) {
  memset(o, 0, sizeof *o);
  o->fd = -1;
  TFSDK_TRY(make_folders(host, memory, path));
  o->path = arena_text(memory, path, strlen(path));
  o->temporary = arena_format(memory, "%s.tmp", path);
  o->buffer = buffer != NULL ? buffer : arena_get(memory, OUTPUT_BUFFER);
  if (o->path == NULL || o->temporary == NULL || o->buffer == NULL) return NO_MEMORY(memory);
  /* What is there was left by a process that was killed. A link somebody put there is not followed,
   * and of two that write the same file at once one is refused. */
  (void)unlink(o->temporary);
  o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (o->fd < 0) return file_error(host, o->path, "cannot be written", errno);
  o->host = host;
  return NULL;
}

#define WRITE_BACK ((uint64_t)8 << 20)

static tfsdk_status *put(output *o, const void *data, uint64_t n) {
  const char *p = data;
  while (n > 0) {
    ssize_t done = write(o->fd, p, n > (1u << 30) ? (1u << 30) : (size_t)n);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return file_error(o->host, o->path, "cannot be written", errno);
    p += done;
    n -= (uint64_t)done;
    o->handed += (uint64_t)done;
  }
#ifdef SYNC_FILE_RANGE_WRITE
  if (o->handed - o->begun >= WRITE_BACK) { /* the disk works while we go on; no promise yet */
    (void)sync_file_range(o->fd, (off_t)o->begun, (off_t)(o->handed - o->begun),
                          SYNC_FILE_RANGE_WRITE);
    o->begun = o->handed;
  }
#endif
  return NULL;
}

static tfsdk_status *empty_buffer(output *o) {
  size_t n = o->held;
  o->held = 0;
  return put(o, o->buffer, n);
}

tfsdk_status *output_write(output *o, const void *data, uint64_t n) {
  if (n > OUTPUT_BUFFER - o->held) TFSDK_TRY(empty_buffer(o));
  o->at += n;
  if (n >= OUTPUT_BUFFER) return put(o, data, n);
  if (n > 0) memcpy(o->buffer + o->held, data, n);
  o->held += n;
  return NULL;
}

tfsdk_status *output_flush(output *o, bool durable) {
  TFSDK_TRY(empty_buffer(o));
  if (durable && fsync(o->fd) != 0)
    return file_error(o->host, o->path, "cannot be made durable", errno);
  return NULL;
}

/* A name is durable once its folder is. Some file systems refuse that; then nobody can do more. */
static tfsdk_status *sync_folder(output *o) {
  char room[4096];
  const char *slash = strrchr(o->path, '/');
  const char *folder = slash == NULL ? "." : slash == o->path ? "/" : room;
  if (folder == room) {
    if ((size_t)(slash - o->path) >= sizeof room)
      return file_error(o->host, o->path, "cannot be made durable", ENAMETOOLONG);
    memcpy(room, o->path, (size_t)(slash - o->path));
    room[slash - o->path] = 0;
  }
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int error = fd < 0 ? errno : fsync(fd) != 0 ? errno : 0;
  if (fd >= 0) close(fd);
  if (error == 0 || error == EINVAL || error == EBADF) return NULL;
  return file_error(o->host, folder, "the folder cannot be made durable", error);
}

tfsdk_status *output_seal(output *o) {
  TFSDK_TRY(output_flush(o, true));
  int fd = o->fd;
  o->fd = -1;
  if (close(fd) != 0) return file_error(o->host, o->path, "cannot be written", errno);
  return NULL;
}

tfsdk_status *output_commit(output *o) {
  if (o->fd >= 0) TFSDK_TRY(output_seal(o));
  if (rename(o->temporary, o->path) != 0)
    return file_error(o->host, o->path, "cannot be put in its place", errno);
  tfsdk_status *s = sync_folder(o);
  o->host = NULL; /* there is nothing left to remove */
  return s;
}

void output_close(output *o) {
  if (o->host == NULL) return;
  if (o->fd >= 0) close(o->fd);
  (void)unlink(o->temporary);
  o->host = NULL;
}

tfsdk_status *output_text(const tfsdk_host *host, arena *memory, const char *path, const char *text,
                          size_t n) {
  output o;
  TFSDK_TRY(output_open(&o, host, memory, path, NULL));
  tfsdk_status *s = output_write(&o, text, n);
  if (s == NULL) s = output_commit(&o);
  output_close(&o);
  return s;
}
