/* text.h - a growing text, and JSON written into it piece by piece.
 *
 * Why not cJSON, which the rest of the project uses: a chart of a hundred runs is a hundred thousand
 * numbers, which a tree would hold as as many small allocations, and JSON has no NaN. Here they are
 * written at once, and what is not finite is the string "NaN", "Infinity" or "-Infinity". */
#ifndef TFSDK_BOARD_TEXT_H
#define TFSDK_BOARD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `failed`: memory ran out; what is there is of no use then. p is not ended by 0. */
typedef struct text {
  char *p;
  size_t n, cap;
  bool failed, comma; /* comma: the next JSON value is not the first of its list */
} text;

void text_free(text *t);
/* Room for n more bytes, whose place is returned; NULL when memory is out. */
char *text_room(text *t, size_t n);
void text_raw(text *t, const void *bytes, size_t n);
void text_put(text *t, const char *s);
__attribute__((format(printf, 2, 3))) void text_format(text *t, const char *format, ...);

/* Bytes that are not UTF-8 become U+FFFD. */
void json_string(text *t, const char *s, size_t n);
void json_text(text *t, const char *s);
/* At most nine digits where a float32 holds the number, else seventeen: it is read back as it was. */
void json_number(text *t, double x);
void json_int(text *t, int64_t x);
void json_bool(text *t, bool x);
void json_null(text *t);
void json_key(text *t, const char *key);
void json_key_n(text *t, const char *key, size_t n);
void json_open(text *t, char bracket); /* '{' or '[' */
void json_close(text *t, char bracket);

static inline void json_text_at(text *t, const char *key, const char *s) {
  json_key(t, key);
  json_text(t, s);
}
static inline void json_int_at(text *t, const char *key, int64_t x) {
  json_key(t, key);
  json_int(t, x);
}
static inline void json_number_at(text *t, const char *key, double x) {
  json_key(t, key);
  json_number(t, x);
}
static inline void json_open_at(text *t, const char *key, char bracket) {
  json_key(t, key);
  json_open(t, bracket);
}

#endif
