/* IDX and npy files. DAT_xx are cases of users' reports; tests/data/formats/README.md says where
 * the files come from. */
#include "readers_support.h"

/* --------------------------------------------------------------------------------------------- IDX
 */

#define IDX_FAULT(bytes, words)                                                                    \
  FAILS(read_all(rt, write_file("f.idx", bytes, sizeof(bytes) - 1), NO_OPTIONS, NULL),             \
        TFSDK_DATA_LOSS, words)

static const char images[] = "\0\0\x08\x03\0\0\0\2\0\0\0\2\0\0\0\2\1\2\3\4\5\6\7\xff";
static const char labels[] = "\0\0\x08\x01\0\0\0\2\7\x09";

static void expect_images(tfsdk_runtime *rt, const char *path) {
  reading r = open_file(rt, path, NO_OPTIONS);
  cr_expect_str_eq(tfsdk_dataset_name(r.d, 0), "data");
  for (int i = 0; i < 2; i++) {
    cr_assert(next_record(&r));
    cr_expect_eq(tfsdk_tensor_dtype(r.t[0]), TFSDK_UINT8);
    cr_expect_eq(tfsdk_tensor_rank(r.t[0]), 2);
    cr_expect_eq(tfsdk_tensor_dims(r.t[0])[0], 2);
    cr_expect_eq(tfsdk_tensor_dims(r.t[0])[1], 2);
    cr_expect_arr_eq(raw(r.t[0]), images + 16 + 4 * i, 4);
  }
  cr_expect(!next_record(&r));
  close_file(&r);
}

Test(idx, DAT_07_images_and_labels, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  expect_images(rt, write_file("two-images.idx3-ubyte", images, sizeof images - 1));
  expect_images(rt, write_gzip("two-images.idx3-ubyte.gz", images, sizeof images - 1));
  expect_images(rt, write_gzip("gzip-whatever-the-name.idx", images, sizeof images - 1));
  reading r = open_file(rt, write_file("labels-ubyte", labels, sizeof labels - 1), NO_OPTIONS);
  cr_assert(next_record(&r));
  cr_expect_eq(tfsdk_tensor_rank(r.t[0]), 0);
  cr_expect_eq(*(const uint8_t *)raw(r.t[0]), 7);
  cr_assert(next_record(&r));
  cr_expect_eq(*(const uint8_t *)raw(r.t[0]), 9);
  cr_expect(!next_record(&r));
  close_file(&r);
  tfsdk_runtime_release(rt);
}

/* Big-endian: the int32 bytes 00 00 00 05 are 5; 3f c0 00 00 is 1.5f and 3f f8 .. 1.5 (IEEE 754).
 */
Test(idx, DAT_07_types, .fini = clean_up) {
  static const struct {
    unsigned char code, bytes[8];
    int32_t dtype;
    double want;
  } cases[] = {
      {0x08, {200}, TFSDK_UINT8, 200},
      {0x09, {0xff}, TFSDK_INT8, -1},
      {0x0B, {0xff, 0xfe}, TFSDK_INT16, -2},
      {0x0B, {1, 0}, TFSDK_INT16, 256},
      {0x0C, {0, 0, 0, 5}, TFSDK_INT32, 5},
      {0x0D, {0x3f, 0xc0, 0, 0}, TFSDK_FLOAT32, 1.5},
      {0x0E, {0x3f, 0xf8, 0, 0, 0, 0, 0, 0}, TFSDK_FLOAT64, 1.5},
  };
  tfsdk_runtime *rt = new_runtime();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char bytes[16] = {0, 0, cases[i].code, 1, 0, 0, 0, 1};
    memcpy(bytes + 8, cases[i].bytes, 8);
    size_t n = 8 + tfsdk_dtype_size(cases[i].dtype);
    reading r = open_file(rt, write_file("t.idx", bytes, n), NO_OPTIONS);
    cr_assert(next_record(&r));
    cr_assert_eq(tfsdk_tensor_dtype(r.t[0]), cases[i].dtype);
    const void *p = raw(r.t[0]);
    double got = cases[i].dtype == TFSDK_UINT8     ? *(const uint8_t *)p
                 : cases[i].dtype == TFSDK_INT8    ? *(const int8_t *)p
                 : cases[i].dtype == TFSDK_INT16   ? *(const int16_t *)p
                 : cases[i].dtype == TFSDK_INT32   ? *(const int32_t *)p
                 : cases[i].dtype == TFSDK_FLOAT32 ? (double)*(const float *)p
                                                   : *(const double *)p;
    cr_expect_eq(got, cases[i].want, "code %02x: %g", cases[i].code, got);
    close_file(&r);
  }
  tfsdk_runtime_release(rt);
}

