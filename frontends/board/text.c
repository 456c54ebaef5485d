/* text.c - see text.h. */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_free(text *t) {
  free(t->p);
  memset(t, 0, sizeof *t);
}

char *text_room(text *t, size_t n) {
  if (t->failed) return NULL;
  if (t->cap - t->n < n) {
    size_t cap = t->cap + t->cap / 2 + n + 256;
    char *p = cap > n ? realloc(t->p, cap) : NULL;
    if (p == NULL) {
      t->failed = true;
      return NULL;
    }
    t->p = p;
    t->cap = cap;
  }
  return t->p + t->n;
}

void text_raw(text *t, const void *bytes, size_t n) {
  char *to = text_room(t, n);
  if (to == NULL || n == 0) return;
  memcpy(to, bytes, n);
  t->n += n;
}

void text_put(text *t, const char *s) { text_raw(t, s, strlen(s)); }

void text_format(text *t, const char *format, ...) {
  va_list args;
  char *to = text_room(t, 64);
  if (to == NULL) return;
  va_start(args, format);
  int n = vsnprintf(to, t->cap - t->n, format, args);
  va_end(args);
  if (n >= 0 && (size_t)n >= t->cap - t->n && (to = text_room(t, (size_t)n + 1)) != NULL) {
    va_start(args, format);
    vsnprintf(to, (size_t)n + 1, format, args);
    va_end(args);
  }
  if (n > 0 && to != NULL) t->n += (size_t)n;
}

/* ------------------------------------------------------------------------------------------ JSON */

static void separate(text *t) {
  if (t->comma) text_raw(t, ",", 1);
  t->comma = true;
}

/* How many bytes the sequence at p has; 0: it is none (RFC 3629: no surrogates, nothing overlong). */
static size_t utf8_length(const unsigned char *p, size_t n) {
  static const unsigned char least[5] = {0, 0, 0x80, 0xa0, 0x90};
  size_t k = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
  if (p[0] < 0x80) return 1;
  if (p[0] < 0xc2 || p[0] > 0xf4 || k > n) return 0;
  for (size_t i = 1; i < k; i++)
    if ((p[i] & 0xc0) != 0x80) return 0;
  if ((p[0] == 0xe0 || p[0] == 0xf0) && p[1] < least[k]) return 0;
  if ((p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
  return k;
}

static void put_string(text *t, const char *s, size_t n) {
  const unsigned char *p = (const unsigned char *)s;
  text_raw(t, "\"", 1);
  for (size_t i = 0, k; i < n; i += k) {
    size_t plain = i;
    while (plain < n && p[plain] >= 0x20 && p[plain] < 0x7f && p[plain] != '"' && p[plain] != '\\')
      plain++;
    text_raw(t, s + i, plain - i);
    if ((i = plain) == n) break;
    k = utf8_length(p + i, n - i);
    if (k > 1) {
      text_raw(t, s + i, k);
    } else if (k == 0) {
      text_put(t, "\xef\xbf\xbd");
      k = 1;
    } else if (p[i] == '"' || p[i] == '\\') {
      text_format(t, "\\%c", p[i]);
    } else {
      text_format(t, "\\u%04x", (unsigned)p[i]);
    }
  }
  text_raw(t, "\"", 1);
}

void json_string(text *t, const char *s, size_t n) {
  separate(t);
  put_string(t, s, n);
}
void json_text(text *t, const char *s) { json_string(t, s, strlen(s)); }

/* As few as tell it from its neighbours: of 7, 9 for a float32, of 15, 17 for others. */
static void put_digits(text *t, double x) {
  char digits[40];
  float narrow = (float)x;
  bool is_float = (double)narrow == x;
  snprintf(digits, sizeof digits, "%.*g", is_float ? 7 : 15, x);
  if (is_float ? strtof(digits, NULL) != narrow : strtod(digits, NULL) != x)
    snprintf(digits, sizeof digits, "%.*g", is_float ? 9 : 17, x);
  text_put(t, digits);
}

void json_number(text *t, double x) {
  separate(t);
  if (isnan(x))
    text_put(t, "\"NaN\"");
  else if (isinf(x))
    text_put(t, x < 0 ? "\"-Infinity\"" : "\"Infinity\"");
  else if (fabs(x) < 1e9 && x == (double)(int64_t)x && (x != 0 || !signbit(x)))
    json_int((t->comma = false, t), (int64_t)x);
  else
    put_digits(t, x);
  t->comma = true;
}

void json_int(text *t, int64_t x) {
  char digits[24];
  size_t at = sizeof digits;
  uint64_t v = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
  separate(t);
  do digits[--at] = (char)('0' + v % 10);
  while ((v /= 10) != 0);
  if (x < 0) digits[--at] = '-';
  text_raw(t, digits + at, sizeof digits - at);
}

void json_bool(text *t, bool x) {
  separate(t);
  text_put(t, x ? "true" : "false");
}
void json_null(text *t) {
  separate(t);
  text_put(t, "null");
}

void json_key_n(text *t, const char *key, size_t n) {
  json_string(t, key, n);
  text_raw(t, ":", 1);
  t->comma = false;
}
void json_key(text *t, const char *key) { json_key_n(t, key, strlen(key)); }

void json_open(text *t, char bracket) {
  separate(t);
  text_raw(t, &bracket, 1);
  t->comma = false;
}
void json_close(text *t, char bracket) {
  text_raw(t, &bracket, 1);
  t->comma = true;
}
