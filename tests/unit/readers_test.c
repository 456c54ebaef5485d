/* CSV files, and what all readers have in common. DAT_xx are cases of users' reports. */
#include "readers_support.h"

#define CASE_CRLF                                                                                  \
  "id,text,val\r\n1,\"a,b\",2.5\r\n2,\"say \"\"hi\"\"\",\r\n3,\"line1\nline2\",-1e3\r\n"
#define CASE_LF  "id,text,val\n1,\"a,b\",2.5\n2,\"say \"\"hi\"\"\",\n3,\"line1\nline2\",-1e3\n"
#define DEFAULTS STRINGS("defaults", "", "", "-9")

/* DAT-01's three records; the Python csv module gives the same. */
static void expect_case(tfsdk_runtime *rt, const char *path, int64_t buffer) {
  static const char *const text[3] = {"a,b", "say \"hi\"", "line1\nline2"};
  static const float val[3] = {2.5f, -9, -1000};
  reading r = open_file(rt, path, OPTIONS(DEFAULTS, tfsdk_a_int("buffer_size", buffer)));
  cr_assert_eq(r.n, 3);
  cr_expect_str_eq(tfsdk_dataset_name(r.d, 0), "id");
  cr_expect_str_eq(tfsdk_dataset_name(r.d, 1), "text");
  cr_expect_str_eq(tfsdk_dataset_name(r.d, 2), "val");
  for (int i = 0; i < 3; i++) {
    cr_assert(next_record(&r), "record %d is missing, buffer %lld", i, (long long)buffer);
    cr_assert_eq(tfsdk_tensor_dtype(r.t[0]), TFSDK_INT64);
    cr_assert_eq(tfsdk_tensor_dtype(r.t[2]), TFSDK_FLOAT32);
    cr_expect_eq(tfsdk_tensor_rank(r.t[0]), 0);
    cr_expect_eq(*(const int64_t *)raw(r.t[0]), i + 1);
    expect_string(r.t[1], text[i], strlen(text[i]));
    cr_expect_eq(*(const float *)raw(r.t[2]), val[i]);
  }
  cr_expect(!next_record(&r));
  close_file(&r);
}

Test(csv, DAT_01_three_records_whatever_the_bytes, .fini = clean_up) {
  static const struct {
    const char *name, *bytes;
  } forms[] = {
      {"crlf", CASE_CRLF},
      {"mark", "\xef\xbb\xbf" CASE_CRLF},
      {"lf", CASE_LF},
      {"cr", "id,text,val\r1,\"a,b\",2.5\r2,\"say \"\"hi\"\"\",\r3,\"line1\nline2\",-1e3\r"},
      {"no_end", "id,text,val\n1,\"a,b\",2.5\n2,\"say \"\"hi\"\"\",\n3,\"line1\nline2\",-1e3"},
      {"blank", CASE_CRLF "\r\n\n\n"},
      {"blank_between",
       "\n\nid,text,val\n\n1,\"a,b\",2.5\n\n2,\"say \"\"hi\"\"\",\n3,\"line1\nline2\",-1e3"},
      {"quoted", "\"id\",\"text\",\"val\"\n\"1\",\"a,b\",\"2.5\"\n2,\"say "
                 "\"\"hi\"\"\",\"\"\n3,\"line1\nline2\",-1e3\n"},
  };
  tfsdk_runtime *rt = new_runtime();
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    char name[64];
    snprintf(name, sizeof name, "%s.csv", forms[f].name);
    const char *path = write_file(name, forms[f].bytes, strlen(forms[f].bytes));
    for (int64_t buffer = 1; buffer <= 64; buffer++) expect_case(rt, path, buffer);
    expect_case(rt, path, 1 << 16);
    snprintf(name, sizeof name, "%s.csv.gz", forms[f].name);
    path = write_gzip(name, forms[f].bytes, strlen(forms[f].bytes));
    expect_case(rt, path, 7);
    expect_case(rt, path, 1 << 16);
  }
  tfsdk_runtime_release(rt);
}

