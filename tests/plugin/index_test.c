/* Folders of plugins: what is found on the search path, in which order, and what their index saves.
 */
#include "common.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A folder with copies of some files of bad/. */
typedef struct folder {
  char path[64];
} folder;

static void run(const char *format, const char *a, const char *b, const char *c) {
  char command[8192];
  snprintf(command, sizeof command, format, a, b, c);
  cr_assert_eq(system(command), 0, "%s", command);
}

static folder folder_of(const char *files) {
  folder f = {"/tmp/tfsdk-folder-XXXXXX"};
  cr_assert_not_null(mkdtemp(f.path));
  if (files[0] != 0)
    run("cd '%s' && for f in %s; do cp $f.so '%s/'; done", BAD_FOLDER, files, f.path);
  return f;
}

static void remove_folder(folder f) { run("rm -r '%s'%s%s", f.path, "", ""); }

/* In a process of its own, as the program does it: what a process has opened stays in it. */
static void make_index(folder f) {
  int verdict = -1;
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child == 0) {
    log_text log;
    tfsdk_runtime *rt = runtime(NULL, &log);
    tfsdk_status *s = tfsdk_plugin_index(rt, f.path);
    if (s != NULL) fprintf(stderr, "%s\n", tfsdk_status_text(s));
    _exit(s != NULL);
  }
  cr_assert_eq(waitpid(child, &verdict, 0), child);
  cr_assert_eq(verdict, 0);
}

static void expect_state(tfsdk_runtime *rt, const char *file, const char *state) {
  report r = report_of(rt, file);
  cr_expect_eq(r.found, 1, "%s is %d times in the report", file, r.found);
  cr_expect_str_eq(r.state, state, "%s is %s (%s), not %s", file, r.state, r.detail, state);
}

/* ----------------------------------------------------------------------------- without an index */

