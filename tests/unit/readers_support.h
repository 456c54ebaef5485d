/* What the tests of readers share: files in a folder of their own, opening them, pulling records.
 */
#ifndef TESTS_UNIT_READERS_SUPPORT_H
#define TESTS_UNIT_READERS_SUPPORT_H

#include "support.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_COLUMNS 80

static char temporary_folder[64];

/* A path in a fresh folder that is the test's own. */
static inline const char *temporary(const char *name) {
  static char path[16][256];
  static int n;
  char *folder = temporary_folder;
  if (folder[0] == 0) {
    snprintf(folder, sizeof temporary_folder, "/tmp/tfsdk-readers-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
  }
  char *p = path[n++ % 16];
  snprintf(p, sizeof path[0], "%s/%s", folder, name);
  return p;
}

/* Removes what temporary() made. */
static inline void clean_up(void) {
  char command[100];
  if (temporary_folder[0] == 0) return;
  snprintf(command, sizeof command, "rm -r '%s'", temporary_folder);
  if (system(command) != 0) cr_log_warn("%s is left", temporary_folder);
  temporary_folder[0] = 0;
}

static inline const char *write_file(const char *name, const void *data, size_t n) {
  const char *path = temporary(name);
  FILE *f = fopen(path, "wb");
  cr_assert_not_null(f);
  if (n > 0) cr_assert_eq(fwrite(data, 1, n, f), n);
  cr_assert_eq(fclose(f), 0);
  return path;
}

static inline uint32_t crc32_of(const unsigned char *p, size_t n) { /* RFC 1952, section 8 */
  uint32_t c = 0xffffffffu;
  for (size_t i = 0; i < n; i++) {
    c ^= p[i];
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
  }
  return ~c;
}

/* The same in a gzip file, in one stored block (RFC 1951, 1952): at most 65535 bytes. */
static inline const char *write_gzip(const char *name, const void *data, size_t n) {
  static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
  unsigned char *all = malloc(n + 23), *p = all;
  uint32_t sum = crc32_of(data, n);
  cr_assert_leq(n, 65535);
  memcpy(p, head, 10);
  p += 10;
  *p++ = 1;
  *p++ = (unsigned char)n;
  *p++ = (unsigned char)(n >> 8);
  *p++ = (unsigned char)~n;
  *p++ = (unsigned char)(~n >> 8);
  memcpy(p, data, n);
  p += n;
  for (int i = 0; i < 4; i++) *p++ = (unsigned char)(sum >> 8 * i);
  for (int i = 0; i < 4; i++) *p++ = (unsigned char)(n >> 8 * i);
  const char *path = write_file(name, all, n + 23);
  free(all);
  return path;
}

static inline tfsdk_attrval strings_option(const char *name, uint32_t n, const char *const *list) {
  tfsdk_attrval a = tfsdk_a_string(name, NULL);
  a.kind = TFSDK_ATTR_LIST_STRING;
  a.n = n;
  a.v.strings = list;
  return a;
}
#define STRINGS(name, ...)                                                                         \
  strings_option(name, (uint32_t)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),         \
                 (const char *[]){__VA_ARGS__})
#define OPTIONS(...)                                                                               \
  (const tfsdk_attrval[]){__VA_ARGS__},                                                            \
      sizeof((const tfsdk_attrval[]){__VA_ARGS__}) / sizeof(tfsdk_attrval)
#define NO_OPTIONS NULL, 0

/* A file being read. */
typedef struct reading {
  tfsdk_dataset *d;
  tfsdk_iterator *it;
  uint32_t n;
  tfsdk_tensor *t[MAX_COLUMNS];
} reading;

static inline reading open_file(tfsdk_runtime *rt, const char *path, const tfsdk_attrval *options,
                                size_t n) {
  reading r = {0};
  OK(tfsdk_dataset_from_file(rt, path, NULL, options, n, &r.d));
  OK(tfsdk_iterator_create(r.d, &r.it));
  r.n = tfsdk_dataset_components(r.d);
  cr_assert_leq(r.n, MAX_COLUMNS);
  return r;
}

static inline void drop_record(reading *r) {
  for (uint32_t i = 0; i < r->n; i++) tfsdk_tensor_release(r->t[i]);
  memset(r->t, 0, sizeof r->t);
}

/* The next record into r->t; false at the end. */
static inline bool next_record(reading *r) {
  int32_t end = 0;
  drop_record(r);
  OK(tfsdk_iterator_next(r->it, r->t, &end));
  return !end;
}

static inline tfsdk_status *next_status(reading *r) {
  int32_t end = 0;
  drop_record(r);
  tfsdk_status *s = tfsdk_iterator_next(r->it, r->t, &end);
  cr_expect(s != NULL || !end, "the end came instead of an error");
  return s;
}

static inline void close_file(reading *r) {
  drop_record(r);
  tfsdk_iterator_release(r->it);
  tfsdk_dataset_release(r->d);
}

/* The error that opening or reading all of a file gives; NULL if it has none. */
static inline tfsdk_status *read_all(tfsdk_runtime *rt, const char *path,
                                     const tfsdk_attrval *options, size_t n, int *out_records) {
  reading r = {0};
  int records = 0;
  int32_t end = 0;
  tfsdk_status *s = tfsdk_dataset_from_file(rt, path, NULL, options, n, &r.d);
  if (s == NULL) {
    r.n = tfsdk_dataset_components(r.d);
    s = tfsdk_iterator_create(r.d, &r.it);
  }
  while (s == NULL && !end) {
    drop_record(&r);
    s = tfsdk_iterator_next(r.it, r.t, &end);
    records += s == NULL && !end;
  }
  close_file(&r);
  if (out_records != NULL) *out_records = records;
  return s;
}

static inline const void *raw(tfsdk_tensor *t) {
  tfsdk_view v;
  OK(tfsdk_tensor_view(t, &v));
  return v.data;
}

static inline void expect_string(tfsdk_tensor *t, const char *want, size_t n) {
  tfsdk_view v;
  uint64_t k;
  OK(tfsdk_tensor_view(t, &v));
  cr_assert_eq(v.dtype, TFSDK_STRING);
  cr_assert_eq(v.n_elem, 1);
  const char *got = tfsdk_view_string(&v, 0, &k);
  cr_expect(k == n && memcmp(got, want, n) == 0, "'%.*s' (%llu bytes) is not '%.*s'",
            (int)(k > 100 ? 100 : k), got, (unsigned long long)k, (int)(n > 100 ? 100 : n), want);
}

#endif
