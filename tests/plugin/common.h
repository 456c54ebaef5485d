/* What the tests of this folder share: a runtime whose log is kept, and short words for what they
 * assert. */
#ifndef TFSDK_TESTS_PLUGIN_COMMON_H
#define TFSDK_TESTS_PLUGIN_COMMON_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfsdk/tfsdk.h>

typedef struct log_text {
  char text[16384];
} log_text;

static inline void keep_line(void *user, int32_t level, const char *line) {
  log_text *log = user;
  size_t n = strlen(log->text);
  snprintf(log->text + n, sizeof log->text - n, "%d %s\n", (int)level, line);
}

/* path NULL: nothing is found on its own but what lies beside libtfsdk. */
static inline tfsdk_runtime *runtime(const char *path, log_text *log) {
  tfsdk_runtime_options o = {
      .struct_size = sizeof o, .threads = 1, .plugin_path = path, .log_level = TFSDK_LOG_INFO};
  tfsdk_runtime *rt = NULL;
  memset(log, 0, sizeof *log);
  o.log = keep_line;
  o.log_user = log;
  tfsdk_status *s = tfsdk_runtime_create(&o, &rt);
  cr_assert_null(s, "%s", tfsdk_status_text(s));
  return rt;
}

/* The error's code and message, whole. */
static inline void expect_error(tfsdk_status *s, int32_t code, const char *message) {
  cr_assert_not_null(s, "succeeded; wanted: %s", message);
  cr_expect_str_eq(tfsdk_status_message(s), message, "\n got: %s\nwant: %s",
                   tfsdk_status_message(s), message);
  cr_expect_eq(tfsdk_status_code(s), code, "got %s, want %s: %s",
               tfsdk_status_code_name(tfsdk_status_code(s)), tfsdk_status_code_name(code), message);
  tfsdk_status_release(s);
}

static inline void expect_ok(tfsdk_status *s) {
  cr_expect_null(s, "%s", tfsdk_status_text(s));
  tfsdk_status_release(s);
}

/* What the load report says of the file at that path. */
typedef struct report {
  const char *path; /* asked for: the end of the path */
  int found;
  char state[16], detail[512], name[64];
  uint32_t n_ops, n_kernels;
} report;

static inline int match_report(void *user, const tfsdk_plugin_report *r) {
  report *want = user;
  size_t n = strlen(r->path), m = strlen(want->path);
  if (n < m || strcmp(r->path + n - m, want->path) != 0) return 0;
  want->found++;
  snprintf(want->state, sizeof want->state, "%s", r->state);
  snprintf(want->detail, sizeof want->detail, "%s", r->detail);
  snprintf(want->name, sizeof want->name, "%s", r->name);
  want->n_ops = r->n_ops;
  want->n_kernels = r->n_kernels;
  return 0;
}

static inline report report_of(tfsdk_runtime *rt, const char *path_end) {
  report r = {.path = path_end};
  tfsdk_plugin_each(rt, match_report, &r);
  return r;
}

static inline int has_op(tfsdk_runtime *rt, const char *name) {
  const tfsdk_opdef *def;
  tfsdk_status *s = tfsdk_op_find(rt, name, &def);
  int found = s == NULL;
  tfsdk_status_release(s);
  return found;
}

static inline uint64_t live_blocks(tfsdk_runtime *rt) {
  tfsdk_memory_info info;
  tfsdk_runtime_memory(rt, "cpu:0", &info);
  return info.live_blocks;
}

#endif