/* Writes the text, reads it to its error. */
#define CSV_FAULT(bytes, code, words, ...)                                                         \
  do {                                                                                             \
    const char *path_ = write_file("fault.csv", bytes, sizeof(bytes) - 1);                         \
    FAILS(read_all(rt, path_, __VA_ARGS__, NULL), code, words);                                    \
  } while (0)

Test(csv, DAT_01_faults_name_file_and_line, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  CSV_FAULT("id,text,val\n1,a,2\n2,b\n", TFSDK_INVALID_ARGUMENT,
            "fault.csv:3: the record has 2 fields; the first has 3", NO_OPTIONS);
  CSV_FAULT("id,text,val\r\n1,\"a\r\nb\",2\r\n2,b,3,4\r\n", TFSDK_INVALID_ARGUMENT,
            "fault.csv:4: the record has 4 fields; the first has 3", NO_OPTIONS);
  CSV_FAULT(CASE_CRLF, TFSDK_INVALID_ARGUMENT,
            "fault.csv:3: field 3 ('val') is empty and has no default", NO_OPTIONS);
  CSV_FAULT("a,b\n1,\"x\ny", TFSDK_DATA_LOSS,
            "fault.csv:2: the quote that opens field 2 is never closed", NO_OPTIONS);
  CSV_FAULT("a\n1\n3000000000\n", TFSDK_INVALID_ARGUMENT,
            "fault.csv:3: field 1 ('a') is '3000000000', which is out of the range of int32",
            OPTIONS(STRINGS("types", "int32")));
  CSV_FAULT("a\n\"1,5\"\n", TFSDK_INVALID_ARGUMENT,
            "fault.csv:2: field 1 ('a') is '1,5', which is no float32",
            OPTIONS(STRINGS("types", "float32"), tfsdk_a_string("header", "yes")));
  CSV_FAULT("a,b\n1,x\"y\"\n", TFSDK_INVALID_ARGUMENT,
            "fault.csv:2: field 2 has a quote but does not begin with one", NO_OPTIONS);
  CSV_FAULT("a,b\n1,\"x\"y\n", TFSDK_INVALID_ARGUMENT,
            "fault.csv:2: text follows the closing quote of field 2", NO_OPTIONS);
  tfsdk_runtime_release(rt);
}

/* The records before a fault come first; the fault stays. */
Test(csv, records_before_a_fault, .fini = clean_up) {
  static const char *const bytes[] = {"a,b\n1,x\n2,y\n3\n4,z\n", "a,b\n1,x\n2,y\n3,\"z",
                                      "a,b\n1,x\n2,y\n3,z\"\n"};
  tfsdk_runtime *rt = new_runtime();
  for (size_t i = 0; i < 3; i++) {
    const char *path = write_file("three.csv", bytes[i], strlen(bytes[i]));
    reading r = open_file(rt, path, NO_OPTIONS);
    cr_expect(next_record(&r));
    cr_expect(next_record(&r));
    cr_expect_eq(*(const int64_t *)raw(r.t[0]), 2);
    for (int k = 0; k < 2; k++)
      FAILS(next_status(&r), i == 1 ? TFSDK_DATA_LOSS : TFSDK_INVALID_ARGUMENT, "three.csv:4: ");
    close_file(&r);
  }
  tfsdk_runtime_release(rt);
}