/* Only the files themselves can tell what they provide: all are opened, at the first look-up. */
Test(plugin_folder, without_index_every_file_is_opened) {
  folder f = folder_of("good kernels newer_built");
  log_text log;
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(has_op(rt, "test.Good"));
  expect_state(rt, "/good.so", "loaded");
  expect_state(rt, "/kernels.so", "loaded");
  expect_state(rt, "/newer_built.so", "loaded");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* One that was found and fails is a warning; the others work. */
Test(plugin_folder, a_bad_file_does_not_harm_the_others) {
  folder f = folder_of("good wrong_magic no_elf probe_zero");
  char want[512];
  log_text log;
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(has_op(rt, "test.Good"));
  snprintf(
      want, sizeof want,
      "2 cannot load plugin no_elf.so: not a shared object (it has no ELF header); build it with "
      "-shared (%s/no_elf.so)\n",
      f.path);
  cr_expect_not_null(strstr(log.text, want), "%s", log.text);
  cr_expect_not_null(strstr(log.text, "2 cannot load plugin wrong_magic.so: "), "%s", log.text);
  /* a machine that lacks something is in the order of things: no warning */
  cr_expect_not_null(strstr(log.text, "1 cannot load plugin probe_zero.so: "), "%s", log.text);
  expect_state(rt, "/no_elf.so", "refused");
  expect_state(rt, "/wrong_magic.so", "refused");
  expect_state(rt, "/probe_zero.so", "unavailable");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

Test(plugin_folder, one_that_was_asked_for_and_fails_is_an_error) {
  folder f = folder_of("good wrong_magic probe_zero");
  log_text log;
  tfsdk_runtime *rt = runtime(f.path, &log);
  expect_error(tfsdk_plugin_require(rt, "wrong_magic"), TFSDK_INCOMPATIBLE,
               "cannot load plugin wrong_magic.so: its manifest begins with 0x12345678, not with "
               "0x4b534654; begin it with TFSDK_PLUGIN_HEAD");
  expect_error(
      tfsdk_plugin_require(rt, "test-probe-zero"), TFSDK_UNAVAILABLE,
      "cannot load plugin probe_zero.so: it cannot work on this machine: no quantum coprocessor");
  expect_ok(tfsdk_plugin_require(rt, "test-good"));
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

Test(plugin_folder, an_unknown_name_names_the_nearest) {
  folder f = folder_of("good");
  log_text log;
  tfsdk_runtime *rt = runtime(f.path, &log);
  tfsdk_status *s = tfsdk_plugin_require(rt, "test-godo");
  cr_assert_not_null(s);
  cr_expect_not_null(strstr(tfsdk_status_message(s), "; did you mean 'test-good'?"), "%s",
                     tfsdk_status_message(s));
  tfsdk_status_release(s);
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* a.so needs what good.so has: the order of the files does not matter. */
Test(plugin_folder, needs_are_loaded_first) {
  folder f = folder_of("good needs_good");
  log_text log;
  run("cd '%s' && mv needs_good.so a.so%s%s", f.path, "", "");
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(has_op(rt, "test.NeedsGood"));
  expect_state(rt, "/a.so", "loaded");
  cr_expect_str_eq(log.text, "");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

Test(plugin_folder, needs_in_a_circle) {
  folder f = folder_of("circle_a circle_b");
  log_text log;
  tfsdk_runtime *rt = runtime(f.path, &log);
  expect_error(
      tfsdk_plugin_require(rt, "test-circle-a"), TFSDK_FAILED_PRECONDITION,
      "cannot load plugin circle_a.so: it needs test-circle-b: cannot load plugin circle_b.so: it "
      "needs test-circle-a: the needs go in a circle: test-circle-a needs test-circle-b needs "
      "test-circle-a; take one of them out");
  cr_expect_not(has_op(rt, "test.CircleA"));
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

Test(plugin_folder, the_first_folder_of_the_path_counts) {
  folder first = folder_of("good"), second = folder_of("rival");
  char path[256];
  log_text log;
  snprintf(path, sizeof path, "%s:%s", first.path, second.path);
  tfsdk_runtime *rt = runtime(path, &log);
  cr_expect(has_op(rt, "test.Good"));
  cr_expect_not(has_op(rt, "test.Rival"));
  expect_state(rt, "/rival.so", "refused");
  cr_expect_null(strstr(log.text, "2 "), "an overridden plugin is no warning: %s", log.text);
  tfsdk_runtime_release(rt);
  snprintf(path, sizeof path, "%s:%s", second.path, first.path);
  rt = runtime(path, &log);
  cr_expect(has_op(rt, "test.Rival"));
  cr_expect_not(has_op(rt, "test.Good"));
  tfsdk_runtime_release(rt);
  remove_folder(first);
  remove_folder(second);
}

Test(plugin_folder, two_of_one_name_in_one_folder_is_a_warning) {
  folder f = folder_of("good rival");
  char want[512];
  log_text log;
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(has_op(rt, "test.Good"));
  snprintf(
      want, sizeof want,
      "2 plugin %s/rival.so is not used: another plugin named 'test-good' came first: %s/good.so\n",
      f.path, f.path);
  cr_expect_str_eq(log.text, want);
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

Test(plugin_folder, a_folder_that_is_not_there_is_told) {
  log_text log;
  tfsdk_runtime *rt = runtime("/nowhere/at/all", &log);
  cr_expect_not(has_op(rt, "test.Good"));
  cr_expect_str_eq(log.text, "2 plugin path: /nowhere/at/all: there is no such folder\n");
  expect_state(rt, "/nowhere/at/all", "refused");
  tfsdk_runtime_release(rt);
}

Test(plugin_folder, environment_variable) {
  folder f = folder_of("good");
  log_text log;
  setenv("TFSDK_PLUGIN_PATH", f.path, 1);
  tfsdk_runtime *rt = runtime(NULL, &log);
  cr_expect(has_op(rt, "test.Good"));
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* -------------------------------------------------------------------------------- with an index */

Test(plugin_index, only_the_file_that_is_needed_is_opened) {
  folder f = folder_of("good kernels newer_built forgetful");
  log_text log;
  make_index(f);
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(tfsdk_op_known(rt, "test.NewerBuilt"));
  expect_state(rt, "/good.so", "indexed");
  expect_state(rt, "/newer_built.so", "indexed");
  cr_expect(has_op(rt, "test.Good"));
  expect_state(rt, "/good.so", "loaded");
  expect_state(rt, "/kernels.so", "indexed");
  expect_state(rt, "/newer_built.so", "indexed");
  expect_state(rt, "/forgetful.so", "indexed");
  tfsdk_runtime_release(rt);
  cr_expect_str_eq(log.text, "");
  remove_folder(f);
}

static int see_kernel(void *user, const char *device, const char *label, const char *plugin,
                      int32_t priority, const char *dtypes) {
  (void)dtypes;
  char *text = user;
  size_t n = strlen(text);
  snprintf(text + n, 512 - n, "%s %s %s %d\n", device, label, plugin, (int)priority);
  return 0;
}

/* Kernels come when their op is used, whoever has them. */
Test(plugin_index, kernels_are_found_by_op) {
  folder f = folder_of("good kernels newer_built");
  char text[512] = "";
  log_text log;
  make_index(f);
  tfsdk_runtime *rt = runtime(f.path, &log);
  expect_ok(tfsdk_kernel_each(rt, "test.Good", see_kernel, text));
  cr_expect_str_eq(text, "cpu test test-kernels 150\nabacus beads test-kernels 100\n"
                         "cpu reference test-good 0\n");
  expect_state(rt, "/newer_built.so", "indexed");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

Test(plugin_index, says_what_the_files_have) {
  folder f = folder_of("good kernels");
  log_text log;
  make_index(f);
  tfsdk_runtime *rt = runtime(f.path, &log);
  report good = report_of(rt, "/good.so"), kernels = report_of(rt, "/kernels.so");
  cr_expect_str_eq(good.name, "test-good");
  cr_expect_eq(good.n_ops, 1u);
  cr_expect_eq(good.n_kernels, 0u);
  cr_expect_eq(kernels.n_ops, 0u);
  cr_expect_eq(kernels.n_kernels, 2u);
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* The lines themselves: other programs may read them. */
Test(plugin_index, text) {
  folder f = folder_of("kernels");
  char path[128], text[2048] = "", *p;
  make_index(f);
  snprintf(path, sizeof path, "%s/index.txt", f.path);
  FILE *in = fopen(path, "r");
  cr_assert_not_null(in);
  cr_assert_gt(fread(text, 1, sizeof text - 1, in), 0u);
  fclose(in);
  p = strstr(text, "\nfile ");
  cr_assert_not_null(p);
  cr_expect_eq(strncmp(text, "tfsdk plugin index 1\n", 21), 0);
  cr_expect_not_null(strstr(p, " build-id:"));
  p = strchr(p + 1, '\n');
  cr_assert_not_null(p);
  cr_expect_str_eq(p + 1,
                   "plugin test-kernels\nversion 1.0\nkinds 32\nsummary a plugin of the tests\n"
                   "kernel test.Good cpu\nkernel test.Good abacus\nend\n");
  remove_folder(f);
}

static void set_mtime(folder f, const char *file, time_t seconds) {
  char path[128];
  struct timespec times[2] = {{seconds, 0}, {seconds, 5}};
  snprintf(path, sizeof path, "%s/%s.so", f.path, file);
  cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Installing and copying give new times; the build is the same (newer_built carries no build id).
 */
Test(plugin_index, survives_copying) {
  folder f = folder_of("good newer_built"), g = folder_of("");
  log_text log;
  make_index(f);
  run("cp '%s'/* '%s/'%s", f.path, g.path, "");
  set_mtime(g, "good", 1000000000);
  set_mtime(g, "newer_built", 1000000000);
  tfsdk_runtime *rt = runtime(g.path, &log);
  cr_expect(tfsdk_op_known(rt, "test.Good"));
  expect_state(rt, "/good.so", "indexed");
  expect_state(rt, "/newer_built.so", "indexed");
  tfsdk_runtime_release(rt);
  remove_folder(f);
  remove_folder(g);
}

/* Stripping changes size and content, but not what the file provides; the build id stays. */
Test(plugin_index, survives_stripping) {
  folder f = folder_of("good");
  log_text log;
  make_index(f);
  if (system("command -v strip > /dev/null") != 0) cr_skip_test("strip is not there");
  run("strip '%s/good.so'%s%s", f.path, "", "");
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(tfsdk_op_known(rt, "test.Good"));
  expect_state(rt, "/good.so", "indexed");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* Another build under the old name: the index no longer speaks of it. */
Test(plugin_index, a_replaced_file_is_opened) {
  folder f = folder_of("good newer_built");
  log_text log;
  make_index(f);
  run("cp '%s/longer_zero.so' '%s/good.so'%s", BAD_FOLDER, f.path, "");
  set_mtime(f, "good", 1000000000);
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(tfsdk_op_known(rt, "test.LongerZero"));
  cr_expect_not(tfsdk_op_known(rt, "test.Good"));
  report r = report_of(rt, "/good.so");
  cr_expect_str_eq(r.state, "loaded");
  cr_expect_str_eq(r.name, "test-longer-zero");
  cr_expect_str_eq(r.detail, "the folder's index describes another build of it");
  expect_state(rt, "/newer_built.so", "indexed");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* The same for a file without a build id. */
Test(plugin_index, a_replaced_file_without_build_id_is_opened) {
  folder f = folder_of("good newer_built");
  log_text log;
  make_index(f);
  run("printf x >> '%s/newer_built.so'%s%s", f.path, "", "");
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(tfsdk_op_known(rt, "test.NewerBuilt"));
  expect_state(rt, "/newer_built.so", "loaded");
  expect_state(rt, "/good.so", "indexed");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

Test(plugin_index, an_added_file_is_opened) {
  folder f = folder_of("good");
  log_text log;
  make_index(f);
  run("cp '%s/newer_built.so' '%s/'%s", BAD_FOLDER, f.path, "");
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(tfsdk_op_known(rt, "test.NewerBuilt"));
  report r = report_of(rt, "/newer_built.so");
  cr_expect_str_eq(r.state, "loaded");
  cr_expect_str_eq(r.detail, "the folder's index does not list it");
  expect_state(rt, "/good.so", "indexed");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

Test(plugin_index, a_removed_file_is_not_missed) {
  folder f = folder_of("good newer_built");
  log_text log;
  make_index(f);
  run("rm '%s/good.so'%s%s", f.path, "", "");
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect_not(tfsdk_op_known(rt, "test.Good"));
  cr_expect(has_op(rt, "test.NewerBuilt"));
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* Cut off, or of another version: as if it were not there. */
Test(plugin_index, a_damaged_index_is_not_believed) {
  folder f = folder_of("good");
  log_text log;
  make_index(f);
  run("sed -i '$d' '%s/index.txt'%s%s", f.path, "", "");
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(tfsdk_op_known(rt, "test.Good"));
  expect_state(rt, "/good.so", "loaded");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* What could not work where the index was written is tried when nothing else has what is looked
 * for. */
Test(plugin_index, unavailable_is_kept_in_mind) {
  folder f = folder_of("good probe_zero");
  log_text log;
  make_index(f);
  tfsdk_runtime *rt = runtime(f.path, &log);
  cr_expect(has_op(rt, "test.Good"));
  cr_expect_str_eq(log.text, "", "probe_zero was not opened: %s", log.text);
  expect_state(rt, "/probe_zero.so", "unavailable");
  cr_expect_not(has_op(rt, "test.ProbeZero"));
  cr_expect_not_null(strstr(log.text, "1 cannot load plugin probe_zero.so: "), "%s", log.text);
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* An op whose plugin the index knows, and which then fails: that is the error, not "no such op". */
Test(plugin_index, a_provider_that_fails_is_the_error) {
  folder f = folder_of("good");
  const tfsdk_opdef *def;
  log_text log;
  make_index(f);
  run("cp '%s/wrong_magic.so' '%s/good.so'%s", BAD_FOLDER, f.path, "");
  /* make the index believe in it: size and time of the new file */
  char path[128], command[512];
  struct stat st;
  snprintf(path, sizeof path, "%s/good.so", f.path);
  cr_assert_eq(stat(path, &st), 0);
  snprintf(command, sizeof command,
           "sed -i 's/^file [0-9]* [0-9]* /file %lld %lld%09ld /' '%s/index.txt'",
           (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, f.path);
  cr_assert_eq(system(command), 0);
  tfsdk_runtime *rt = runtime(f.path, &log);
  for (int twice = 0; twice < 2; twice++)
    expect_error(
        tfsdk_op_find(rt, "test.Good", &def), TFSDK_INCOMPATIBLE,
        "a plugin has op 'test.Good': cannot load plugin good.so: its manifest begins with "
        "0x12345678, not with 0x4b534654; begin it with TFSDK_PLUGIN_HEAD");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

Test(plugin_index, of_a_folder_that_is_not_there) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_error(tfsdk_plugin_index(rt, "/nowhere/at/all"), TFSDK_NOT_FOUND,
               "cannot write an index of /nowhere/at/all: there is no such folder");
  tfsdk_runtime_release(rt);
}

/* Whichever allocation fails while the folders are read, the next look-up finds everything. */
Test(plugin_index, every_allocation_may_fail) {
  folder f = folder_of("good kernels newer_built probe_zero");
  log_text log;
  run("cp '%s/longer_zero.so' '%s/'%s", BAD_FOLDER, f.path, "");
  make_index(f);
  run("cp '%s/needs_good.so' '%s/'%s", BAD_FOLDER, f.path, "");
  for (uint64_t n = 1;; n++) {
    tfsdk_runtime *rt = runtime(f.path, &log);
    const tfsdk_opdef *def;
    cr_assert_lt(n, 10000u);
    tfsdk_runtime_fail_allocation(rt, n, 0);
    tfsdk_status *s = tfsdk_op_find(rt, "test.Good", &def);
    tfsdk_runtime_fail_allocation(rt, 0, 0);
    cr_expect(has_op(rt, "test.Good"));
    cr_expect(has_op(rt, "test.LongerZero"));
    tfsdk_runtime_release(rt);
    if (s == NULL && n > 100) break;
    tfsdk_status_release(s);
  }
  remove_folder(f);
}

/* -------------------------------------------------------------------------------------- threads */

typedef struct worker {
  pthread_t thread;
  tfsdk_runtime *rt; /* NULL: makes its own */
  const char *path;
  int good;
} worker;

static void *look_up(void *user) {
  worker *w = user;
  log_text log;
  tfsdk_runtime *rt = w->rt ? w->rt : runtime(w->path, &log);
  w->good = has_op(rt, "test.Good") && has_op(rt, "test.NewerBuilt") && !has_op(rt, "test.Nowhere");
  if (w->rt == NULL) tfsdk_runtime_release(rt);
  return NULL;
}

static void look_up_in_threads(const char *path, tfsdk_runtime *rt) {
  worker w[8];
  for (int i = 0; i < 8; i++) {
    w[i].rt = rt;
    w[i].path = path;
    cr_assert_eq(pthread_create(&w[i].thread, NULL, look_up, &w[i]), 0);
  }
  for (int i = 0; i < 8; i++) {
    pthread_join(w[i].thread, NULL);
    cr_expect(w[i].good);
  }
}

Test(plugin_threads, one_runtime_loads_each_plugin_once) {
  folder f = folder_of("good kernels newer_built");
  log_text log;
  make_index(f);
  tfsdk_runtime *rt = runtime(f.path, &log);
  look_up_in_threads(f.path, rt);
  expect_state(rt, "/good.so", "loaded");
  cr_expect_str_eq(log.text, "");
  tfsdk_runtime_release(rt);
  remove_folder(f);
}

/* libltdl is not made for threads; the runtimes share it. */
Test(plugin_threads, runtimes_do_not_disturb_each_other) {
  folder f = folder_of("good kernels newer_built no_elf undefined_symbol");
  look_up_in_threads(f.path, NULL);
  remove_folder(f);
}
