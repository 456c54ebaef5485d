/* CSV files: one record a line, one component a column (or all columns as one vector).
 *
 * What the options leave open is told by the beginning of the file, which is read ahead (AHEAD
 * records) and then handed out like the rest. A fault in what was read ahead is reported when its
 * turn comes. */
#include <stdio.h>
#include <string.h>

#include "csv_lexer.h"
#include "csv_number.h"

#define AHEAD 100 /* records that the types of columns are inferred from */

typedef struct column {
  char name[64];
  int32_t dtype;
  bool inferred;
  char *dflt; /* NULL: a value is required */
} column;

typedef struct csv {
  csv_lexer lex;              /* first */
  const tfsdk_attrs *options; /* while it is being opened */
  locale_t locale;
  column *column;
  size_t n;
  bool stack;
  csv_row ahead[AHEAD + 1];
  size_t n_ahead, next;  /* ahead[next .. n_ahead) are still to be given */
  tfsdk_status *pending; /* what ended the reading ahead */
  csv_row row;
} csv;

/* ---------------------------------------------------------------------------------------- options
 */

static tfsdk_status *one_byte(csv *x, const char *name, const char *text, char *out) {
  if (strlen(text) != 1 || (unsigned char)*text >= 0x80 || *text == '\n' || *text == '\r')
    return SOURCE_FAIL(&x->lex.src, INVALID_ARGUMENT,
                       "the option '%s' is '%s'; it must be one ASCII character", name, text);
  *out = *text;
  return NULL;
}

static bool ends_with(const char *path, const char *ending) {
  size_t n = strlen(path), k = strlen(ending);
  return n >= k && strcmp(path + n - k, ending) == 0;
}

static tfsdk_status *open_lexer(csv *x, const tfsdk_host *host, const char *path) {
  const char *delimiter = tfsdk_attr_string(x->options, "delimiter");
  const char *quote = tfsdk_attr_string(x->options, "quote");
  bool tabs = ends_with(path, ".tsv") || ends_with(path, ".tsv.gz");
  TFSDK_TRY(csv_lexer_open(&x->lex, host, path, (size_t)tfsdk_attr_int(x->options, "buffer_size"),
                           tabs ? '\t' : ',', 0));
  if (*delimiter != 0) TFSDK_TRY(one_byte(x, "delimiter", delimiter, &x->lex.delimiter));
  if (*quote != 0) TFSDK_TRY(one_byte(x, "quote", quote, &x->lex.quote));
  if (x->lex.quote == x->lex.delimiter)
    return SOURCE_FAIL(&x->lex.src, INVALID_ARGUMENT, "delimiter and quote are the same character");
  for (int64_t i = tfsdk_attr_int(x->options, "skip_lines"); i > 0; i--)
    TFSDK_TRY(csv_lexer_skip_line(&x->lex));
  return NULL;
}

/* Entry i of a list of texts; NULL when the option is not given, or that entry is "". */
static const char *entry(const csv *x, const char *option, size_t i) {
  const tfsdk_attrval *a = tfsdk_attr_find(x->options, option);
  return a != NULL && i < a->n && a->v.strings[i][0] != 0 ? a->v.strings[i] : NULL;
}

static uint32_t entries(const csv *x, const char *option) {
  const tfsdk_attrval *a = tfsdk_attr_find(x->options, option);
  return a != NULL ? a->n : 0;
}

static bool all_types_given(const csv *x) {
  uint32_t n = entries(x, "types"), given = 0;
  while (given < n && entry(x, "types", given) != NULL) given++;
  return n > 0 && given == n;
}

/* ---------------------------------------------------------------------------- the file's beginning
 */

static tfsdk_status *read_ahead(csv *x) {
  size_t want = x->stack || all_types_given(x) ? 2 : AHEAD + 1;
  bool end = false;
  while (x->n_ahead < want && !end) {
    tfsdk_status *s = csv_lexer_next(&x->lex, &x->ahead[x->n_ahead], &end);
    if (s != NULL && x->n_ahead == 0) return s;
    x->pending = s;
    if (s != NULL) break;
    if (!end) x->n_ahead++;
  }
  return NULL;
}

static bool any_number(const csv *x, const csv_row *row) {
  double room;
  for (size_t i = 0; i < row->n_field; i++)
    if (csv_read_number(csv_text(row, i), row->field[i].n, TFSDK_FLOAT64, x->locale, &room) !=
        CSV_NUMBER_NONE)
      return true;
  return false;
}

/* The rule of header = auto. */
static bool first_is_header(const csv *x) {
  const char *given = tfsdk_attr_string(x->options, "header");
  if (strcmp(given, "auto") != 0) return strcmp(given, "yes") == 0;
  return !any_number(x, &x->ahead[0]) && (x->n_ahead < 2 || any_number(x, &x->ahead[1]));
}