Test(csv, DAT_01_a_field_of_100_kilobytes, .fini = clean_up) {
  size_t n = 100 * 1024;
  char *bytes = malloc(n + 32), *want = malloc(n);
  tfsdk_runtime *rt = new_runtime();
  for (size_t i = 0; i < n; i++) want[i] = "abc,\n d"[i % 7];
  memcpy(bytes, "id,text\n1,\"", 11);
  memcpy(bytes + 11, want, n);
  memcpy(bytes + 11 + n, "\"\n2,x\n", 6);
  const char *path = write_file("long.csv", bytes, n + 17);
  for (int64_t buffer = 1; buffer <= 1 << 18; buffer *= 8) {
    reading r = open_file(rt, path, OPTIONS(tfsdk_a_int("buffer_size", buffer)));
    cr_assert(next_record(&r));
    expect_string(r.t[1], want, n);
    cr_assert(next_record(&r));
    expect_string(r.t[1], "x", 1);
    close_file(&r);
  }
  free(bytes);
  free(want);
  tfsdk_runtime_release(rt);
}

/* auto: the first line is a header if none of its fields is a number and the second has one. */
Test(csv, header, .fini = clean_up) {
  static const struct {
    const char *bytes, *header, *first_name;
    int records;
  } cases[] = {
      {"a,b\n1,2\n", "auto", "a", 1},
      {"1,2\n3,4\n", "auto", "", 2},
      {"a,1\nb,2\n", "auto", "", 2},
      {"a,b\nc,d\n", "auto", "", 2},
      {"a,b\nc,3\n", "auto", "a", 1},
      {"a,b\n", "auto", "a", 0},
      {"1,2\n", "auto", "", 1},
      {"a,b\nc,d\n", "yes", "a", 1},
      {"1,2\n3,4\n", "yes", "1", 1},
      {"a,b\n1,2\n", "no", "", 2},
      {" a\t, b\n1,2\n", "auto", "a", 1},
      {",b\n1,2\n", "auto", "column_1", 1},
      {"\"a\nb\",c\n1,2\n", "auto", "a\nb", 1},
  };
  tfsdk_runtime *rt = new_runtime();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = write_file("header.csv", cases[i].bytes, strlen(cases[i].bytes));
    reading r = open_file(rt, path, OPTIONS(tfsdk_a_string("header", cases[i].header)));
    int n = 0;
    cr_expect_str_eq(tfsdk_dataset_name(r.d, 0), cases[i].first_name, "case %zu", i);
    while (next_record(&r)) n++;
    cr_expect_eq(n, cases[i].records, "case %zu: %d records", i, n);
    close_file(&r);
  }
  tfsdk_runtime_release(rt);
}

Test(csv, names_and_their_faults, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  const char *path = write_file("n.csv", "1,2\n", 4);
  reading r = open_file(rt, path, OPTIONS(STRINGS("names", "x", "y")));
  cr_expect_str_eq(tfsdk_dataset_name(r.d, 0), "x");
  cr_expect_str_eq(tfsdk_dataset_name(r.d, 1), "y");
  close_file(&r);
  CSV_FAULT("a,b\n1,2\n", TFSDK_INVALID_ARGUMENT, "'names' has 3 entries for 2 columns",
            OPTIONS(STRINGS("names", "x", "y", "z")));
  CSV_FAULT("a,b\n1,2\n", TFSDK_INVALID_ARGUMENT, "'types' has 1 entries for 2 columns",
            OPTIONS(STRINGS("types", "int64")));
  CSV_FAULT("a,b\n1,2\n", TFSDK_INVALID_ARGUMENT, "column 2 cannot be of type 'flaot32'",
            OPTIONS(STRINGS("types", "int64", "flaot32")));
  CSV_FAULT("a,a\n1,2\n", TFSDK_INVALID_ARGUMENT, "columns 1 and 2 are both called 'a'",
            NO_OPTIONS);
  CSV_FAULT("a,b\n1,2\n", TFSDK_INVALID_ARGUMENT, "the default 'x' of column 2 is no int64",
            OPTIONS(STRINGS("defaults", "", "x")));
  CSV_FAULT("a\n1\n", TFSDK_INVALID_ARGUMENT, "the nearest is 'delimiter'",
            OPTIONS(tfsdk_a_string("delimeter", ";")));
  CSV_FAULT("a\n1\n", TFSDK_INVALID_ARGUMENT, "it must be one ASCII character",
            OPTIONS(tfsdk_a_string("delimiter", "ab")));
  CSV_FAULT("a\n1\n", TFSDK_INVALID_ARGUMENT, "'maybe'; it may be auto, yes, no",
            OPTIONS(tfsdk_a_string("header", "maybe")));
  CSV_FAULT("", TFSDK_INVALID_ARGUMENT, "neither `names` nor `types`", NO_OPTIONS);
  CSV_FAULT("\xff\xfe"
            "a\0",
            TFSDK_INVALID_ARGUMENT, "UTF-16", NO_OPTIONS);
  path = write_file("empty.csv", "\n\n", 2);
  r = open_file(rt, path, OPTIONS(STRINGS("names", "x", "y")));
  cr_expect_eq(r.n, 2);
  cr_expect(!next_record(&r));
  close_file(&r);
  tfsdk_runtime_release(rt);
}

