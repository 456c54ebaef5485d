/* Loading plugins by path. Every file of bad/ is wrong in one point, said at its head; the loader
 * must answer with the cause and what to do about it. The texts are the contract: a change of one
 * is a change that users see. */
#include "common.h"
#include <sys/stat.h>
#include <unistd.h>

#define BAD(file) BAD_FOLDER "/" file ".so"

static void refused(const char *file, int32_t code, const char *message) {
  char path[4096];
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  snprintf(path, sizeof path, "%s/%s.so", BAD_FOLDER, file);
  tfsdk_status *s = tfsdk_plugin_load(rt, path);
  cr_assert_not_null(s, "%s was loaded", path);
  cr_expect_str_eq(tfsdk_status_get(s, "path"), path);
  expect_error(s, code, message);
  /* and it says the same when asked again, and in the report */
  expect_error(tfsdk_plugin_load(rt, path), code, message);
  snprintf(path, sizeof path, "/%s.so", file);
  report r = report_of(rt, path);
  const char *colon = strstr(message, ".so: ");
  cr_expect_eq(r.found, 1);
  cr_expect_str_eq(r.state, code == TFSDK_UNAVAILABLE ? "unavailable" : "refused");
  cr_expect_str_eq(r.detail, colon ? colon + 5 : "?");
  tfsdk_runtime_release(rt);
}

/* ------------------------------------------------------------------------------------- the file */

Test(plugin_file, absent) {
  refused("never_built", TFSDK_NOT_FOUND,
          "cannot load plugin never_built.so: there is no such file; check the path");
}

Test(plugin_file, folder) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_error(
      tfsdk_plugin_load(rt, BAD_FOLDER), TFSDK_INVALID_ARGUMENT,
      "cannot load plugin bad: this is a folder; name the plugin's file, or put the folder on "
      "the plugin path");
  tfsdk_runtime_release(rt);
}

Test(plugin_file, no_elf) {
  refused("no_elf", TFSDK_INVALID_ARGUMENT,
          "cannot load plugin no_elf.so: not a shared object (it has no ELF header); build it with "
          "-shared");
}

Test(plugin_file, missing_dependency) {
  refused("missing_dependency", TFSDK_NOT_FOUND,
          "cannot load plugin missing_dependency.so: it needs the library libtfsdk_test_absent.so, "
          "which is not found; install it, or add its folder to LD_LIBRARY_PATH");
}

Test(plugin_file, undefined_symbol) {
  refused(
      "undefined_symbol", TFSDK_INCOMPATIBLE,
      "cannot load plugin undefined_symbol.so: undefined symbol tfsdk_test_nobody_has_this; link "
      "the library that defines it (what plugins call of the host comes through its table; "
      "-Wl,--no-undefined finds this when building)");
}

Test(plugin_file, no_entry) {
  refused("no_entry", TFSDK_INCOMPATIBLE,
          "cannot load plugin no_entry.so: it exports no symbol tfsdk_plugin_query, so it is no "
          "plugin; "
          "define it with TFSDK_PLUGIN_ENTRY");
}

/* Of a copy that broke off, with its headers there and the rest gone. */
Test(plugin_file, truncated) {
  char path[] = "/tmp/tfsdk-truncated-XXXXXX";
  char part[1024], message[512];
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  FILE *from = fopen(BAD("good"), "rb");
  int to = mkstemp(path);
  cr_assert(from != NULL && to >= 0);
  cr_assert_eq(fread(part, 1, sizeof part, from), sizeof part);
  cr_assert_eq(write(to, part, sizeof part), (ssize_t)sizeof part);
  close(to);
  fclose(from);
  snprintf(message, sizeof message,
           "cannot load plugin %s: the file is damaged (1024 bytes are there, its headers tell of "
           "more); "
           "build or copy it again",
           strrchr(path, '/') + 1);
  expect_error(tfsdk_plugin_load(rt, path), TFSDK_DATA_LOSS, message);
  tfsdk_runtime_release(rt);
  unlink(path);
}