/* How many columns, by the options or the first record; all must agree. */
static tfsdk_status *count_columns(csv *x) {
  static const char *const lists[] = {"names", "types", "defaults"};
  x->n = x->n_ahead > 0 ? x->ahead[0].n_field : entries(x, "names");
  if (x->n == 0) x->n = entries(x, "types");
  if (x->n == 0)
    return SOURCE_FAIL(&x->lex.src, INVALID_ARGUMENT,
                       "the file is empty, and neither `names` nor `types` tells its columns");
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    uint32_t n = entries(x, lists[i]);
    if (n != 0 && n != x->n)
      return SOURCE_FAIL(&x->lex.src, INVALID_ARGUMENT,
                         "the option '%s' has %u entries for %zu columns", lists[i], n, x->n);
  }
  x->column = reader_alloc(x->lex.src.host, x->n * sizeof *x->column);
  return x->column != NULL ? NULL : READER_NOMEM(&x->lex.src);
}

/* Names: the option's, else the header's without spaces around them, else none. */
static tfsdk_status *name_column(csv *x, size_t i, const csv_row *header) {
  const char *name = entry(x, "names", i);
  size_t n = name != NULL ? strlen(name) : 0;
  if (name == NULL && header != NULL) {
    name = csv_text(header, i);
    n = header->field[i].n;
    while (n > 0 && (*name == ' ' || *name == '\t')) name++, n--;
    while (n > 0 && (name[n - 1] == ' ' || name[n - 1] == '\t')) n--;
    if (n == 0) {
      snprintf(x->column[i].name, sizeof x->column[i].name, "column_%zu", i + 1);
      return NULL;
    }
  }
  if (n >= sizeof x->column[i].name)
    return SOURCE_FAIL(
        &x->lex.src, INVALID_ARGUMENT,
        "the name of column %zu has %zu bytes, more than %zu; give shorter ones with `names`",
        i + 1, n, sizeof x->column[i].name - 1);
  if (n > 0) memcpy(x->column[i].name, name, n);
  for (size_t j = 0; j < i && n > 0 && !x->stack; j++)
    if (strcmp(x->column[j].name, x->column[i].name) == 0)
      return SOURCE_FAIL(&x->lex.src, INVALID_ARGUMENT,
                         "columns %zu and %zu are both called '%s'; give other ones with `names`",
                         j + 1, i + 1, x->column[i].name);
  return NULL;
}

/* The first of these that holds the text. */
static const int32_t ladder[] = {TFSDK_INT64, TFSDK_FLOAT32, TFSDK_FLOAT64, TFSDK_STRING};

static size_t step_of(const csv *x, const char *text, size_t n) {
  double room;
  size_t k = 0;
  while (ladder[k] != TFSDK_STRING &&
         csv_read_number(text, n, ladder[k], x->locale, &room) != CSV_NUMBER_OK)
    k++;
  return k;
}

/* What holds all that was read ahead. A column of empty fields goes by its default, else it is
 * float32. */
static int32_t infer(const csv *x, size_t i, size_t first) {
  size_t step = 0;
  bool any = false;
  for (size_t r = first; r < x->n_ahead; r++) {
    const csv_row *row = &x->ahead[r];
    if (i >= row->n_field || row->field[i].n == 0) continue;
    size_t k = step_of(x, csv_text(row, i), row->field[i].n);
    step = k > step ? k : step;
    any = true;
  }
  if (any) return ladder[step];
  const char *dflt = x->column[i].dflt;
  return dflt == NULL ? TFSDK_FLOAT32 : ladder[step_of(x, dflt, strlen(dflt))];
}

static tfsdk_status *type_column(csv *x, size_t i, size_t first) {
  column *c = &x->column[i];
  const char *type = entry(x, "types", i), *dflt = entry(x, "defaults", i);
  double room;
  if (dflt != NULL && (c->dflt = reader_strdup(x->lex.src.host, dflt)) == NULL)
    return READER_NOMEM(&x->lex.src);
  if (type != NULL)
    c->dtype = tfsdk_dtype_find(type);
  else if (x->stack)
    c->dtype = TFSDK_FLOAT32;
  else
    c->dtype = infer(x, i, first);
  c->inferred = type == NULL && !x->stack;
  if ((c->dtype != TFSDK_STRING && !csv_is_number_type(c->dtype)) ||
      (x->stack && c->dtype != TFSDK_FLOAT32))
    return SOURCE_FAIL(&x->lex.src, INVALID_ARGUMENT, "column %zu cannot be of type '%s'%s", i + 1,
                       type, x->stack ? ": a stack is float32" : "");
  if (dflt != NULL && c->dtype != TFSDK_STRING &&
      csv_read_number(dflt, strlen(dflt), c->dtype, x->locale, &room) != CSV_NUMBER_OK)
    return SOURCE_FAIL(&x->lex.src, INVALID_ARGUMENT, "the default '%s' of column %zu is no %s",
                       dflt, i + 1, tfsdk_dtype_name(c->dtype));
  return NULL;
}

