/* The file on the disk, and the runtime. FUZZ_FILE: its name, which says the reader; FUZZ_BESIDE: a folder whose
 * content lies beside it, or "". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target.h"

long target_accepted, target_refused;

void target_settle(tfsdk_status *s) {
  if (s == NULL) {
    target_accepted++;
    return;
  }
  target_refused++;
  if (strlen(tfsdk_status_message(s)) < 10) abort();
  tfsdk_status_release(s);
}

target_place *target_open(void) {
  static target_place p;
  char command[2048];
  const char *plugins = getenv("FUZZ_PLUGINS");
  tfsdk_runtime_options o = {.struct_size = sizeof o,
                             .plugin_path = plugins != NULL ? plugins : FUZZ_PLUGINS,
                             .threads = 1,
                             .memory_limit = (uint64_t)1 << 30,
                             .log_level = TFSDK_LOG_NONE};
  tfsdk_status *s = tfsdk_runtime_create(&o, &p.rt);
  if (s != NULL) {
    fprintf(stderr, "%s\n", tfsdk_status_text(s));
    exit(2);
  }
  snprintf(p.folder, sizeof p.folder, "/tmp/tfsdk_fuzz.XXXXXX");
  if (mkdtemp(p.folder) == NULL) exit(2);
  snprintf(p.path, sizeof p.path, "%s/%s", p.folder, FUZZ_FILE);
  if (FUZZ_BESIDE[0] != 0) {
    snprintf(command, sizeof command, "cp -r '%s'/* '%s'", FUZZ_BESIDE, p.folder);
    if (system(command) != 0) exit(2);
  }
  return &p;
}

void target_one(target_place *p, const unsigned char *data, size_t n) {
  unlink(p->path);
  FILE *out = fopen(p->path, "wb");
  if (out == NULL || fwrite(data, 1, n, out) != n || fclose(out) != 0) {
    perror(p->path);
    exit(2);
  }
  target_try(p->rt, p->path, data, n);
}

unsigned long long target_close(target_place *p) {
  char command[128];
  tfsdk_memory_info m = {0};
  tfsdk_runtime_memory(p->rt, "cpu:0", &m);
  tfsdk_runtime_release(p->rt);
  snprintf(command, sizeof command, "rm -rf '%s'", p->folder);
  return system(command) != 0 ? 1 : (unsigned long long)m.live_tensors;
}