#if !defined(__SANITIZE_ADDRESS__)
Test(plugin_file, sanitizer_not_in_this_program) {
  refused("asan_linked", TFSDK_INCOMPATIBLE,
          "cannot load plugin asan_linked.so: built with AddressSanitizer (it links libasan.so.8), "
          "which "
          "this program is not; build both in the same way");
}
#endif

/* --------------------------------------------------------------------------------- the manifest */

Test(plugin_manifest, null) {
  refused(
      "null_manifest", TFSDK_INCOMPATIBLE,
      "cannot load plugin null_manifest.so: it has no manifest for version 1 of the contract (this "
      "host is 1.0); get or build it for version 1");
}

Test(plugin_manifest, wrong_magic) {
  refused("wrong_magic", TFSDK_INCOMPATIBLE,
          "cannot load plugin wrong_magic.so: its manifest begins with 0x12345678, not with "
          "0x4b534654; "
          "begin it with TFSDK_PLUGIN_HEAD");
}

Test(plugin_manifest, other_major) {
  refused(
      "other_major", TFSDK_INCOMPATIBLE,
      "cannot load plugin other_major.so: built for version 2.3 of the contract, this host is 1.0; "
      "build it with headers of version 1");
}

Test(plugin_manifest, newer_need) {
  refused(
      "newer_need", TFSDK_INCOMPATIBLE,
      "cannot load plugin newer_need.so: it needs version 1.7 of the contract, this host is 1.0; "
      "take a newer tfsdk, or build it with -DTFSDK_TARGET_MINOR=0");
}

Test(plugin_manifest, short_record) {
  refused("short_record", TFSDK_INCOMPATIBLE,
          "cannot load plugin short_record.so: its manifest has 64 bytes, version 1.0 of the "
          "contract has "
          "104; begin it with TFSDK_PLUGIN_HEAD");
}

Test(plugin_manifest, wrong_traits) {
#if defined(__SANITIZE_ADDRESS__)
#define OTHER "ThreadSanitizer"
#else
#define OTHER "AddressSanitizer"
#endif
  refused("wrong_traits", TFSDK_INCOMPATIBLE,
          "cannot load plugin wrong_traits.so: built with " OTHER
          ", this host is not; build both in the same way");
}

Test(plugin_manifest, wrong_width) {
  refused("wrong_width", TFSDK_INCOMPATIBLE,
          "cannot load plugin wrong_width.so: its manifest says that it was built for 32 bits, "
          "this host "
          "has 64");
}

Test(plugin_manifest, bad_name) {
  refused(
      "bad_name", TFSDK_INVALID_ARGUMENT,
      "cannot load plugin bad_name.so: its name is 'test bad name'; a plugin's name has 1 to 64 "
      "letters, digits, '-' and '_'");
}

Test(plugin_manifest, no_enroll) {
  refused(
      "no_enroll", TFSDK_INVALID_ARGUMENT,
      "cannot load plugin no_enroll.so: its manifest has no enroll; without it a plugin provides "
      "nothing");
}

/* Newer headers alone are no reason to refuse: what counts is what the plugin needs. */
Test(plugin_manifest, newer_but_asking_nothing_new) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_ok(tfsdk_plugin_load(rt, BAD("newer_built")));
  expect_ok(tfsdk_plugin_load(rt, BAD("longer_zero")));
  cr_expect(has_op(rt, "test.NewerBuilt"));
  cr_expect(has_op(rt, "test.LongerZero"));
  tfsdk_runtime_release(rt);
}

Test(plugin_manifest, unknown_field_in_use) {
  char message[256];
  snprintf(message, sizeof message,
           "cannot load plugin longer_nonzero.so: a tfsdk_plugin of %zu bytes uses fields that "
           "this host "
           "(%zu bytes) does not know",
           sizeof(tfsdk_plugin) + 16, sizeof(tfsdk_plugin));
  refused("longer_nonzero", TFSDK_INCOMPATIBLE, message);
}

/* ------------------------------------------------------------------------------ needs and probe */