static tfsdk_status *prepare(csv *x, const tfsdk_host *host, const char *path) {
  TFSDK_TRY(open_lexer(x, host, path));
  x->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (x->locale == (locale_t)0) return READER_NOMEM(&x->lex.src);
  TFSDK_TRY(read_ahead(x));
  TFSDK_TRY(count_columns(x));
  bool header = x->n_ahead > 0 && first_is_header(x);
  for (size_t i = 0; i < x->n; i++) {
    TFSDK_TRY(name_column(x, i, header ? &x->ahead[0] : NULL));
    TFSDK_TRY(type_column(x, i, header));
  }
  x->next = header;
  return NULL;
}

/* ----------------------------------------------------------------------------------------- reader
 */

static void csv_close(void *reader) {
  csv *x = reader;
  const tfsdk_host *host = x->lex.src.host;
  for (size_t i = 0; x->column != NULL && i < x->n; i++) reader_strfree(host, x->column[i].dflt);
  reader_free(host, x->column, x->n * sizeof *x->column);
  for (size_t i = 0; i < AHEAD + 1; i++) csv_row_release(host, &x->ahead[i]);
  csv_row_release(host, &x->row);
  if (x->pending != NULL) host->drop(host, x->pending);
  if (x->locale != (locale_t)0) freelocale(x->locale);
  csv_lexer_close(&x->lex);
  reader_free(host, x, sizeof *x);
}

static tfsdk_status *csv_open(void *self, const tfsdk_host *host, const char *path,
                              const tfsdk_attrs *options, void **out_reader) {
  struct {
    const tfsdk_host *host;
  } c = {host};
  csv *x = reader_alloc(host, sizeof *x);
  (void)self;
  if (x == NULL) return READER_NOMEM(&c);
  x->lex.src.host = host;
  x->options = options;
  x->stack = tfsdk_attr_int(options, "stack") != 0;
  tfsdk_status *s = prepare(x, host, path);
  x->options = NULL;
  if (s != NULL) {
    csv_close(x);
    return s;
  }
  *out_reader = x;
  return NULL;
}

static tfsdk_status *csv_components(void *reader, tfsdk_component *out, uint32_t cap,
                                    uint32_t *out_n) {
  const csv *x = reader;
  *out_n = x->stack ? 1 : (uint32_t)x->n;
  for (uint32_t i = 0; i < *out_n && i < cap; i++) {
    memset(&out[i], 0, sizeof out[i]);
    out[i].type.dtype = x->column[i].dtype;
    memcpy(out[i].name, x->column[i].name, sizeof out[i].name);
  }
  if (x->stack && cap > 0) {
    snprintf(out->name, sizeof out->name, "values");
    out->type.shape.rank = 1;
    out->type.shape.dim[0] = (int64_t)x->n;
  }
  return NULL;
}

static const char *called(const csv *x, size_t i, char *room, size_t n) {
  if (x->column[i].name[0] != 0)
    snprintf(room, n, "field %zu ('%s')", i + 1, x->column[i].name);
  else
    snprintf(room, n, "field %zu", i + 1);
  return room;
}

/* The text that counts: the field's, or the default of an empty one. */
static tfsdk_status *text_of(const csv *x, const csv_row *row, size_t i, const char **text,
                             size_t *n) {
  char room[96];
  *text = csv_text(row, i);
  *n = row->field[i].n;
  if (*n > 0) return NULL;
  if (x->column[i].dflt != NULL) {
    *text = x->column[i].dflt;
    *n = strlen(*text);
  } else if (x->column[i].dtype != TFSDK_STRING) {
    return CSV_FAIL(&x->lex, INVALID_ARGUMENT, row->field[i].line, "%s is empty and has no default",
                    called(x, i, room, sizeof room));
  }
  return NULL;
}

static tfsdk_status *read_number(const csv *x, const csv_row *row, size_t i, void *out) {
  const column *c = &x->column[i];
  const char *text;
  char room[96];
  size_t n;
  TFSDK_TRY(text_of(x, row, i, &text, &n));
  enum csv_number got = csv_read_number(text, n, c->dtype, x->locale, out);
  if (got == CSV_NUMBER_OK) return NULL;
  return CSV_FAIL(
      &x->lex, INVALID_ARGUMENT, row->field[i].line, "%s is '%.40s%s', which %s %s%s",
      called(x, i, room, sizeof room), text, n > 40 ? "..." : "",
      got == CSV_NUMBER_NONE ? "is no" : "is out of the range of", tfsdk_dtype_name(c->dtype),
      c->inferred ? " (the type of the records before it; name another with `types`)" : "");
}

