/* Splitting text into records and fields; see csv_lexer.h. */
#include "csv_lexer.h"

#include <string.h>

#define MAX_ROW ((size_t)256 << 20) /* a quote left open must not swallow the memory */
#define HEAD    4                   /* bytes read at once, to look for a byte order mark */

/* Room for `more` bytes in a block that grows by doubling. NULL when memory is out; the old block
 * stays. */
static void *grown(const tfsdk_host *host, void *block, size_t item, size_t n, size_t *cap,
                   size_t more) {
  if (block != NULL && n + more <= *cap) return block;
  size_t want = *cap < 64 ? 64 : *cap * 2;
  if (want < n + more) want = n + more;
  void *fresh = host->realloc(host, block, *cap * item, want * item);
  if (fresh != NULL) *cap = want;
  return fresh;
}

void csv_row_release(const tfsdk_host *host, csv_row *row) {
  if (row->text != NULL) (void)host->realloc(host, row->text, row->cap, 0);
  if (row->field != NULL)
    (void)host->realloc(host, row->field, row->cap_field * sizeof *row->field, 0);
  memset(row, 0, sizeof *row);
}

tfsdk_status *csv_lexer_open(csv_lexer *l, const tfsdk_host *host, const char *path,
                             size_t buffer_size, char delimiter, char quote) {
  memset(l, 0, sizeof *l);
  TFSDK_TRY(source_open(&l->src, host, path));
  l->size = buffer_size < HEAD ? HEAD : buffer_size;
  l->delimiter = delimiter;
  l->quote = quote;
  l->line = 1;
  l->buffer = reader_alloc(host, l->size);
  tfsdk_status *s =
      l->buffer != NULL ? source_read(&l->src, l->buffer, HEAD, &l->n) : READER_NOMEM(&l->src);
  if (s == NULL && l->n >= 3 && memcmp(l->buffer, "\xef\xbb\xbf", 3) == 0) l->at = 3;
  if (s == NULL && l->n >= 2 &&
      (memcmp(l->buffer, "\xff\xfe", 2) == 0 || memcmp(l->buffer, "\xfe\xff", 2) == 0))
    s = SOURCE_FAIL(&l->src, INVALID_ARGUMENT, "the text is UTF-16; convert it to UTF-8");
  if (s != NULL) csv_lexer_close(l);
  l->size = buffer_size;
  return s;
}

void csv_lexer_close(csv_lexer *l) {
  const tfsdk_host *host = l->src.host;
  if (l->error != NULL) host->drop(host, l->error);
  l->error = NULL;
  if (l->buffer != NULL) reader_free(host, l->buffer, l->size < HEAD ? HEAD : l->size);
  l->buffer = NULL;
  source_close(&l->src);
}

/* False at the end, and on an error, which is kept. */
static bool refill(csv_lexer *l) {
  if (l->ended || l->error != NULL) return false;
  l->at = l->n = 0;
  l->error = source_read(&l->src, l->buffer, l->size, &l->n);
  if (l->error != NULL) l->n = 0;
  l->ended = l->error == NULL && l->n == 0;
  return l->n > 0;
}

static int peek(csv_lexer *l) {
  if (l->at == l->n && !refill(l)) return -1;
  return (unsigned char)l->buffer[l->at];
}

static int get(csv_lexer *l) {
  int c = peek(l);
  if (c >= 0) l->at++;
  return c;
}

static tfsdk_status *take_error(csv_lexer *l) {
  tfsdk_status *s = l->error;
  l->error = NULL;
  if (s != NULL) l->ended = true; /* a source that failed gives nothing more */
  return s;
}

static bool line_end(int c) { return c == '\n' || c == '\r'; }

/* Behind the first byte of a line end. */
static void end_line(csv_lexer *l, int c) {
  if (c == '\r' && peek(l) == '\n') l->at++;
  l->line++;
}

tfsdk_status *csv_lexer_skip_line(csv_lexer *l) {
  int c = get(l);
  while (c >= 0 && !line_end(c)) c = get(l);
  if (c >= 0) end_line(l, c);
  return take_error(l);
}