Test(plugin_needs, absent) {
  log_text log;
  char empty[] = "/tmp/tfsdk-empty-XXXXXX", message[1024];
  cr_assert_not_null(mkdtemp(empty));
  tfsdk_runtime *rt = runtime(empty, &log);
  tfsdk_status *s = tfsdk_plugin_load(rt, BAD("needs_absent"));
  cr_assert_not_null(s);
  snprintf(message, sizeof message,
           "cannot load plugin needs_absent.so: it needs test-nowhere: there is no plugin named "
           "'test-nowhere' on the search path (%s",
           empty);
  cr_expect_eq(strncmp(tfsdk_status_message(s), message, strlen(message)), 0, "%s",
               tfsdk_status_message(s));
  cr_expect_eq(tfsdk_status_code(s), TFSDK_NOT_FOUND);
  tfsdk_status_release(s);
  tfsdk_runtime_release(rt);
  rmdir(empty);
}

Test(plugin_needs, device) {
  refused("needs_device", TFSDK_NOT_FOUND,
          "cannot load plugin needs_device.so: it needs device:abacus: no plugin on the search "
          "path has a "
          "device 'abacus'");
}

Test(plugin_probe, cannot_work_here) {
  refused(
      "probe_zero", TFSDK_UNAVAILABLE,
      "cannot load plugin probe_zero.so: it cannot work on this machine: no quantum coprocessor");
}

Test(plugin_probe, error) {
  refused("probe_error", TFSDK_INTERNAL,
          "cannot load plugin probe_error.so: its probe failed: the bus answers 42");
}

/* ------------------------------------------------------------------------------ open and enroll */

Test(plugin_open, error) {
  refused("failing_open", TFSDK_UNAVAILABLE,
          "cannot load plugin failing_open.so: its open failed: the licence server is asleep");
}

Test(plugin_open, error_names_the_plugin) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  tfsdk_status *s = tfsdk_plugin_load(rt, BAD("failing_open"));
  cr_assert_not_null(s);
  cr_expect_str_eq(tfsdk_status_get(s, "plugin"), "test-failing-open 1.0");
  tfsdk_status_release(s);
  tfsdk_runtime_release(rt);
}

/* The first failure leaves its entry in the report; from then on nothing may be added. */
Test(plugin_open, error_leaks_nothing) {
  static const char *const files[] = {BAD("failing_open"), BAD("failing_enroll"), BAD("probe_zero"),
                                      BAD("no_elf"), BAD("undefined_symbol")};
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    tfsdk_status_release(tfsdk_plugin_load(rt, files[i]));
    uint64_t before = live_blocks(rt);
    tfsdk_status_release(tfsdk_plugin_load(rt, files[i]));
    cr_expect_eq(live_blocks(rt), before, "%s", files[i]);
  }
  cr_expect_null(strstr(log.text, "without freeing"), "%s", log.text);
  tfsdk_runtime_release(rt);
}

Test(plugin_enroll, error) {
  refused("failing_enroll", TFSDK_INTERNAL,
          "cannot load plugin failing_enroll.so: its enroll failed: the second op is missing");
}

Test(plugin_enroll, error_rolls_back_and_closes) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  tfsdk_status_release(tfsdk_plugin_load(rt, BAD("failing_enroll")));
  cr_expect_not(has_op(rt, "test.RolledBack"));
  cr_expect_str_eq(log.text, "2 test-failing-enroll: quiesced\n2 test-failing-enroll: closed\n");
  tfsdk_runtime_release(rt);
}

Test(plugin_enroll, duplicate_op_names_both_files) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_ok(tfsdk_plugin_load(rt, BAD("good")));
  expect_error(tfsdk_plugin_load(rt, BAD("duplicate_op")), TFSDK_ALREADY_EXISTS,
               "cannot load plugin duplicate_op.so: its enroll failed: op 'test.Good' of " BAD(
                   "duplicate_op") " exists already: " BAD("good") " provides it");
  cr_expect(has_op(rt, "test.Good"));
  cr_expect_not(has_op(rt, "test.Own"), "the op before the duplicate was rolled back");
  tfsdk_runtime_release(rt);
}

/* ------------------------------------------------------------------------------------- identity */

static void count_one(void *user, int32_t level, const char *line) {
  (void)level;
  (void)line;
  ++*(int *)user;
}