Test(idx, DAT_07_damaged, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  int records;
  FAILS(read_all(rt, write_file("short.idx", images, sizeof images - 2), NO_OPTIONS, NULL),
        TFSDK_DATA_LOSS,
        "short.idx: what the header announces needs 8 bytes from byte 16 on; the file can hold no "
        "more than 7");
  FAILS(read_all(rt, write_file("long.idx", images, sizeof images), NO_OPTIONS, NULL),
        TFSDK_DATA_LOSS, "long.idx: 1 bytes follow the 8");
  FAILS(read_all(rt, write_gzip("short.idx.gz", images, sizeof images - 2), NO_OPTIONS, &records),
        TFSDK_DATA_LOSS, "short.idx.gz: the file ends at byte 23, inside a record");
  cr_expect_eq(records, 1);
  FAILS(read_all(rt, write_gzip("long.idx.gz", images, sizeof images), NO_OPTIONS, &records),
        TFSDK_DATA_LOSS, "bytes follow those that the header announces");
  cr_expect_eq(records, 2);
  IDX_FAULT("", "ends at byte 0");
  IDX_FAULT("\0\0", "inside the magic number");
  IDX_FAULT("\0\0\x08\x02\0\0\0\1", "inside the extents");
  IDX_FAULT("\0\0\x0A\x01\0\0\0\1x", "no IDX file: it begins with 00 00 0a 01");
  IDX_FAULT("P5 1 1", "no IDX file");
  IDX_FAULT("\0\0\x08\0x", "1 to 13 axes; this one has 0");
  IDX_FAULT("\0\0\x08\x0Ex", "1 to 13 axes; this one has 14");
  IDX_FAULT("\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff", "18446744065119617025 bytes");
  IDX_FAULT("\0\0\x0E\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            "more bytes than can be addressed");
  /* No giant allocation for a giant claim, compressed or not. */
  tfsdk_runtime_options o = {.struct_size = sizeof o, .memory_limit = 1 << 20};
  tfsdk_runtime *small;
  OK(tfsdk_runtime_create(&o, &small));
  static const char huge[] = "\0\0\x08\x03\0\0\0\2\x40\0\0\0\x10\0\0\0";
  FAILS(read_all(small, write_file("huge.idx", huge, sizeof huge - 1), NO_OPTIONS, NULL),
        TFSDK_DATA_LOSS, "the file can hold");
  FAILS(read_all(small, write_gzip("huge.idx.gz", huge, sizeof huge - 1), NO_OPTIONS, NULL),
        TFSDK_DATA_LOSS, "the file can hold");
  tfsdk_runtime_release(small);
  tfsdk_runtime_release(rt);
}

Test(idx, no_records, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  int records = -1;
  OK(read_all(rt, write_file("none.idx", "\0\0\x08\1\0\0\0\0", 8), NO_OPTIONS, &records));
  cr_expect_eq(records, 0);
  tfsdk_runtime_release(rt);
}

/* --------------------------------------------------------------------------------------------- npy
 */

/* An npy file of that header text and data. */
static const char *write_npy(const char *name, int version, const char *header, const void *data,
                             size_t n) {
  unsigned char bytes[1024] = "\x93NUMPY";
  size_t length = strlen(header), at = version == 1 ? 10 : 12;
  bytes[6] = (unsigned char)version;
  bytes[7] = 0;
  bytes[8] = (unsigned char)length;
  bytes[9] = (unsigned char)(length >> 8);
  memcpy(bytes + at, header, length);
  if (n > 0) memcpy(bytes + at + length, data, n);
  return write_file(name, bytes, at + length + n);
}

#define WHOLE OPTIONS(tfsdk_a_bool("whole", 1))
static const float column_major[6] = {0, 3, 1, 4, 2, 5};

static void expect_two_rows(tfsdk_runtime *rt, const char *path) {
  reading r = open_file(rt, path, NO_OPTIONS);
  cr_expect_str_eq(tfsdk_dataset_name(r.d, 0), "data");
  cr_assert(next_record(&r));
  EXPECT_FLOATS(r.t[0], 0, 0, 1, 2);
  cr_assert(next_record(&r));
  EXPECT_FLOATS(r.t[0], 0, 3, 4, 5);
  cr_expect(!next_record(&r));
  close_file(&r);
  r = open_file(rt, path, WHOLE);
  cr_assert(next_record(&r));
  cr_expect_eq(tfsdk_tensor_dims(r.t[0])[0], 2);
  cr_expect_eq(tfsdk_tensor_dims(r.t[0])[1], 3);
  EXPECT_FLOATS(r.t[0], 0, 0, 1, 2, 3, 4, 5);
  cr_expect(!next_record(&r));
  close_file(&r);
}

Test(npy, DAT_06_column_major_in_all_versions, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  for (int version = 1; version <= 3; version++)
    expect_two_rows(rt, write_npy("f.npy", version,
                                  "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
                                  column_major, 24));
  expect_two_rows(rt,
                  write_npy("f.npy", 1,
                            "{  \"shape\":( 2,3 ) ,'fortran_order' :True,\n'descr':   '<f4'}   ",
                            column_major, 24));
  expect_two_rows(rt, write_npy("f.npy", 1,
                                "{'descr': '<f4', 'fortran_order': True, 'shape': (2L, 3L)}",
                                column_major, 24));
  tfsdk_runtime_release(rt);
}

Test(npy, DAT_06_shapes_and_types, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  const float scalar = 3.5f;
  reading r = open_file(
      rt,
      write_npy("s.npy", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}", &scalar, 4),
      NO_OPTIONS);
  cr_assert(next_record(&r));
  cr_expect_eq(tfsdk_tensor_rank(r.t[0]), 0);
  EXPECT_FLOATS(r.t[0], 0, 3.5f);
  cr_expect(!next_record(&r));
  close_file(&r);
  const char *empty =
      write_npy("e.npy", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)}", NULL, 0);
  r = open_file(rt, empty, NO_OPTIONS);
  cr_expect(!next_record(&r));
  close_file(&r);
  r = open_file(rt, empty, WHOLE);
  cr_assert(next_record(&r));
  cr_expect_eq(tfsdk_tensor_dims(r.t[0])[0], 0);
  cr_expect_eq(tfsdk_tensor_dims(r.t[0])[1], 3);
  close_file(&r);
  r = open_file(rt,
                write_npy("b.npy", 1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}",
                          "\0\1\1\0", 4),
                WHOLE);
  cr_assert(next_record(&r));
  cr_expect_eq(tfsdk_tensor_dtype(r.t[0]), TFSDK_INT16);
  cr_expect_eq(((const int16_t *)raw(r.t[0]))[0], 1);
  cr_expect_eq(((const int16_t *)raw(r.t[0]))[1], 256);
  close_file(&r);
  r = open_file(rt,
                write_npy("t.npy", 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}",
                          "\0\1\x02", 3),
                WHOLE);
  cr_assert(next_record(&r));
  cr_expect_eq(tfsdk_tensor_dtype(r.t[0]), TFSDK_BOOL);
  cr_expect_arr_eq(raw(r.t[0]), "\0\1\1", 3); /* nothing but 0 and 1 is a bool */
  close_file(&r);
  r = open_file(rt,
                write_npy("h.npy", 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}",
                          "\0\x3e\0\xc0", 4),
                WHOLE);
  cr_assert(next_record(&r));
  cr_expect_eq(tfsdk_tensor_dtype(r.t[0]), TFSDK_FLOAT16);
  cr_expect_eq(tfsdk_from_half(((const uint16_t *)raw(r.t[0]))[0]), 1.5f);
  cr_expect_eq(tfsdk_from_half(((const uint16_t *)raw(r.t[0]))[1]), -2);
  close_file(&r);
  tfsdk_runtime_release(rt);
}

