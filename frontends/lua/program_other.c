/* program_other.c - commands that are programs of their own: `tfsdk X` runs tfsdk-X from the folder of
 * tfsdk itself. So a server or a tool with large libraries costs nothing while it is not used. */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int program_other(char **argv) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
  char path[PATH_MAX];
  const char *name = argv[1];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  char *slash;
  if (n <= 0 || name[0] == 0 || name[0] == '-' || name[strspn(name, letters)] != 0) return -1;
  path[n] = 0;
  slash = strrchr(path, '/');
  if (slash == NULL ||
      snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "tfsdk-%s", name) >=
          (int)(sizeof path - (size_t)(slash + 1 - path)) ||
      access(path, X_OK) != 0) {
    if (strcmp(name, "board") != 0) return -1;
    fprintf(stderr, "tfsdk: there is no tfsdk-board beside this program: it was left out, because "
                    "libmicrohttpd or dagre was missing when tfsdk was built\n");
    return PROGRAM_UNAVAILABLE;
  }
  execv(path, argv + 1);
  fprintf(stderr, "tfsdk: %s cannot be run: %s\n", path, strerror(errno));
  return PROGRAM_UNAVAILABLE;
}