Test(plugin_identity, loading_twice_is_one_instance) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_ok(tfsdk_plugin_load(rt, BAD("good")));
  uint64_t before = live_blocks(rt);
  expect_ok(tfsdk_plugin_load(rt, BAD("good")));
  cr_expect_eq(live_blocks(rt), before);
  tfsdk_runtime_release(rt);
}

Test(plugin_identity, link_is_the_same_instance) {
  char dir[] = "/tmp/tfsdk-link-XXXXXX", soft[64], hard[64];
  log_text log;
  cr_assert_not_null(mkdtemp(dir));
  snprintf(soft, sizeof soft, "%s/soft.so", dir);
  snprintf(hard, sizeof hard, "%s/hard.so", dir);
  cr_assert_eq(symlink(BAD("good"), soft), 0);
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_ok(tfsdk_plugin_load(rt, BAD("good")));
  expect_ok(tfsdk_plugin_load(rt, soft));
  if (link(BAD("good"), hard) == 0)
    expect_ok(tfsdk_plugin_load(rt, hard)); /* one file system only */
  cr_expect_eq(report_of(rt, "good.so").found + report_of(rt, "soft.so").found +
                   report_of(rt, "hard.so").found,
               1);
  tfsdk_runtime_release(rt);
  unlink(soft);
  unlink(hard);
  rmdir(dir);
}

/* Two files with one name in their manifests cannot both be meant. */
Test(plugin_identity, other_file_of_that_name) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_ok(tfsdk_plugin_load(rt, BAD("good")));
  expect_error(
      tfsdk_plugin_load(rt, BAD("rival")), TFSDK_ALREADY_EXISTS,
      "cannot load plugin rival.so: a plugin named 'test-good' is loaded already from " BAD(
          "good") "; this one is " BAD("rival") ": give one of them another name, or remove it");
  cr_expect_not(has_op(rt, "test.Rival"));
  tfsdk_runtime_release(rt);
}

Test(plugin_identity, renamed_copy) {
  char dir[] = "/tmp/tfsdk-copy-XXXXXX", copy[64], command[4096], message[4096];
  log_text log;
  cr_assert_not_null(mkdtemp(dir));
  snprintf(copy, sizeof copy, "%s/copy.so", dir);
  snprintf(command, sizeof command, "cp '%s' '%s'", BAD("good"), copy);
  cr_assert_eq(system(command), 0);
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_ok(tfsdk_plugin_load(rt, BAD("good")));
  snprintf(message, sizeof message,
           "cannot load plugin copy.so: a plugin named 'test-good' is loaded already from %s; this "
           "one is "
           "%s: give one of them another name, or remove it",
           BAD("good"), copy);
  expect_error(tfsdk_plugin_load(rt, copy), TFSDK_ALREADY_EXISTS, message);
  tfsdk_runtime_release(rt);
  unlink(copy);
  rmdir(dir);
}

Test(plugin_identity, two_runtimes_share_the_file_but_no_state) {
  log_text log_a, log_b;
  tfsdk_runtime *a = runtime(NULL, &log_a), *b = runtime(NULL, &log_b);
  expect_ok(tfsdk_plugin_load(a, BAD("good")));
  cr_expect_not(has_op(b, "test.Good"));
  expect_ok(tfsdk_plugin_load(b, BAD("good")));
  tfsdk_runtime_release(a);
  cr_expect(has_op(b, "test.Good"));
  tfsdk_runtime_release(b);
  a = runtime(NULL, &log_a);
  expect_ok(tfsdk_plugin_load(a, BAD("good")));
  tfsdk_runtime_release(a);
}