/* Types by what the first records hold: whole numbers, numbers, more than float32 holds, text; a
 * column of nothing is float32. */
Test(csv, inferred_types, .fini = clean_up) {
  static const char bytes[] = "a,b,c,d,e,f\n1,1,1,1,,1e300\n2,2.5,,x,,2\n";
  static const int32_t want[] = {TFSDK_INT64,  TFSDK_FLOAT32, TFSDK_INT64,
                                 TFSDK_STRING, TFSDK_FLOAT32, TFSDK_FLOAT64};
  tfsdk_runtime *rt = new_runtime();
  const char *path = write_file("types.csv", bytes, sizeof bytes - 1);
  reading r = open_file(rt, path, OPTIONS(STRINGS("defaults", "", "", "7", "", "0.5", "")));
  cr_assert(next_record(&r));
  for (int i = 0; i < 6; i++)
    cr_expect_eq(tfsdk_tensor_dtype(r.t[i]), want[i], "column %d is %s", i,
                 tfsdk_dtype_name(tfsdk_tensor_dtype(r.t[i])));
  expect_string(r.t[3], "1", 1);
  cr_expect_eq(*(const float *)raw(r.t[4]), 0.5f);
  cr_assert(next_record(&r));
  cr_expect_eq(*(const int64_t *)raw(r.t[2]), 7);
  close_file(&r);
  /* Beyond the first 100 records a surprise is an error that says what to do. */
  char *text = malloc(4096);
  size_t n = 0;
  for (int i = 0; i < 101; i++) n += (size_t)sprintf(text + n, "%d\n", i);
  n += (size_t)sprintf(text + n, "1.5\n");
  path = write_file("late.csv", text, n);
  free(text);
  int records;
  FAILS(read_all(rt, path, NO_OPTIONS, &records), TFSDK_INVALID_ARGUMENT,
        "late.csv:102: field 1 is '1.5', which is no int64 (the type of the records before it; "
        "name another with `types`)");
  cr_expect_eq(records, 101);
  OK(read_all(rt, path, OPTIONS(STRINGS("types", "float32")), &records));
  cr_expect_eq(records, 102);
  tfsdk_runtime_release(rt);
}

