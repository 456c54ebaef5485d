/* The header of an array: "\x93NUMPY", version, length, and the text of a Python dict with the keys
 * descr, fortran_order and shape. The text is parsed for exactly that and never evaluated. */
#include "npy.h"

#include <string.h>

#include "table.h"

#define MAX_HEADER ((size_t)1 << 20)

const char *npy_length(const unsigned char *b, size_t *out_at, size_t *out_n) {
  if (memcmp(b, "\x93NUMPY", 6) != 0) return "it is no array";
  if (b[6] < 1 || b[6] > 3 || b[7] != 0) return "its version of the format is unknown";
  *out_at = b[6] == 1 ? 10 : 12;
  *out_n = b[6] == 1 ? (size_t)b[8] | (size_t)b[9] << 8 : read_u32(b + 8);
  return *out_n > MAX_HEADER ? "its header is too long" : NULL;
}

typedef struct text {
  const char *p, *end;
} text;

static bool accept(text *t, char c) {
  while (t->p < t->end && strchr(" \t\n\r", *t->p) != NULL && *t->p != 0) t->p++;
  if (t->p == t->end || *t->p != c) return false;
  t->p++;
  return true;
}

static bool word(text *t, const char *w) {
  size_t n = strlen(w);
  while (t->p < t->end && *t->p == ' ') t->p++;
  if ((size_t)(t->end - t->p) < n || memcmp(t->p, w, n) != 0) return false;
  t->p += n;
  return true;
}

static bool quoted(text *t, char *out, size_t cap) {
  char quote = accept(t, '\'') ? '\'' : accept(t, '"') ? '"' : 0;
  if (quote == 0) return false;
  const char *close = memchr(t->p, quote, (size_t)(t->end - t->p));
  if (close == NULL || (size_t)(close - t->p) >= cap) return false;
  memcpy(out, t->p, (size_t)(close - t->p));
  out[close - t->p] = 0;
  t->p = close + 1;
  return true;
}

static bool whole(text *t, int64_t *out) {
  const char *begin;
  *out = 0;
  while (t->p < t->end && *t->p == ' ') t->p++;
  for (begin = t->p; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++)
    if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *t->p - '0', out))
      return false;
  return t->p > begin;
}

static const char *read_shape(text *t, npy_array *a) {
  if (!accept(t, '(')) return "its shape is no tuple";
  for (a->shape.rank = 0; !accept(t, ')');) {
    if (a->shape.rank == TFSDK_MAX_RANK) return "it has more than 12 axes";
    if (!whole(t, &a->shape.dim[a->shape.rank])) return "its shape has an extent that is none";
    a->shape.rank++;
    (void)accept(t, 'L'); /* Python 2 */
    bool comma = accept(t, ',');
    text rest = *t;
    if (!comma && (a->shape.rank == 1 || !accept(&rest, ')'))) return "its shape is no tuple";
  }
  return NULL;
}

static const char *read_type(const char *descr, npy_array *a, bool *unknown) {
  static const struct {
    const char *code;
    int32_t dtype;
  } types[] = {{"b1", TFSDK_BOOL},      {"i1", TFSDK_INT8},       {"i2", TFSDK_INT16},
               {"i4", TFSDK_INT32},     {"i8", TFSDK_INT64},      {"u1", TFSDK_UINT8},
               {"u2", TFSDK_UINT16},    {"u4", TFSDK_UINT32},     {"u8", TFSDK_UINT64},
               {"f2", TFSDK_FLOAT16},   {"f4", TFSDK_FLOAT32},    {"f8", TFSDK_FLOAT64},
               {"c8", TFSDK_COMPLEX64}, {"c16", TFSDK_COMPLEX128}};
  bool marked = descr[0] != 0 && strchr("<>|=", descr[0]) != NULL;
  const char *code = descr + marked;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (strcmp(code, types[i].code) != 0) continue;
    a->dtype = types[i].dtype;
    a->item = (uint32_t)tfsdk_dtype_size(a->dtype);
    a->part = tfsdk_dtype_kind(a->dtype) == 'c' ? a->item / 2 : a->item;
    a->big_endian = descr[0] == '>' && a->part > 1;
    return NULL;
  }
  text t = {code + 1, code + strlen(code)};
  int64_t width;
  if (code[0] == 'S' && whole(&t, &width) && t.p == t.end && width > 0 && width <= INT32_MAX) {
    a->dtype = TFSDK_STRING;
    a->item = a->part = (uint32_t)width;
    return NULL;
  }
  *unknown = true;
  return code[0] == 'O'   ? "it holds pickled Python objects, that is, code"
         : code[0] == 'U' ? "it is Unicode text of fixed width; save bytes (S) instead"
                          : "its type is not read";
}

const char *npy_parse(const char *content, size_t n, npy_array *a, bool *unknown) {
  text t = {content, content + n};
  bool seen[3] = {false, false, false};
  char key[32], descr[64];
  memset(a, 0, sizeof *a);
  *unknown = false;
  if (!accept(&t, '{')) return "its header is no dict";
  while (!accept(&t, '}')) {
    const char *wrong = NULL;
    if (!quoted(&t, key, sizeof key) || !accept(&t, ':')) return "its header is malformed";
    int which = strcmp(key, "descr") == 0           ? 0
                : strcmp(key, "fortran_order") == 0 ? 1
                : strcmp(key, "shape") == 0         ? 2
                                                    : 3;
    if (which == 3) return "its header has an unknown key";
    if (seen[which]) return "its header has a key twice";
    seen[which] = true;
    if (which == 0) {
      text rest = t;
      if (accept(&rest, '[')) {
        *unknown = true;
        return "it holds records of several fields";
      }
      wrong =
          quoted(&t, descr, sizeof descr) ? read_type(descr, a, unknown) : "its header has no type";
    } else if (which == 1) {
      a->fortran = word(&t, "True");
      if (!a->fortran && !word(&t, "False")) wrong = "its order is neither True nor False";
    } else {
      wrong = read_shape(&t, a);
    }
    if (wrong != NULL) return wrong;
    bool comma = accept(&t, ',');
    text rest = t;
    if (!comma && !accept(&rest, '}')) return "its header is malformed";
  }
  while (t.p < t.end)
    if (!accept(&t, ' ') && t.p < t.end) return "its header goes on behind the dict";
  if (!seen[0] || !seen[1] || !seen[2]) return "its header lacks a key";
  if (a->shape.rank < 2) a->fortran = false; /* the orders are the same */
  return NULL;
}