/* What a process has opened stays: a new file under the old path must not pass for the old one. */
Test(plugin_identity, replaced_while_the_process_runs) {
  char dir[] = "/tmp/tfsdk-replaced-XXXXXX", path[64], command[8192];
  log_text log;
  cr_assert_not_null(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/p.so", dir);
  snprintf(command, sizeof command, "cp '%s' '%s'", BAD("good"), path);
  cr_assert_eq(system(command), 0);
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_ok(tfsdk_plugin_load(rt, path));
  tfsdk_runtime_release(rt);
  snprintf(command, sizeof command, "cp '%s' '%s.new' && mv '%s.new' '%s'", BAD("longer_zero"),
           path, path, path);
  cr_assert_eq(system(command), 0);
  rt = runtime(NULL, &log);
  expect_error(
      tfsdk_plugin_load(rt, path), TFSDK_FAILED_PRECONDITION,
      "cannot load plugin p.so: the file was replaced after this process had opened it, and the "
      "old one stays; start the program anew to use the new one");
  tfsdk_runtime_release(rt);
  unlink(path);
  rmdir(dir);
}

/* ---------------------------------------------------------------------------------- other rules */

Test(plugin_end, memory_that_was_not_given_back_is_told) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_ok(tfsdk_plugin_load(rt, BAD("forgetful")));
  tfsdk_runtime_release(rt);
  cr_expect_str_eq(
      log.text,
      "2 plugin test-forgetful has ended without freeing 1 blocks of memory (77 bytes)\n");
}

Test(plugin_option, no_dynamic_plugins) {
  tfsdk_runtime_options o = {
      .struct_size = sizeof o, .plugin_path = BAD_FOLDER, .no_dynamic_plugins = 1};
  tfsdk_runtime *rt;
  int lines = 0;
  o.log = count_one;
  o.log_user = &lines;
  expect_ok(tfsdk_runtime_create(&o, &rt));
  expect_error(
      tfsdk_plugin_load(rt, BAD("good")), TFSDK_FAILED_PRECONDITION,
      "cannot load plugin " BAD("good") ": this runtime was made with no_dynamic_plugins; only "
                                        "built-in plugins can be added to it");
  expect_error(
      tfsdk_plugin_require(rt, "test-good"), TFSDK_NOT_FOUND,
      "there is no plugin named 'test-good' on the search path (which is off in this runtime)");
  cr_expect_not(has_op(rt, "test.Good"));
  cr_expect_eq(lines, 0);
  tfsdk_runtime_release(rt);
}

/* A manifest that is part of the program. */
static tfsdk_status *enroll_nothing(void *self, tfsdk_registrar *r) {
  (void)self;
  (void)r;
  return NULL;
}
static const tfsdk_plugin own = {TFSDK_PLUGIN_HEAD(0), .name = "test-own", .version = "1.0",
                                 .enroll = enroll_nothing};
static const tfsdk_plugin *query_own(uint32_t major, uint32_t minor) {
  (void)major;
  (void)minor;
  return &own;
}
static const tfsdk_plugin *query_own_again(uint32_t major, uint32_t minor) {
  return query_own(major, minor);
}

Test(plugin_static, add) {
  log_text log;
  tfsdk_runtime *rt = runtime(NULL, &log);
  expect_ok(tfsdk_plugin_add_static(rt, query_own));
  expect_ok(tfsdk_plugin_add_static(rt, query_own));
  expect_ok(tfsdk_plugin_require(rt, "test-own"));
  expect_error(
      tfsdk_plugin_add_static(rt, query_own_again), TFSDK_ALREADY_EXISTS,
      "cannot load plugin test-own: a plugin named 'test-own' is loaded already from the program "
      "itself; this one is built in: give one of them another name, or remove it");
  tfsdk_runtime_release(rt);
}

/* Whichever allocation fails, loading says so and works the next time. */
Test(plugin_memory, every_allocation_may_fail) {
  uint64_t n = 1;
  for (int failed = 1; failed; n++) {
    log_text log;
    tfsdk_runtime *rt = runtime(NULL, &log);
    cr_assert_lt(n, 10000u);
    tfsdk_runtime_fail_allocation(rt, n, 0);
    tfsdk_status *s = tfsdk_plugin_load(rt, BAD("good"));
    tfsdk_runtime_fail_allocation(rt, 0, 0);
    failed = s != NULL || n < 40;
    if (s != NULL)
      cr_expect_eq(tfsdk_status_code(s), TFSDK_RESOURCE_EXHAUSTED, "%s", tfsdk_status_text(s));
    tfsdk_status_release(s);
    expect_ok(tfsdk_plugin_load(rt, BAD("good")));
    cr_expect(has_op(rt, "test.Good"));
    tfsdk_runtime_release(rt);
  }
}
