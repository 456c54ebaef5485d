/* file.c - writing a whole file: it appears with all its bytes, or what was there before stays.
 *
 * Regular files are written beside their place and renamed into it; the place is where a symbolic link leads, so the
 * link stays a link. Devices and pipes (/dev/stdout, /dev/null, a FIFO) cannot be replaced and are written into.
 */
#include "module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int32_t code_of(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR: return TFSDK_NOT_FOUND;
  case EACCES:
  case EPERM:
  case EROFS: return TFSDK_PERMISSION_DENIED;
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
  case EMFILE:
  case ENFILE:
  case ENOMEM: return TFSDK_RESOURCE_EXHAUSTED;
  case EISDIR:
  case ENAMETOOLONG:
  case ELOOP: return TFSDK_INVALID_ARGUMENT;
  default: return TFSDK_UNAVAILABLE;
  }
}

/* Gives 0 or errno. */
static int put(const char *path, const char *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  int error;
  if (f == NULL) return errno;
  error = fwrite(bytes, 1, n, f) == n ? 0 : errno;
  if (fclose(f) != 0 && error == 0) error = errno;
  return error;
}

static int put_whole(lua_State *L, const char *path, const char *bytes, size_t n) {
  struct stat is;
  char *real = NULL;
  const char *beside;
  int error;
  if (stat(path, &is) == 0) {
    if (S_ISDIR(is.st_mode)) return EISDIR;
    if (!S_ISREG(is.st_mode)) return put(path, bytes, n);
    real = realpath(path, NULL);
    if (real == NULL) return errno;
  } else if (lstat(path, &is) == 0) { /* a link that leads nowhere yet */
    return put(path, bytes, n);
  }
  if (real != NULL) { /* Lua's memory from here on: it may raise only while nothing else is held */
    char room[4096];
    size_t length = strlen(real);
    if (length < sizeof room) memcpy(room, real, length + 1);
    free(real);
    if (length >= sizeof room) return ENAMETOOLONG;
    path = lua_pushstring(L, room);
  }
  beside = lua_pushfstring(L, "%s.tmp", path);
  error = put(beside, bytes, n);
  if (error == 0 && rename(beside, path) != 0) error = errno;
  if (error != 0) remove(beside);
  return error;
}

void tl_write_file(lua_State *L, tl_state *st, const char *who, const char *path, const char *bytes,
                   size_t n) {
  int top = lua_gettop(L), error;
  luaL_checkstack(L, 4, NULL);
  error = put_whole(L, path, bytes, n);
  lua_settop(L, top);
  if (error != 0)
    tl_fail_code(L, st, code_of(error), who, "%s: the file cannot be written: %s", path,
                 strerror(error));
}

/* private.write_file(function, path, bytes) */
static int write_file(lua_State *L) {
  tl_state *st = tl_get(L);
  size_t n;
  const char *who = luaL_optstring(L, 1, NULL), *bytes = luaL_checklstring(L, 3, &n);
  if (lua_type(L, 2) != LUA_TSTRING)
    return tl_fail(L, st, who, "the file's name must be a string, not %s", tl_type_name(L, st, 2));
  tl_write_file(L, st, who, lua_tostring(L, 2), bytes, n);
  return 0;
}

void tl_open_file(lua_State *L, tl_state *st) {
  static const luaL_Reg hidden[] = {{"write_file", write_file}, {NULL, NULL}};
  tl_add_private(L, st, hidden);
}