/* Each type at its bounds, with spaces round it, and just beyond. */
Test(csv, numbers_of_every_type, .fini = clean_up) {
  static const struct {
    const char *type, *text;
    double want; /* NAN: an error */
  } cases[] = {
      {"int8", "-128", -128},
      {"int8", "128", NAN},
      {"uint8", "255", 255},
      {"uint8", "256", NAN},
      {"uint8", "-1", NAN},
      {"uint8", "-0", 0},
      {"int16", "32767", 32767},
      {"int16", "-32769", NAN},
      {"uint16", "65535", 65535},
      {"int32", "-2147483648", -2147483648.0},
      {"int32", "2147483648", NAN},
      {"uint32", "4294967295", 4294967295.0},
      {"int64", "9223372036854775807", 9223372036854775807.0},
      {"int64", "9223372036854775808", NAN},
      {"int64", "-9223372036854775808", -9223372036854775808.0},
      {"uint64", "18446744073709551615", 18446744073709551615.0},
      {"uint64", "18446744073709551616", NAN},
      {"int32", "  7\t", 7},
      {"int32", "+7", 7},
      {"int32", "7.0", NAN},
      {"int32", "1e3", NAN},
      {"int32", "-", NAN},
      {"int32", "0x10", NAN},
      {"int32", " ", NAN},
      {"float32", "1e39", NAN},
      {"float32", "3.4028235e38", (double)3.4028235e38f},
      {"float32", "0x1p3", NAN},
      {"float32", "1.5.2", NAN},
      {"float32", ".", NAN},
      {"float32", ".5", 0.5},
      {"float32", "5.", 5},
      {"float32", " -2.5 ", -2.5},
      {"float32", "1e-50", 0},
      {"float32", "1 2", NAN},
      {"float32", "inf", INFINITY},
      {"float32", "-Infinity", -INFINITY},
      {"float32", "abc", NAN},
      {"float32", "nan(1)", NAN},
      {"float64", "1e308", 1e308},
      {"float64", "1e309", NAN},
      {"float64", "0.1", 0.1},
      {"float64", "123456789012345678", 123456789012345678.0},
      {"float16", "0.1", 0.0999755859375},
      {"float16", "65504", 65504},
      {"float16", "65536", NAN},
      {"bfloat16", "1.0078125", 1.0078125},
      {"bool", "true", 1},
      {"bool", "FALSE", 0},
      {"bool", "1", 1},
      {"bool", "2", NAN},
      /* halfway cases of float32 that rounding over double gets wrong: 1 + 2^-24 and a little */
      {"float32", "1.00000005960464477539062500", 1},
      {"float32", "1.00000005960464477539062501", 1.00000011920928955078125},
      {"float32", "16777217", 16777216},
      {"float32", "16777219", 16777220},
      {"float32", "0.3", (double)0.3f},
  };
  tfsdk_runtime *rt = new_runtime();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char bytes[64];
    size_t n = (size_t)snprintf(bytes, sizeof bytes, "%s,x\n", cases[i].text);
    const char *path = write_file("number.csv", bytes, n);
    tfsdk_attrval options[] = {STRINGS("types", cases[i].type, "string"),
                               tfsdk_a_string("header", "no")};
    if (isnan(cases[i].want)) {
      FAILS(read_all(rt, path, options, 2, NULL), TFSDK_INVALID_ARGUMENT, cases[i].type);
      continue;
    }
    reading r = open_file(rt, path, options, 2);
    cr_assert(next_record(&r));
    tfsdk_view v;
    double got = 0;
    OK(tfsdk_tensor_view(r.t[0], &v));
    switch (v.dtype) {
    case TFSDK_INT8: got = *(int8_t *)v.data; break;
    case TFSDK_UINT8:
    case TFSDK_BOOL: got = *(uint8_t *)v.data; break;
    case TFSDK_INT16: got = *(int16_t *)v.data; break;
    case TFSDK_UINT16: got = *(uint16_t *)v.data; break;
    case TFSDK_INT32: got = *(int32_t *)v.data; break;
    case TFSDK_UINT32: got = *(uint32_t *)v.data; break;
    case TFSDK_INT64: got = (double)*(int64_t *)v.data; break;
    case TFSDK_UINT64: got = (double)*(uint64_t *)v.data; break;
    case TFSDK_FLOAT32: got = *(float *)v.data; break;
    case TFSDK_FLOAT64: got = *(double *)v.data; break;
    case TFSDK_FLOAT16: got = tfsdk_from_half(*(uint16_t *)v.data); break;
    case TFSDK_BFLOAT16: got = tfsdk_from_bfloat16(*(uint16_t *)v.data); break;
    }
    cr_expect_eq(got, cases[i].want, "%s '%s' is %.17g", cases[i].type, cases[i].text, got);
    close_file(&r);
  }
  tfsdk_runtime_release(rt);
}

