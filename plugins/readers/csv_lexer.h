/* Records of separated values: RFC 4180, found byte by byte, so that the size of the read buffer
 * cannot matter.
 *
 *   line ends   CR LF, LF or CR; the last may be missing; a line without a byte is no record
 *   quotes      a field may be in quotes; then it holds anything, with each quote of its own
 * doubled. A quote inside a field that does not begin with one is a fault, and so is text after the
 *               closing quote
 *   mark        a UTF-8 byte order mark at the beginning is skipped; UTF-16 is refused
 */
#ifndef TFSDK_READERS_CSV_LEXER_H
#define TFSDK_READERS_CSV_LEXER_H

#include "source.h"

typedef struct csv_field {
  size_t at, n;  /* bytes of the row's text; a NUL follows */
  uint64_t line; /* where the field begins, from 1 */
} csv_field;

typedef struct csv_row {
  char *text;
  size_t n, cap;
  csv_field *field;
  size_t n_field, cap_field;
  uint64_t line; /* where the record begins */
} csv_row;

typedef struct csv_lexer {
  source src; /* first */
  char *buffer;
  size_t size, at, n;
  char delimiter, quote; /* quote 0: none */
  bool ended;            /* the source has no more */
  uint64_t line;
  tfsdk_status *error; /* of the last refill */
} csv_lexer;

tfsdk_status *csv_lexer_open(csv_lexer *l, const tfsdk_host *host, const char *path,
                             size_t buffer_size, char delimiter, char quote);
void csv_lexer_close(csv_lexer *l);
tfsdk_status *csv_lexer_skip_line(csv_lexer *l);
/* The next record into `row`, whose memory is used again; *out_end at the end of the file. */
tfsdk_status *csv_lexer_next(csv_lexer *l, csv_row *row, bool *out_end);
void csv_row_release(const tfsdk_host *host, csv_row *row);

static inline const char *csv_text(const csv_row *row, size_t i) {
  return row->text + row->field[i].at;
}

/* Errors about a line. */
#define CSV_FAIL(l, code, at_line, format, ...)                                                    \
  TFSDK_FAIL(&(l)->src, code, "%s:%llu: " format, (l)->src.path, (unsigned long long)(at_line),    \
             ##__VA_ARGS__)

#endif