static tfsdk_status *append(csv_lexer *l, csv_row *row, const char *text, size_t n) {
  if (row->n + n > MAX_ROW)
    return CSV_FAIL(l, RESOURCE_EXHAUSTED, row->line,
                    "the record is longer than %zu MiB; is a quote left open?", MAX_ROW >> 20);
  char *room = grown(l->src.host, row->text, 1, row->n, &row->cap, n);
  if (room == NULL) return READER_NOMEM(&l->src);
  row->text = room;
  memcpy(row->text + row->n, text, n);
  row->n += n;
  return NULL;
}

/* Copies what lies in the buffer up to the first byte that may mean something. */
static tfsdk_status *append_plain(csv_lexer *l, csv_row *row, bool quoted) {
  const char *begin = l->buffer + l->at, *end = l->buffer + l->n, *p = begin;
  if (quoted)
    while (p < end && *p != l->quote && !line_end(*p)) p++;
  else
    while (p < end && *p != l->delimiter && !line_end(*p) && (*p != l->quote || l->quote == 0)) p++;
  l->at += (size_t)(p - begin);
  return append(l, row, begin, (size_t)(p - begin));
}

/* After the opening quote; *out_c is what follows the closing one. */
static tfsdk_status *quoted_field(csv_lexer *l, csv_row *row, int *out_c) {
  uint64_t begin = l->line;
  for (;;) {
    int c = get(l);
    if (c < 0) {
      TFSDK_TRY(take_error(l));
      return CSV_FAIL(l, DATA_LOSS, begin, "the quote that opens field %zu is never closed",
                      row->n_field);
    }
    if (c == l->quote) {
      if (peek(l) != l->quote) break;
      l->at++;
    }
    if (c == '\n' || (c == '\r' && peek(l) != '\n')) l->line++;
    char byte = (char)c;
    TFSDK_TRY(append(l, row, &byte, 1));
    TFSDK_TRY(append_plain(l, row, true));
  }
  *out_c = get(l);
  if (*out_c < 0 || line_end(*out_c) || *out_c == (unsigned char)l->delimiter) return NULL;
  return CSV_FAIL(l, INVALID_ARGUMENT, l->line,
                  "text follows the closing quote of field %zu (a quote inside is written twice)",
                  row->n_field);
}

static tfsdk_status *plain_field(csv_lexer *l, csv_row *row, int *out_c) {
  do { /* once for each buffer */
    TFSDK_TRY(append_plain(l, row, false));
    *out_c = peek(l);
  } while (*out_c >= 0 && *out_c != (unsigned char)l->delimiter && !line_end(*out_c) &&
           (*out_c != l->quote || l->quote == 0));
  if (*out_c >= 0) l->at++;
  if (l->quote != 0 && *out_c == l->quote)
    return CSV_FAIL(l, INVALID_ARGUMENT, l->line,
                    "field %zu has a quote but does not begin with one", row->n_field);
  return NULL;
}

static tfsdk_status *one_field(csv_lexer *l, csv_row *row, int *out_c) {
  csv_field *list = grown(l->src.host, row->field, sizeof *list, row->n_field, &row->cap_field, 1);
  if (list == NULL) return READER_NOMEM(&l->src);
  row->field = list;
  size_t at = row->n;
  csv_field *f = &row->field[row->n_field++];
  f->line = l->line;
  if (l->quote != 0 && peek(l) == l->quote) {
    l->at++;
    TFSDK_TRY(quoted_field(l, row, out_c));
  } else {
    TFSDK_TRY(plain_field(l, row, out_c));
  }
  f->at = at;
  f->n = row->n - at;
  return append(l, row, "", 1);
}

tfsdk_status *csv_lexer_next(csv_lexer *l, csv_row *row, bool *out_end) {
  int c;
  row->n = row->n_field = 0;
  while ((c = peek(l)) >= 0 && line_end(c)) {
    l->at++;
    end_line(l, c);
  }
  *out_end = c < 0;
  if (c < 0) return take_error(l);
  row->line = l->line;
  do { TFSDK_TRY(one_field(l, row, &c)); } while (c == (unsigned char)l->delimiter);
  if (c >= 0) end_line(l, c);
  return take_error(l); /* a damaged source ends no record */
}