Test(csv, delimiters_quotes_and_first_lines, .fini = clean_up) {
  static const char semicolons[] = "made by hand\r\n1,000 lines\nid;text\n1;a,\"b\n2;c";
  tfsdk_runtime *rt = new_runtime();
  const char *path = write_file("semicolons.csv", semicolons, sizeof semicolons - 1);
  for (int64_t buffer = 1; buffer <= 64; buffer++) {
    reading r =
        open_file(rt, path,
                  OPTIONS(tfsdk_a_string("delimiter", ";"), tfsdk_a_string("quote", ""),
                          tfsdk_a_int("skip_lines", 2), tfsdk_a_int("buffer_size", buffer)));
    cr_expect_str_eq(tfsdk_dataset_name(r.d, 1), "text");
    cr_assert(next_record(&r));
    expect_string(r.t[1], "a,\"b", 4);
    cr_assert(next_record(&r));
    expect_string(r.t[1], "c", 1);
    cr_expect(!next_record(&r));
    close_file(&r);
  }
  path = write_file("tabs.tsv", "id\ttext\n1\ta,b\n", 14);
  reading r = open_file(rt, path, NO_OPTIONS);
  cr_assert(next_record(&r));
  expect_string(r.t[1], "a,b", 3);
  close_file(&r);
  tfsdk_runtime_release(rt);
}

Test(csv, stacked_columns, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  const char *path = write_file("stack.csv", "1,2.5,3\n4,,6\n", 13);
  reading r =
      open_file(rt, path, OPTIONS(tfsdk_a_bool("stack", 1), STRINGS("defaults", "", "-1", "")));
  cr_assert_eq(r.n, 1);
  cr_expect_str_eq(tfsdk_dataset_name(r.d, 0), "values");
  cr_assert(next_record(&r));
  cr_expect_eq(tfsdk_tensor_rank(r.t[0]), 1);
  EXPECT_FLOATS(r.t[0], 0, 1, 2.5f, 3);
  cr_assert(next_record(&r));
  EXPECT_FLOATS(r.t[0], 0, 4, -1, 6);
  close_file(&r);
  FAILS(read_all(rt, path, OPTIONS(tfsdk_a_bool("stack", 1)), NULL), TFSDK_INVALID_ARGUMENT,
        "stack.csv:2: field 2 is empty and has no default");
  FAILS(read_all(rt, path, OPTIONS(tfsdk_a_bool("stack", 1), STRINGS("types", "", "int64", "")),
                 NULL),
        TFSDK_INVALID_ARGUMENT, "a stack is float32");
  tfsdk_runtime_release(rt);
}

/* UCI's optical digits: 1,797 rows of 64 pixels (0 to 16) and the label, as its description says.
 */
