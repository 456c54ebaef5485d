/* JSON read front to back; see json.h. */
#include "json.h"

#include <string.h>

static bool fail(json *j, const char *what) {
  if (j->wrong == NULL) j->wrong = what;
  return false;
}

static void skip_space(json *j) {
  while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\n' || *j->p == '\r')) j->p++;
}

bool json_accept(json *j, char c) {
  skip_space(j);
  if (j->wrong != NULL || j->p == j->end || *j->p != c) return false;
  j->p++;
  return true;
}

bool json_expect(json *j, char c, const char *what) { return json_accept(j, c) || fail(j, what); }

bool utf8_valid(const char *text, size_t n) {
  const unsigned char *p = (const unsigned char *)text, *end = p + n;
  while (p < end) {
    unsigned more = *p < 0x80 ? 0 : *p >= 0xc2 && *p <= 0xdf ? 1 : (*p & 0xf0) == 0xe0 ? 2 : 3;
    if (more == 3 && (*p < 0xf0 || *p > 0xf4)) return false;
    if ((size_t)(end - p) <= more) return false;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
        (*p == 0xf4 && p[1] > 0x8f))
      return false;
    for (unsigned i = 1; i <= more; i++)
      if ((p[i] & 0xc0) != 0x80) return false;
    p += more + 1;
  }
  return true;
}

static bool hex4(const char *p, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < 4; i++) {
    char c = p[i];
    uint32_t d = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                        : 16;
    if (d == 16) return false;
    *out = *out << 4 | d;
  }
  return true;
}

/* The code point of \uXXXX, or of a pair of them. */
static bool unicode(json *j, uint32_t *out) {
  uint32_t low;
  if (j->end - j->p < 4 || !hex4(j->p, out)) return fail(j, "four hexadecimal digits");
  j->p += 4;
  if (*out >= 0xdc00 && *out < 0xe000) return fail(j, "the first half of a surrogate pair");
  if (*out < 0xd800 || *out >= 0xdc00) return *out != 0 || fail(j, "a character other than NUL");
  if (j->end - j->p < 6 || j->p[0] != '\\' || j->p[1] != 'u' || !hex4(j->p + 2, &low) ||
      low < 0xdc00 || low >= 0xe000)
    return fail(j, "the second half of a surrogate pair");
  j->p += 6;
  *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
  return true;
}

static char *put_utf8(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
    return to;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *to++ = (char)((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | c >> (6 * more));
  while (more-- > 0) *to++ = (char)(0x80 | (c >> (6 * more) & 0x3f));
  return to;
}

static bool escape(json *j, char **to) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  if (j->p == j->end) return fail(j, "an escape");
  char c = *j->p++;
  if (c == 'u') {
    uint32_t code;
    if (!unicode(j, &code)) return false;
    *to = put_utf8(*to, code);
    return true;
  }
  const char *at = c != 0 ? strchr(from, c) : NULL;
  if (at == NULL) return fail(j, "a known escape");
  *(*to)++ = into[at - from];
  return true;
}

bool json_string(json *j, arena *memory, const char **out) {
  if (!json_expect(j, '"', "a string")) return false;
  const char *close = j->p;
  while (close < j->end && *close != '"') close += *close == '\\' ? 2 : 1;
  if (close >= j->end) return fail(j, "the end of the string");
  /* resolved, a text is never longer */
  char *text = arena_get(memory, (size_t)(close - j->p) + 1), *to = text;
  if (text == NULL) return fail(j, "memory");
  while (j->p < close) {
    unsigned char c = (unsigned char)*j->p;
    if (c < 0x20) return fail(j, "no control character");
    j->p++;
    if (c != '\\')
      *to++ = (char)c;
    else if (!escape(j, &to))
      return false;
  }
  *to = 0;
  j->p++;
  if (!utf8_valid(text, (size_t)(to - text))) return fail(j, "UTF-8");
  *out = text;
  return true;
}

bool json_whole(json *j, uint64_t *out) {
  uint64_t n = 0;
  skip_space(j);
  const char *begin = j->p;
  for (; j->p < j->end && *j->p >= '0' && *j->p <= '9'; j->p++)
    if (__builtin_mul_overflow(n, 10u, &n) ||
        __builtin_add_overflow(n, (uint64_t)(*j->p - '0'), &n))
      return fail(j, "a number of 64 bits");
  if (j->p == begin || (j->p - begin > 1 && *begin == '0') ||
      (j->p < j->end && (*j->p == '.' || *j->p == 'e' || *j->p == 'E')))
    return fail(j, "a whole number of 0 or more");
  *out = n;
  return true;
}

static bool skip_word(json *j) {
  const char *begin = j->p;
  while (j->p < j->end && ((*j->p >= '0' && *j->p <= '9') || (*j->p >= 'a' && *j->p <= 'z') ||
                           *j->p == '-' || *j->p == '+' || *j->p == '.' || *j->p == 'E'))
    j->p++;
  return j->p > begin || fail(j, "a value");
}

static bool skip_string(json *j) {
  while (j->p < j->end && *j->p != '"') j->p += *j->p == '\\' && j->end - j->p > 1 ? 2 : 1;
  return json_expect(j, '"', "the end of the string");
}

bool json_skip(json *j, int depth) {
  if (depth == 0) return fail(j, "less nesting");
  if (json_accept(j, '"')) return skip_string(j);
  if (json_accept(j, '[')) {
    if (json_accept(j, ']')) return true;
    do
      if (!json_skip(j, depth - 1)) return false;
    while (json_accept(j, ','));
    return json_expect(j, ']', "',' or ']'");
  }
  if (!json_accept(j, '{')) return skip_word(j);
  if (json_accept(j, '}')) return true;
  do {
    if (!json_expect(j, '"', "a key") || !skip_string(j) || !json_expect(j, ':', "':'") ||
        !json_skip(j, depth - 1))
      return false;
  } while (json_accept(j, ','));
  return json_expect(j, '}', "',' or '}'");
}

bool json_end(json *j) {
  skip_space(j);
  return j->p == j->end || fail(j, "nothing more");
}