Test(npy, DAT_06_refused, .fini = clean_up) {
  static const struct {
    const char *header;
    size_t bytes;
    int32_t code;
    const char *words;
  } cases[] = {
      {"{'descr': '<U3', 'fortran_order': False, 'shape': (1,)}", 12, TFSDK_UNIMPLEMENTED,
       "the npy type '<U3' is not read"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, TFSDK_UNIMPLEMENTED,
       "the npy type '|O' is not read"},
      {"{'descr': '|V8', 'fortran_order': False, 'shape': (1,)}", 8, TFSDK_UNIMPLEMENTED, "'|V8'"},
      {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", 16, TFSDK_UNIMPLEMENTED,
       "'<f16'"},
      {"{'descr': [('id', '<i4'), ('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", 8,
       TFSDK_UNIMPLEMENTED, "'[('id', '<i4'), ('x', '<f4')]' is not read"},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", 23, TFSDK_DATA_LOSS,
       "c.npy: the npy array needs 24 bytes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 23, TFSDK_DATA_LOSS,
       "c.npy: the npy array needs 24 bytes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}", 4, TFSDK_DATA_LOSS,
       "needs 4398046511104 bytes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4,
       TFSDK_DATA_LOSS, "does not fit 64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 4,
       TFSDK_DATA_LOSS, "more bytes than can be"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1)}", 4,
       TFSDK_UNIMPLEMENTED, "more than 12 axes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (1,)}", 4, TFSDK_DATA_LOSS,
       "'shape' twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", 4, TFSDK_DATA_LOSS, "malformed"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + 1", 4, TFSDK_DATA_LOSS,
       "malformed"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1", 0, TFSDK_DATA_LOSS, "malformed"},
      {"{'descr': '<f4", 0, TFSDK_DATA_LOSS, "malformed"},
      {"", 0, TFSDK_DATA_LOSS, "malformed"},
  };
  tfsdk_runtime *rt = new_runtime();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char zeros[32] = {0};
    const char *path = write_npy("c.npy", 1, cases[i].header, zeros, cases[i].bytes);
    FAILS(read_all(rt, path, NO_OPTIONS, NULL), cases[i].code, cases[i].words);
  }
  tfsdk_runtime_release(rt);
}