Test(csv, digits) {
  tfsdk_runtime *rt = new_runtime();
  const char *path = TEST_DATA "/../../examples/data/digits.csv.gz";
  tfsdk_dataset *d, *batch;
  tfsdk_iterator *it;
  tfsdk_tensor *t = NULL;
  int32_t end = 0;
  int64_t rows = 0;
  OK(tfsdk_dataset_from_file(rt, path, NULL, OPTIONS(tfsdk_a_bool("stack", 1)), &d));
  OK(tfsdk_dataset_batch(d, 100, 0, &batch));
  OK(tfsdk_iterator_create(batch, &it));
  for (;;) {
    OK(tfsdk_iterator_next(it, &t, &end));
    if (end) break;
    cr_assert_eq(tfsdk_tensor_dims(t)[1], 65);
    const float *x = data_of(t);
    for (int64_t i = 0; i < tfsdk_tensor_elements(t); i++)
      cr_assert(x[i] >= 0 && x[i] <= (i % 65 == 64 ? 9 : 16) && x[i] == floorf(x[i]));
    rows += tfsdk_tensor_dims(t)[0];
    tfsdk_tensor_release(t);
  }
  cr_expect_eq(rows, 1797);
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(batch);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

/* ------------------------------------------------------------------------------------- all readers
 */

Test(readers, files_that_cannot_be_opened, .fini = clean_up) {
  static const char *const names[] = {"gone.csv", "gone.npy", "gone-ubyte"};
  tfsdk_runtime *rt = new_runtime();
  tfsdk_dataset *d;
  for (size_t i = 0; i < 3; i++) {
    const char *path = temporary(names[i]);
    FAILS(tfsdk_dataset_from_file(rt, path, NULL, NULL, 0, &d), TFSDK_NOT_FOUND, path);
    FAILS(tfsdk_dataset_from_file(rt, path, NULL, NULL, 0, &d), TFSDK_NOT_FOUND,
          "No such file or directory");
    cr_assert_eq(mkdir(path, 0700), 0);
    FAILS(tfsdk_dataset_from_file(rt, path, NULL, NULL, 0, &d), TFSDK_INVALID_ARGUMENT,
          "Is a directory");
    cr_assert_eq(rmdir(path), 0);
    write_file(names[i], "1", 1);
    cr_assert_eq(chmod(path, 0), 0);
    if (geteuid() != 0) /* root may read all the same */
      FAILS(tfsdk_dataset_from_file(rt, path, NULL, NULL, 0, &d), TFSDK_PERMISSION_DENIED,
            "Permission denied");
  }
  FAILS(tfsdk_dataset_from_file(rt, "/tmp", NULL, NULL, 0, &d), TFSDK_INVALID_ARGUMENT,
        "/tmp: cannot be opened: Is a directory");
  FAILS(tfsdk_dataset_from_file(rt, temporary("gone.txt"), NULL, NULL, 0, &d), TFSDK_NOT_FOUND,
        "No such file");
  FAILS(tfsdk_dataset_from_file(rt, write_file("a.unknown", "1", 1), NULL, NULL, 0, &d),
        TFSDK_NOT_FOUND, "a.unknown");
  FAILS(tfsdk_dataset_from_file(rt, temporary("a.unknown"), "cvs", NULL, 0, &d), TFSDK_NOT_FOUND,
        "cvs");
  OK(tfsdk_dataset_from_file(rt, temporary("a.unknown"), "csv", NULL, 0, &d)); /* by name it goes */
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

/* Damaged gzip data is an error behind the records that are whole. */
Test(readers, damaged_gzip, .fini = clean_up) {
  static const char text[] = "1\n2\n3\n4\n5\n6\n7\n8\n";
  tfsdk_runtime *rt = new_runtime();
  const char *path = write_gzip("whole.csv.gz", text, sizeof text - 1);
  unsigned char bytes[64];
  FILE *f = fopen(path, "rb");
  size_t n = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  int records;
  OK(read_all(rt, path, NO_OPTIONS, &records));
  cr_expect_eq(records, 8);
  for (size_t cut = 11; cut < n; cut++) { /* behind the header: before it is no gzip file */
    path = write_file("cut.csv.gz", bytes, cut);
    FAILS(read_all(rt, path, NO_OPTIONS, &records), TFSDK_DATA_LOSS,
          "cut.csv.gz: the compressed data is damaged");
  }
  bytes[15] ^= 0x40; /* "1" becomes "q": only the checksum tells */
  path = write_file("flip.csv.gz", bytes, n);
  FAILS(read_all(rt, path, NO_OPTIONS, &records), TFSDK_DATA_LOSS,
        "flip.csv.gz: the compressed data is damaged");
  tfsdk_runtime_release(rt);
}

/* Epochs and iterators open the file anew; each sees all of it. */
Test(readers, a_file_again_and_again, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  const char *path = write_file("again.csv", "x\n1\n2\n", 6);
  tfsdk_dataset *d, *twice, *ahead;
  tfsdk_iterator *it[2];
  tfsdk_tensor *t = NULL;
  int32_t end;
  OK(tfsdk_dataset_from_file(rt, path, NULL, NULL, 0, &d));
  OK(tfsdk_dataset_repeat(d, 2, &twice));
  OK(tfsdk_dataset_prefetch(twice, 2, &ahead));
  for (int k = 0; k < 2; k++) OK(tfsdk_iterator_create(ahead, &it[k]));
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 2; k++) {
      OK(tfsdk_iterator_next(it[k], &t, &end));
      cr_assert_eq(end, 0);
      cr_expect_eq(*(const int64_t *)raw(t), 1 + i % 2);
      tfsdk_tensor_release(t);
    }
  }
  for (int k = 0; k < 2; k++) {
    OK(tfsdk_iterator_next(it[k], &t, &end));
    cr_expect_eq(end, 1);
    tfsdk_iterator_release(it[k]);
  }
  /* TRN-05: a file that is missing by the time the second epoch begins is an error, not an end. */
  OK(tfsdk_iterator_create(ahead, &it[0]));
  cr_assert_eq(unlink(path), 0);
  tfsdk_status *s = NULL;
  for (int i = 0; s == NULL && i < 5; i++) {
    s = tfsdk_iterator_next(it[0], &t, &end);
    cr_assert(s != NULL || end == 0);
    tfsdk_tensor_release(t);
  }
  FAILS(s, TFSDK_NOT_FOUND, "again.csv: cannot be opened: No such file or directory");
  tfsdk_iterator_release(it[0]);
  /* Another file under the same name must have the same columns. */
  write_file("again.csv", "x\n5\n6\n", 6);
  OK(tfsdk_iterator_create(d, &it[0]));
  tfsdk_iterator_release(it[0]);
  write_file("again.csv", "x\n1.5\n", 6);
  FAILS(tfsdk_iterator_create(d, &it[0]), TFSDK_FAILED_PRECONDITION,
        "has other components than when");
  tfsdk_dataset_release(ahead);
  tfsdk_dataset_release(twice);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

/* Every allocation of the reader and of the core fails in turn: an error each time, and nothing is
 * left. */
Test(readers, failing_allocations, .fini = clean_up) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_memory_info info;
  char path[3][256];
  snprintf(path[0], 256, "%s", write_file("a.csv", CASE_LF, sizeof CASE_LF - 1));
  snprintf(path[1], 256, "%s/formats/arrays/rank4_fortran.npy", TEST_DATA);
  snprintf(path[2], 256, "%s", write_file("a.idx", "\0\0\x08\1\0\0\0\2\1\2", 10));
  for (int i = 0; i < 3; i++) {
    tfsdk_attrval defaults = DEFAULTS;
    OK(read_all(rt, path[i], &defaults, i == 0, NULL)); /* the plugin is loaded for good */
    tfsdk_runtime_memory(rt, NULL, &info);
    uint64_t held = info.live_blocks;
    tfsdk_status *s = TFSDK_FAIL(tfsdk_eager_ctx(rt), UNKNOWN, "first");
    for (uint64_t n = 1; s != NULL && n < 2000; n++) {
      tfsdk_status_release(s);
      tfsdk_runtime_fail_allocation(rt, n, 0);
      s = read_all(rt, path[i], &defaults, i == 0, NULL);
      tfsdk_runtime_fail_allocation(rt, 0, 0);
      cr_assert(s == NULL || tfsdk_status_code(s) == TFSDK_RESOURCE_EXHAUSTED, "%s",
                tfsdk_status_text(s));
      tfsdk_runtime_memory(rt, NULL, &info);
      cr_assert_eq(info.live_blocks, held, "%s, allocation %llu", path[i], (unsigned long long)n);
    }
    cr_expect_null(s);
  }
  tfsdk_runtime_release(rt);
}
