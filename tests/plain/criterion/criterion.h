/* Criterion's words without Criterion: one process, one test after another.
 *
 * Criterion keeps its bookkeeping in memory mapped at addresses that ThreadSanitizer takes for
 * itself, so builds with it put this folder before the system's headers. Only what the tests use is
 * here. */
#ifndef TESTS_PLAIN_CRITERION_H
#define TESTS_PLAIN_CRITERION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plain_test {
  const char *suite, *name;
  void (*run)(void);
  struct plain_options {
    const char *description;
    void (*init)(void), (*fini)(void);
    double timeout;
    bool disabled;
  } options;
  struct plain_test *next;
} plain_test;

static plain_test *plain_tests;
static int plain_failures;
static jmp_buf plain_end; /* of the test: where a failed cr_assert goes */

__attribute__((format(printf, 6, 7))) static inline void plain_check(bool good, bool fatal,
                                                                     const char *file, int line,
                                                                     const char *what,
                                                                     const char *format, ...) {
  va_list args;
  if (good) return;
  fprintf(stderr, "%s:%d: %s: ", file, line, what);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  plain_failures++;
  if (fatal) longjmp(plain_end, 1);
}

#define Test(suite_, name_, ...)                                                                   \
  static void suite_##_##name_(void);                                                              \
  static plain_test suite_##_##name_##_test = {                                                    \
      #suite_, #name_, suite_##_##name_, {NULL, ##__VA_ARGS__}, NULL};                             \
  __attribute__((constructor)) static void suite_##_##name_##_add(void) {                          \
    suite_##_##name_##_test.next = plain_tests;                                                    \
    plain_tests = &suite_##_##name_##_test;                                                        \
  }                                                                                                \
  static void suite_##_##name_(void)

/* A message is a literal format and its arguments; "" stands before it for the calls that have
 * none. */
#define PLAIN(fatal, good, what, ...)                                                              \
  plain_check((good), fatal, __FILE__, __LINE__, what, " " __VA_ARGS__)
#define PLAIN_OP(fatal, a, op, b, ...) PLAIN(fatal, (a)op(b), #a " " #op " " #b, __VA_ARGS__)

#define cr_assert(c, ...)              PLAIN(true, (c) != 0, #c, __VA_ARGS__)
#define cr_expect(c, ...)              PLAIN(false, (c) != 0, #c, __VA_ARGS__)
#define cr_assert_eq(a, b, ...)        PLAIN_OP(true, a, ==, b, __VA_ARGS__)
#define cr_expect_eq(a, b, ...)        PLAIN_OP(false, a, ==, b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...)       PLAIN_OP(true, a, !=, b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...)       PLAIN_OP(false, a, !=, b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...)        PLAIN_OP(true, a, <, b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...)        PLAIN_OP(false, a, <, b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...)       PLAIN_OP(true, a, <=, b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...)       PLAIN_OP(false, a, <=, b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...)        PLAIN_OP(true, a, >, b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...)        PLAIN_OP(false, a, >, b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...)       PLAIN_OP(true, a, >=, b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...)       PLAIN_OP(false, a, >=, b, __VA_ARGS__)
#define cr_assert_null(a, ...)         PLAIN_OP(true, a, ==, NULL, __VA_ARGS__)
#define cr_expect_null(a, ...)         PLAIN_OP(false, a, ==, NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...)     PLAIN_OP(true, a, !=, NULL, __VA_ARGS__)
#define cr_expect_not_null(a, ...)     PLAIN_OP(false, a, !=, NULL, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)    PLAIN(true, strcmp(a, b) == 0, #a " is " #b, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...)    PLAIN(false, strcmp(a, b) == 0, #a " is " #b, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...) PLAIN(true, memcmp(a, b, n) == 0, #a " is " #b, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, n, ...) PLAIN(false, memcmp(a, b, n) == 0, #a " is " #b, __VA_ARGS__)
#define cr_expect_float_eq(a, b, within, ...)                                                      \
  PLAIN(false, (a) - (b) <= (within) && (b) - (a) <= (within), #a " is about " #b, __VA_ARGS__)
#define cr_assert_fail(...) PLAIN(true, false, "failed", __VA_ARGS__)
#define cr_expect_fail(...) PLAIN(false, false, "failed", __VA_ARGS__)
#define cr_log_warn(...)    ((void)fprintf(stderr, __VA_ARGS__))

int main(void) {
  int tests = 0;
  for (plain_test *t = plain_tests; t != NULL; t = t->next) {
    int before = plain_failures;
    if (t->options.disabled) continue;
    tests++;
    if (t->options.init != NULL) t->options.init();
    if (setjmp(plain_end) == 0) t->run();
    if (t->options.fini != NULL) t->options.fini();
    if (plain_failures != before) fprintf(stderr, "%s::%s failed\n", t->suite, t->name);
  }
  printf("%d tests, %d failures\n", tests, plain_failures);
  return plain_failures != 0;
}

#endif