/* NumPy stops at the last element. */
Test(npy, every_damaged_file) {
  static const char *const names[] = {
      "code",        "data_cut", "descr",    "empty",    "extra_key", "header_4gb", "header_cut",
      "header_long", "magic",    "negative", "no_shape", "not_dict",  "object",     "order",
      "overflow",    "shape",    "version",  "whole",    "trailing"};
  tfsdk_runtime_options o = {.struct_size = sizeof o, .memory_limit = 1 << 20};
  tfsdk_runtime *rt;
  OK(tfsdk_runtime_create(&o, &rt));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/formats/damaged/npy/%s.npy", TEST_DATA, names[i]);
    bool good = strcmp(names[i], "whole") == 0 || strcmp(names[i], "trailing") == 0;
    tfsdk_status *s = read_all(rt, path, NO_OPTIONS, NULL);
    cr_expect_eq(s == NULL, good, "%s: %s", names[i], s ? tfsdk_status_text(s) : "is accepted");
    if (s != NULL) {
      cr_expect(strstr(tfsdk_status_message(s), path) != NULL, "%s: the file is not named: %s",
                names[i], tfsdk_status_message(s));
      cr_expect(tfsdk_status_code(s) == TFSDK_DATA_LOSS ||
                    tfsdk_status_code(s) == TFSDK_UNIMPLEMENTED,
                "%s: %s", names[i], tfsdk_status_text(s));
    }
    tfsdk_status_release(s);
  }
  tfsdk_runtime_release(rt);
}

/* ------------------------------------------------------------------------- files written by NumPy
 */

/* The whole of a file, NUL-ended. */
static char *slurp(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  cr_assert_not_null(f, "%s", path);
  fseek(f, 0, SEEK_END);
  *n = (size_t)ftell(f);
  rewind(f);
  char *all = calloc(1, *n + 1);
  cr_assert_eq(fread(all, 1, *n, f), *n);
  fclose(f);
  return all;
}

/* Shape and bytes of a key of a safetensors file (8 bytes of header length, a JSON header, the
 * data). */
static const char *expected(const char *all, const char *key, int64_t *dim, uint32_t *rank,
                            size_t *bytes) {
  char quoted[128];
  uint64_t header;
  memcpy(&header, all, 8);
  snprintf(quoted, sizeof quoted, "\"%s/array\":", key);
  const char *p = strstr(all + 8, quoted);
  cr_assert_not_null(p, "%s", key);
  p = strstr(p, "\"shape\":[") + 9;
  for (*rank = 0; *p != ']'; p += *p == ',') dim[(*rank)++] = strtoll(p, (char **)&p, 10);
  p = strstr(p, "\"data_offsets\":[") + 16;
  uint64_t begin = strtoull(p, (char **)&p, 10), end = strtoull(p + 1, NULL, 10);
  *bytes = (size_t)(end - begin);
  return all + 8 + header + begin;
}

