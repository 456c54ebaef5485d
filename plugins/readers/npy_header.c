/* The header of an npy file.
 *
 * Format: numpy.lib.format. "\x93NUMPY", major and minor version, the length of the header (2 bytes
 * in version 1, 4 in 2 and 3, little-endian), then the text of a Python dict with the keys `descr`,
 * `fortran_order` and `shape` in any order, padded with spaces and ended by a line end. The text is
 * parsed for exactly that and never evaluated. */
#include "npy_header.h"

#include <string.h>

#define MAX_HEADER (1u << 20) /* numpy itself writes a few hundred bytes */
#define MAX_DESCR  64

typedef struct text {
  source *src;
  const char *p, *end;
} text;

static tfsdk_status *malformed(text *t, const char *expected) {
  return SOURCE_FAIL(t->src, DATA_LOSS, "the npy header is malformed: %s is expected", expected);
}

static void skip_space(text *t) {
  while (t->p < t->end && (*t->p == ' ' || *t->p == '\t' || *t->p == '\n' || *t->p == '\r')) t->p++;
}

static bool accept(text *t, char c) {
  skip_space(t);
  if (t->p == t->end || *t->p != c) return false;
  t->p++;
  return true;
}

static bool accept_word(text *t, const char *word) {
  size_t n = strlen(word);
  skip_space(t);
  if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0) return false;
  t->p += n;
  return true;
}

/* A string in quotes of either kind, without escapes. */
static bool read_string(text *t, char *out, size_t cap) {
  skip_space(t);
  if (t->p == t->end || (*t->p != '\'' && *t->p != '"')) return false;
  const char *begin = t->p + 1;
  const char *close = memchr(begin, *t->p, (size_t)(t->end - begin));
  if (close == NULL || (size_t)(close - begin) >= cap) return false;
  if (memchr(begin, '\\', (size_t)(close - begin)) != NULL) return false;
  memcpy(out, begin, (size_t)(close - begin));
  out[close - begin] = 0;
  t->p = close + 1;
  return true;
}

static tfsdk_status *read_shape(text *t, npy_header *h) {
  uint32_t n = 0;
  if (!accept(t, '(')) return malformed(t, "a tuple as shape");
  while (!accept(t, ')')) {
    int64_t d = 0;
    skip_space(t);
    const char *digits = t->p;
    if (t->p < t->end && *t->p == '-')
      return SOURCE_FAIL(t->src, DATA_LOSS, "the npy shape has a negative extent");
    for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++)
      if (__builtin_mul_overflow(d, 10, &d) || __builtin_add_overflow(d, *t->p - '0', &d))
        return SOURCE_FAIL(t->src, DATA_LOSS, "an extent of the npy shape does not fit 64 bits");
    if (t->p == digits) return malformed(t, "a number in the shape");
    (void)accept(t, 'L'); /* numpy under Python 2 */
    if (n == TFSDK_MAX_RANK)
      return SOURCE_FAIL(t->src, UNIMPLEMENTED, "the npy array has more than %d axes",
                         TFSDK_MAX_RANK);
    h->dim[n++] = d;
    bool comma = accept(t, ',');
    skip_space(t);
    if (!comma && (n == 1 || t->p == t->end || *t->p != ')'))
      return malformed(t, "a ',' in the shape");
  }
  h->rank = n;
  return NULL;
}

static tfsdk_status *refuse(source *s, const char *descr, const char *why) {
  return SOURCE_FAIL(s, UNIMPLEMENTED, "the npy type '%s' is not read: %s", descr, why);
}

/* "<f4": byte order, kind, bytes. */
static tfsdk_status *read_type(source *s, const char *descr, npy_header *h) {
  static const struct {
    const char *code;
    int32_t dtype;
  } types[] = {{"b1", TFSDK_BOOL},      {"i1", TFSDK_INT8},       {"i2", TFSDK_INT16},
               {"i4", TFSDK_INT32},     {"i8", TFSDK_INT64},      {"u1", TFSDK_UINT8},
               {"u2", TFSDK_UINT16},    {"u4", TFSDK_UINT32},     {"u8", TFSDK_UINT64},
               {"f2", TFSDK_FLOAT16},   {"f4", TFSDK_FLOAT32},    {"f8", TFSDK_FLOAT64},
               {"c8", TFSDK_COMPLEX64}, {"c16", TFSDK_COMPLEX128}};
  char order = descr[0];
  const char *code =
      order == '<' || order == '>' || order == '|' || order == '=' ? descr + 1 : descr;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (strcmp(code, types[i].code) != 0) continue;
    h->dtype = types[i].dtype;
    h->item = tfsdk_dtype_size(h->dtype);
    h->part = tfsdk_dtype_kind(h->dtype) == 'c' ? h->item / 2 : h->item;
    h->swap =
        h->part > 1 && ((order == '>' && must_swap(true)) || (order == '<' && must_swap(false)));
    return NULL;
  }
  if (code[0] == 'S' && code[1] >= '1' && code[1] <= '9' && strlen(code) < 10) {
    h->dtype = TFSDK_STRING; /* bytes, filled up with zeros */
    h->item = h->part = 0;
    for (const char *p = code + 1; *p != 0; p++) {
      if (*p < '0' || *p > '9') return refuse(s, descr, "it is unknown");
      h->item = h->item * 10 + (size_t)(*p - '0');
    }
    return NULL;
  }
  switch (code[0]) {
  case 'O': return refuse(s, descr, "it holds pickled Python objects, that is, code");
  case 'U': return refuse(s, descr, "Unicode text of fixed width; save bytes (S) instead");
  case 'V': return refuse(s, descr, "raw records");
  case 'M':
  case 'm': return refuse(s, descr, "dates and times");
  default: return refuse(s, descr, "it is unknown");
  }
}

