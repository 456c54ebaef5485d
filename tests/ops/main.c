/* The conformance runner: every op of the registry against its own record.
 *   conformance [--op NAME] [--check NAME] [--shard I/N] [--list] [--device NAME --plugin FILE]
 *               [--prefer KERNEL]
 * Each op runs in a child process, so that a crash is one failure. With --device the ops' inputs
 * are on that device, and the ops run there where it has kernels. With --prefer the kernels of that
 * label or plugin are checked, whatever their priority. */
#include "kit.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *prefer;

void pass(report *r) { r->passed++; }

static void heading(report *r, const char *check) {
  printf("FAIL %s%s%s%s%s [%s] ", r->op, r->text ? " '" : "", r->text ? r->text : "",
         r->text ? "' " : "", r->T ? tfsdk_dtype_name(r->T) : "", check);
}

void fail(report *r, const char *check, const char *format, ...) {
  va_list args;
  r->failed++;
  heading(r, check);
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  printf("\n");
}

void fail_status(report *r, const char *check, tfsdk_status *take) {
  fail(r, check, "%s", tfsdk_status_text(take));
  tfsdk_status_release(take);
}

void skip(report *r, const char *check, const char *why) {
  r->skipped++;
  printf("skip %s [%s] %s\n", r->op, check, why);
}

bool wants_check(const report *r, const char *check) {
  return r->only == NULL || strcmp(r->only, check) == 0;
}

static void check_sample(report *r, const runtimes *rts, const tfsdk_opdef *op, const char *text,
                         int32_t T, bool first) {
  sample s;
  char why[200];
  r->T = T;
  if (!sample_parse(op, text, T, &s, why, sizeof why)) {
    fail(r, "record", "%s", why);
    return;
  }
  check_values(r, rts, &s);
  check_gradients(r, rts, &s);
  if (first) check_memory(r, rts, &s);
  sample_free(&s);
  check_shapes(r, rts, op, text, T);
}

/* A preference that nothing answers would check the usual kernels and pass. */
static int is_preferred(void *user, const char *device, const char *label, const char *plugin,
                        int32_t priority, const char *dtypes) {
  (void)device;
  (void)priority;
  (void)dtypes;
  *(int *)user |= strcmp(label, prefer) == 0 || strcmp(plugin, prefer) == 0;
  return 0;
}

static void check_op(report *r, const char *name) {
  runtimes rts;
  const tfsdk_opdef *op;
  r->op = name;
  tfsdk_runtime_options quiet = {
      .struct_size = sizeof quiet, .log_level = TFSDK_LOG_ERROR, .threads = 2};
  tfsdk_status *s = tfsdk_runtime_create(&quiet, &rts.plain);
  if (s == NULL) s = tfsdk_runtime_create(&quiet, &rts.reference);
  if (s == NULL) s = tfsdk_runtime_prefer(rts.reference, NULL, "reference");
  if (s == NULL && prefer != NULL) s = tfsdk_runtime_prefer(rts.plain, NULL, prefer);
  if (s == NULL && other_device.plugin != NULL)
    s = tfsdk_plugin_load(rts.plain, other_device.plugin);
  if (s == NULL && other_device.device != NULL) {
    s = tfsdk_ctx_push_device(tfsdk_eager_ctx(rts.plain), other_device.device);
    other_device.rt = rts.plain;
  }
  if (s == NULL) s = tfsdk_op_find(rts.plain, name, &op);
  if (s == NULL && prefer != NULL) {
    int there = 0;
    s = tfsdk_kernel_each(rts.plain, name, is_preferred, &there);
    if (s == NULL && !there) fail(r, "load", "there is no kernel '%s' to prefer", prefer);
  }
  if (s != NULL) {
    fail_status(r, "load", s);
    return;
  }
  tfsdk_runtime_guard(rts.plain, 1);
  check_record(r, op);
  bool special = op->flags & (TFSDK_OP_PLACEHOLDER | TFSDK_OP_CONSTANT);
  for (const char *const *text = op->samples; text != NULL && *text != NULL && !special; text++) {
    int32_t types[32];
    r->text = *text;
    sample_types(op, *text, types);
    int32_t *T = types;
    do {
      check_sample(r, &rts, op, *text, *T, text == op->samples && T == types);
    } while (*T != 0 && *++T != 0);
  }
  if (special) pass(r); /* Const and Placeholder: every graph test runs through them */
  tfsdk_memory_info m;
  tfsdk_runtime_memory(rts.plain, NULL, &m);
  if (m.damaged)
    fail(r, "memory", "%llu guard zones were overwritten", (unsigned long long)m.damaged);
  if (r->passed + r->failed == 0 && r->only == NULL) fail(r, "record", "no case ran");
  tfsdk_runtime_release(rts.plain);
  tfsdk_runtime_release(rts.reference);
}