Test(npy, every_file_of_numpy) {
  static const char *const orders[] = {"c", "f", "big"};
  static const char *const types[] = {"bool",    "int8",    "int16",     "int32",     "int64",
                                      "uint8",   "uint16",  "uint32",    "uint64",    "float16",
                                      "float32", "float64", "complex64", "complex128"};
  static const char *const others[] = {"scalar", "empty",         "empty_middle", "rank1_fortran",
                                       "rank5",  "rank4_fortran", "version2",     "version3"};
  char names[64][64];
  int n = 0, files = 0;
  for (size_t o = 0; o < 3; o++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
      if (o < 2 || (strcmp(types[t], "bool") != 0 && strstr(types[t], "int8") == NULL))
        snprintf(names[n++], 64, "%s_%s.npy", orders[o], types[t]);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    snprintf(names[n++], 64, "%s.npy", others[i]);
  tfsdk_runtime *rt = new_runtime();
  size_t size;
  char *all = slurp(TEST_DATA "/formats/arrays.safetensors", &size);
  for (int i = 0; i < n; i++) {
    char path[512];
    int64_t dim[16];
    uint32_t rank;
    size_t bytes;
    const char *want = expected(all, names[i], dim, &rank, &bytes);
    bool complex = strstr(names[i], "complex") != NULL;
    if (complex) rank--; /* the last axis is (real, imaginary) */
    snprintf(path, sizeof path, "%s/formats/arrays/%s", TEST_DATA, names[i]);
    reading r = open_file(rt, path, WHOLE);
    cr_assert(next_record(&r));
    cr_assert_eq(tfsdk_tensor_rank(r.t[0]), rank, "%s", names[i]);
    for (uint32_t k = 0; k < rank; k++)
      cr_assert_eq(tfsdk_tensor_dims(r.t[0])[k], dim[k], "%s", names[i]);
    cr_assert_eq(tfsdk_tensor_bytes(r.t[0]), bytes, "%s", names[i]);
    const char *type = strchr(names[i], '_');
    if (i < n - 8)
      cr_expect_eq(
          strncmp(tfsdk_dtype_name(tfsdk_tensor_dtype(r.t[0])), type + 1, strlen(type) - 5), 0,
          "%s", names[i]);
    if (bytes > 0) cr_expect_arr_eq(raw(r.t[0]), want, bytes, "%s", names[i]);
    cr_expect(!next_record(&r));
    close_file(&r);
    /* The same, slice by slice. */
    r = open_file(rt, path, NO_OPTIONS);
    int64_t rows = rank > 0 ? dim[0] : 1, got = 0;
    for (; next_record(&r); got++) {
      cr_assert_lt(got, rows, "%s", names[i]);
      cr_assert_eq(tfsdk_tensor_bytes(r.t[0]), bytes / (size_t)rows);
      if (bytes > 0)
        cr_expect_arr_eq(raw(r.t[0]), want + (size_t)got * (bytes / (size_t)rows),
                         bytes / (size_t)rows, "%s", names[i]);
    }
    cr_expect_eq(got, rows, "%s", names[i]);
    close_file(&r);
    files++;
  }
  cr_expect_eq(files, 47);
  free(all);
  tfsdk_runtime_release(rt);
}

/* Bytes are strings without the zeros at their end; the others are refused, each by its name. */
Test(npy, text_and_what_is_refused) {
  static const char *const refused[][2] = {{"unicode", "'<U5'"},
                                           {"objects", "'|O'"},
                                           {"datetime", "'<M8[D]'"},
                                           {"structured", "'[('id', '<i4'), ('x', '<f4')]'"}};
  tfsdk_runtime *rt = new_runtime();
  reading r = open_file(rt, TEST_DATA "/formats/arrays/bytes.npy", NO_OPTIONS);
  cr_assert(next_record(&r));
  expect_string(r.t[0], "ab", 2);
  cr_assert(next_record(&r));
  expect_string(r.t[0], "c", 1);
  cr_expect(!next_record(&r));
  close_file(&r);
  for (size_t i = 0; i < 4; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/formats/arrays/%s.npy", TEST_DATA, refused[i][0]);
    FAILS(read_all(rt, path, NO_OPTIONS, NULL), TFSDK_UNIMPLEMENTED, refused[i][1]);
  }
  tfsdk_runtime_release(rt);
}

/* Text in columns: what NumPy writes for np.array([["a", "bcd"], ["", "e"]], "S3", order="F"). */
Test(npy, text_in_column_order, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  const char *path =
      write_npy("t.npy", 1, "{'descr': '|S3', 'fortran_order': True, 'shape': (2, 2)}",
                "a\0\0\0\0\0bcde\0\0", 12);
  static const char *const want[2][2] = {{"a", "bcd"}, {"", "e"}};
  reading r = open_file(rt, path, NO_OPTIONS);
  for (int i = 0; i < 2; i++) {
    tfsdk_view v;
    uint64_t n;
    cr_assert(next_record(&r));
    OK(tfsdk_tensor_view(r.t[0], &v));
    cr_assert_eq(v.n_elem, 2);
    for (int k = 0; k < 2; k++) {
      const char *s = tfsdk_view_string(&v, k, &n);
      cr_expect(n == strlen(want[i][k]) && memcmp(s, want[i][k], n) == 0, "%d, %d", i, k);
    }
  }
  close_file(&r);
  tfsdk_runtime_release(rt);
}