static tfsdk_status *give_field(const csv *x, const csv_row *row, size_t i, tfsdk_record *r) {
  const char *text;
  tfsdk_view v;
  size_t n;
  if (x->column[i].dtype != TFSDK_STRING) {
    TFSDK_TRY(r->alloc(r, (uint32_t)i, 0, NULL, 0, &v));
    return read_number(x, row, i, v.data);
  }
  TFSDK_TRY(text_of(x, row, i, &text, &n));
  TFSDK_TRY(r->alloc(r, (uint32_t)i, 0, NULL, n, &v));
  uint64_t *offset = v.data;
  offset[0] = 0;
  offset[1] = n;
  memcpy(offset + 2, text, n);
  return NULL;
}

static tfsdk_status *next_row(csv *x, const csv_row **out, bool *out_end) {
  if (x->next < x->n_ahead) {
    *out = &x->ahead[x->next++];
    return NULL;
  }
  *out = &x->row;
  if (x->pending != NULL) {
    tfsdk_status *s = x->pending;
    x->pending = NULL;
    return s;
  }
  return csv_lexer_next(&x->lex, &x->row, out_end);
}

static tfsdk_status *csv_next(void *reader, tfsdk_record *r, int32_t *out_end) {
  csv *x = reader;
  const csv_row *row;
  bool end = false;
  TFSDK_TRY(next_row(x, &row, &end));
  *out_end = end;
  if (end) return NULL;
  if (row->n_field != x->n)
    return CSV_FAIL(&x->lex, INVALID_ARGUMENT, row->line,
                    "the record has %zu fields; the first has %zu", row->n_field, x->n);
  if (x->stack) {
    int64_t dim[1] = {(int64_t)x->n};
    tfsdk_view v;
    TFSDK_TRY(r->alloc(r, 0, 1, dim, 0, &v));
    for (size_t i = 0; i < x->n; i++) TFSDK_TRY(read_number(x, row, i, (float *)v.data + i));
    return NULL;
  }
  for (size_t i = 0; i < x->n; i++) TFSDK_TRY(give_field(x, row, i, r));
  return NULL;
}

static const tfsdk_attrdef options[] = {
    {"header", "string{auto,yes,no}", "auto",
     "whether the first line names the columns. auto: it does if none of its fields is a number "
     "and the "
     "second line, if there is one, has a number",
     0, 0},
    {"delimiter", "string", "", "one character; empty: a tab for .tsv files, else a comma", 0, 0},
    {"quote", "string", "\"", "one character; empty: quotes mean nothing", 0, 0},
    {"types", "list(string)", "[]",
     "a type for each column (\"float32\", \"int64\", \"bool\", \"string\" ...). Where it is "
     "empty, and "
     "without the option, the first 100 records tell: int64 if it holds them all, else float32, "
     "else "
     "float64, else string",
     0, 0},
    {"defaults", "list(string)", "[]",
     "for each column the text that an empty field stands for. Where that is empty, an empty field "
     "is an "
     "error in a column of numbers and the empty string in one of strings",
     0, 0},
    {"names", "list(string)", "[]", "names of the components, instead of the header's", 0, 0},
    {"skip_lines", "int", "0", "lines at the beginning that are left out", 0, 1e9},
    {"stack", "bool", "false", "all columns as one float32 vector, the component `values`", 0, 0},
    {"buffer_size", "int", "65536", "bytes read at once; the result does not depend on it", 1,
     1 << 30},
};

static const tfsdk_readerdef readers[] = {{
    .struct_size = sizeof(tfsdk_readerdef),
    .n_option = TFSDK_COUNT(options),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "csv",
    .extensions = ".csv .csv.gz .tsv .tsv.gz",
    .doc = "Text with separated values as in RFC 4180, plain or gzip: quoted fields with line "
           "breaks and "
           "doubled quotes, line ends of any kind, a UTF-8 byte order mark. Blank lines are no "
           "records. A "
           "component for each column, a scalar, named by the header. Errors name file and line: a "
           "record "
           "with too few or too many fields, a missing value without default, a number that is "
           "none or "
           "does not fit its type, a quote out of place or never closed.",
    .option = options,
    .open = csv_open,
    .components = csv_components,
    .next = csv_next,
    .close = csv_close,
}};
TFSDK_UNIT_READERS(csv, readers);