/* A list of fields: a structured type. */
static tfsdk_status *refuse_fields(text *t) {
  char shown[MAX_DESCR];
  size_t n =
      (size_t)(t->end - t->p) < sizeof shown - 1 ? (size_t)(t->end - t->p) : sizeof shown - 1;
  memcpy(shown, t->p, n);
  shown[n] = 0;
  char *last = strrchr(shown, ']');
  if (last != NULL) last[1] = 0;
  return refuse(t->src, shown, "records of several fields");
}

static tfsdk_status *parse(text *t, npy_header *h) {
  bool descr = false, order = false, shape = false;
  char key[MAX_DESCR], type[MAX_DESCR];
  if (!accept(t, '{')) return malformed(t, "a dict");
  while (!accept(t, '}')) {
    if (!read_string(t, key, sizeof key) || !accept(t, ':')) return malformed(t, "a key and ':'");
    bool *seen = strcmp(key, "descr") == 0           ? &descr
                 : strcmp(key, "fortran_order") == 0 ? &order
                 : strcmp(key, "shape") == 0         ? &shape
                                                     : NULL;
    if (seen == NULL)
      return SOURCE_FAIL(t->src, DATA_LOSS, "the npy header has the unknown key '%s'", key);
    if (*seen) return SOURCE_FAIL(t->src, DATA_LOSS, "the npy header has the key '%s' twice", key);
    *seen = true;
    skip_space(t);
    if (seen == &descr && t->p < t->end && *t->p == '[') return refuse_fields(t);
    if (seen == &descr) {
      if (!read_string(t, type, sizeof type)) return malformed(t, "a type as descr");
      TFSDK_TRY(read_type(t->src, type, h));
    } else if (seen == &order) {
      h->fortran = accept_word(t, "True");
      if (!h->fortran && !accept_word(t, "False"))
        return malformed(t, "True or False as fortran_order");
    } else {
      TFSDK_TRY(read_shape(t, h));
    }
    bool comma = accept(t, ',');
    skip_space(t);
    if (!comma && (t->p == t->end || *t->p != '}')) return malformed(t, "a ',' or '}'");
  }
  skip_space(t);
  if (t->p != t->end) return malformed(t, "nothing after the dict");
  if (!descr || !order || !shape)
    return SOURCE_FAIL(t->src, DATA_LOSS, "the npy header lacks %s",
                       !descr   ? "descr"
                       : !order ? "fortran_order"
                                : "shape");
  return NULL;
}

static tfsdk_status *count_elements(source *s, npy_header *h) {
  uint64_t n = 1, bytes;
  bool empty = false, fits = true;
  for (uint32_t i = 0; i < h->rank; i++) empty = empty || h->dim[i] == 0;
  for (uint32_t i = 0; i < h->rank && !empty; i++)
    fits = fits && !__builtin_mul_overflow(n, (uint64_t)h->dim[i], &n);
  if (!fits || __builtin_mul_overflow(n, h->item, &bytes) || bytes > INT64_MAX)
    return SOURCE_FAIL(s, DATA_LOSS, "the npy shape needs more bytes than can be addressed");
  h->elements = empty ? 0 : (int64_t)n;
  if (h->rank < 2) h->fortran = false; /* the orders are the same */
  return NULL;
}

tfsdk_status *npy_read_header(source *s, npy_header *h) {
  unsigned char head[8], size[4] = {0};
  memset(h, 0, sizeof *h);
  TFSDK_TRY(source_read_exactly(s, head, sizeof head, "the magic number"));
  if (memcmp(head, "\x93NUMPY", 6) != 0) return SOURCE_FAIL(s, DATA_LOSS, "this is no npy file");
  if (head[6] < 1 || head[6] > 3 || head[7] != 0)
    return SOURCE_FAIL(s, UNIMPLEMENTED, "npy version %u.%u is unknown; 1.0, 2.0 and 3.0 are read",
                       head[6], head[7]);
  TFSDK_TRY(source_read_exactly(s, size, head[6] == 1 ? 2 : 4, "the header's length"));
  size_t n = (size_t)size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
  TFSDK_TRY(source_expect(s, n, "the npy header", NULL));
  if (n > MAX_HEADER)
    return SOURCE_FAIL(s, DATA_LOSS, "the npy header claims %zu bytes; %u is the limit", n,
                       MAX_HEADER);
  char *content = reader_alloc(s->host, n + 1);
  if (content == NULL) return READER_NOMEM(s);
  tfsdk_status *status = source_read_exactly(s, content, n, "the npy header");
  text t = {s, content, content + n};
  if (status == NULL) status = parse(&t, h);
  if (status == NULL) status = count_elements(s, h);
  reader_free(s->host, content, n + 1);
  return status;
}