typedef struct names {
  char *list[2048];
  uint32_t n;
} names;
static int collect(void *user, const char *name) {
  names *all = user;
  if (all->n < 2048) all->list[all->n++] = strdup(name);
  return 0;
}

static void in_child(report *total, const char *name, const char *only) {
  int pipe_fd[2];
  report r = {.only = only};
  fflush(stdout);
  if (pipe(pipe_fd) != 0) exit(2);
  pid_t child = fork();
  if (child == 0) {
    alarm(300);
    check_op(&r, name);
    fflush(stdout);
    if (write(pipe_fd[1], &r, sizeof r) != (ssize_t)sizeof r) _exit(3);
    _exit(0);
  }
  close(pipe_fd[1]);
  int status = 0;
  bool got = read(pipe_fd[0], &r, sizeof r) == (ssize_t)sizeof r;
  waitpid(child, &status, 0);
  close(pipe_fd[0]);
  if (!got || status != 0) {
    r.failed = got ? r.failed + 1 : 1;
    printf("FAIL %s ended with %s %d\n", name, WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  total->passed += r.passed;
  total->failed += r.failed;
  total->skipped += r.skipped;
}

int main(int argc, char **argv) {
  const char *one = NULL, *only = NULL;
  uint32_t shard = 0, shards = 1;
  bool list = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--op") == 0 && i + 1 < argc)
      one = argv[++i];
    else if (strcmp(argv[i], "--check") == 0 && i + 1 < argc)
      only = argv[++i];
    else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
      other_device.device = argv[++i];
    else if (strcmp(argv[i], "--plugin") == 0 && i + 1 < argc)
      other_device.plugin = argv[++i];
    else if (strcmp(argv[i], "--prefer") == 0 && i + 1 < argc)
      prefer = argv[++i];
    else if (strcmp(argv[i], "--shard") == 0 && i + 1 < argc) {
      if (sscanf(argv[++i], "%u/%u", &shard, &shards) != 2 || shards == 0) return 2;
    } else if (strcmp(argv[i], "--list") == 0)
      list = true;
    else {
      fprintf(stderr, "usage: conformance [--op NAME] [--check NAME] [--shard I/N] [--list] "
                      "[--device NAME --plugin FILE] [--prefer KERNEL]\n");
      return 2;
    }
  }
  static names all;
  tfsdk_runtime *rt;
  tfsdk_status *s = tfsdk_runtime_create(NULL, &rt);
  if (s != NULL) {
    fprintf(stderr, "%s\n", tfsdk_status_text(s));
    return 1;
  }
  tfsdk_op_each(rt, collect, &all);
  tfsdk_runtime_release(rt);
  report total = {0};
  uint32_t ops = 0;
  for (uint32_t i = 0; i < all.n; i++) {
    if ((one != NULL && strcmp(one, all.list[i]) != 0) || i % shards != shard) continue;
    ops++;
    if (list)
      puts(all.list[i]);
    else
      in_child(&total, all.list[i], only);
  }
  printf("conformance: %u ops, %u passed, %u failed, %u skipped\n", ops, total.passed, total.failed,
         total.skipped);
  return total.failed > 0 || ops == 0;
}
