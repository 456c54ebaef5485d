/* Numbers of text; see csv_number.h. */
#include "csv_number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tfsdk/tensor.h>

bool csv_is_number_type(int32_t dtype) {
  char kind = tfsdk_dtype_kind(dtype);
  return kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b';
}

static enum csv_number read_integer(const char *p, const char *end, int32_t dtype, void *out) {
  bool negative = p < end && *p == '-', fits = true;
  uint64_t x = 0, bits = tfsdk_dtype_size(dtype) * 8, limit;
  if (p < end && (*p == '-' || *p == '+')) p++;
  if (p == end) return CSV_NUMBER_NONE;
  for (; p < end; p++) {
    if (*p < '0' || *p > '9') return CSV_NUMBER_NONE;
    fits = fits && !__builtin_mul_overflow(x, 10u, &x) &&
           !__builtin_add_overflow(x, (uint64_t)(*p - '0'), &x);
  }
  if (tfsdk_dtype_kind(dtype) == 'u')
    limit = negative ? 0 : UINT64_MAX >> (64 - bits);
  else
    limit = ((uint64_t)1 << (bits - 1)) - (negative ? 0 : 1);
  if (!fits || x > limit) return CSV_NUMBER_RANGE;
  if (negative) x = 0 - x;
  switch (bits) {
  case 8: *(uint8_t *)out = (uint8_t)x; break;
  case 16: *(uint16_t *)out = (uint16_t)x; break;
  case 32: *(uint32_t *)out = (uint32_t)x; break;
  default: *(uint64_t *)out = x;
  }
  return CSV_NUMBER_OK;
}

/* A plain decimal of few digits: digits * 10^exponent, to be rounded once. */
static bool short_decimal(const char *p, const char *end, bool *negative, uint64_t *digits,
                          int *exponent) {
  int n = 0, point = 0;
  bool fraction = false;
  *digits = 0;
  *negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  for (; p < end; p++) {
    if (*p == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (*p < '0' || *p > '9' || ++n > 15) return false;
    *digits = *digits * 10 + (uint64_t)(*p - '0');
    point += fraction;
  }
  *exponent = -point;
  return n > 0;
}

/* Both operands are exact in the type, so that one division rounds correctly. */
static bool fast_double(const char *p, const char *end, double *out) {
  static const double ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  bool negative;
  uint64_t digits;
  int exponent;
  if (!short_decimal(p, end, &negative, &digits, &exponent)) return false;
  double x = (double)digits / ten[-exponent];
  *out = negative ? -x : x;
  return true;
}

static bool fast_float(const char *p, const char *end, float *out) {
  static const float ten[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
  bool negative;
  uint64_t digits;
  int exponent;
  if (!short_decimal(p, end, &negative, &digits, &exponent)) return false;
  if (digits >= 1u << 24 || exponent < -10) return false;
  float x = (float)digits / ten[-exponent];
  *out = negative ? -x : x;
  return true;
}

/* strtod takes more than a table should hold: hexadecimal numbers and nan(...). */
static bool looks_decimal(const char *p, const char *end) {
  for (; p < end; p++)
    if (*p == 'x' || *p == 'X' || *p == '(' || *p == 0) return false;
  return true;
}

static enum csv_number read_float(const char *p, const char *end, int32_t dtype, locale_t c,
                                  void *out) {
  char *stop = NULL;
  double x = 0;
  float f = 0;
  bool wide = dtype == TFSDK_FLOAT64,
       fast = wide ? fast_double(p, end, &x) : fast_float(p, end, &f);
  if (!fast) {
    if (p == end || !looks_decimal(p, end) || (unsigned char)*p <= ' ') return CSV_NUMBER_NONE;
    errno = 0;
    if (wide)
      x = strtod_l(p, &stop, c);
    else
      f = strtof_l(p, &stop, c);
    if (stop != end) return CSV_NUMBER_NONE;
    if (errno == ERANGE && (wide ? isinf(x) : isinf(f))) return CSV_NUMBER_RANGE;
  }
  if (wide)
    *(double *)out = x;
  else if (dtype == TFSDK_FLOAT32)
    *(float *)out = f;
  else {
    uint16_t h = dtype == TFSDK_FLOAT16 ? tfsdk_to_half(f) : tfsdk_to_bfloat16(f);
    float back = dtype == TFSDK_FLOAT16 ? tfsdk_from_half(h) : tfsdk_from_bfloat16(h);
    if (isinf(back) && !isinf(f)) return CSV_NUMBER_RANGE;
    *(uint16_t *)out = h;
  }
  return CSV_NUMBER_OK;
}

static enum csv_number read_bool(const char *p, size_t n, void *out) {
  bool yes = (n == 1 && *p == '1') || (n == 4 && strncasecmp(p, "true", 4) == 0);
  bool no = (n == 1 && *p == '0') || (n == 5 && strncasecmp(p, "false", 5) == 0);
  *(uint8_t *)out = yes;
  return yes || no ? CSV_NUMBER_OK : CSV_NUMBER_NONE;
}

enum csv_number csv_read_number(const char *text, size_t n, int32_t dtype, locale_t c, void *out) {
  const char *p = text, *end = text + n;
  char kind = tfsdk_dtype_kind(dtype);
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
  if (kind == 'i' || kind == 'u') return read_integer(p, end, dtype, out);
  if (kind == 'b') return read_bool(p, (size_t)(end - p), out);
  return read_float(p, end, dtype, c, out);
}
