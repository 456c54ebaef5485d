/* accumulate.c - see accumulate.h. */
#include "accumulate.h"

static int is_integer(int32_t dtype) {
  char kind = tfsdk_dtype_kind(dtype);
  return kind == 'i' || kind == 'u' || kind == 'b';
}

static int is_complex(int32_t dtype) { return tfsdk_dtype_kind(dtype) == 'c'; }

tfsdk_status *array_sum_begin(tfsdk_run *r, int32_t dtype, int64_t n, array_sum *out) {
  size_t bytes = (size_t)n * (is_complex(dtype) ? 16 : 8);
  out->n = n;
  out->dtype = dtype;
  TFSDK_TRY(r->api->workspace(r, bytes > 0 ? bytes : 8, &out->cell));
  memset(out->cell, 0, bytes);
  return NULL;
}

#define ADD(type, value)                                                                           \
  do {                                                                                             \
    const type *p = (const type *)x->data + from;                                                  \
    for (int64_t i = 0; i < n; i++) d[i] += scale * (double)(value);                               \
  } while (0)

void array_sum_add(const array_sum *s, int64_t to, const tfsdk_view *x, int64_t from, int64_t n,
                   double scale) {
  double *d = (double *)s->cell + to;
  if (is_integer(s->dtype)) {
    uint64_t *u = (uint64_t *)s->cell + to;
    for (int64_t i = 0; i < n; i++) u[i] += (uint64_t)tfsdk_view_int(x, from + i);
    return;
  }
  switch (s->dtype) {
  case TFSDK_FLOAT32: ADD(float, p[i]); break;
  case TFSDK_FLOAT64: ADD(double, p[i]); break;
  case TFSDK_FLOAT16: ADD(uint16_t, tfsdk_from_half(p[i])); break;
  case TFSDK_BFLOAT16: ADD(uint16_t, tfsdk_from_bfloat16(p[i])); break;
  case TFSDK_COMPLEX64:
    d += to;
    from *= 2;
    n *= 2;
    ADD(float, p[i]);
    break;
  case TFSDK_COMPLEX128:
    d += to;
    from *= 2;
    n *= 2;
    ADD(double, p[i]);
    break;
  default: break;
  }
}

void array_sum_divide(const array_sum *s, int64_t to, int64_t n, double by) {
  double *d = (double *)s->cell;
  int64_t unit = is_complex(s->dtype) ? 2 : 1;
  for (int64_t i = to * unit; i < (to + n) * unit; i++) d[i] /= by;
}

void array_sum_end(const array_sum *s, const tfsdk_view *out) {
  const double *d = (const double *)s->cell;
  const uint64_t *u = (const uint64_t *)s->cell;
  for (int64_t i = 0; i < s->n; i++) {
    switch (s->dtype) {
    case TFSDK_FLOAT32: ((float *)out->data)[i] = (float)d[i]; break;
    case TFSDK_FLOAT64: ((double *)out->data)[i] = d[i]; break;
    case TFSDK_FLOAT16: ((uint16_t *)out->data)[i] = tfsdk_to_half(tfsdk_round_to_odd(d[i])); break;
    case TFSDK_BFLOAT16:
      ((uint16_t *)out->data)[i] = tfsdk_to_bfloat16(tfsdk_round_to_odd(d[i]));
      break;
    case TFSDK_COMPLEX64:
      ((float *)out->data)[2 * i] = (float)d[2 * i];
      ((float *)out->data)[2 * i + 1] = (float)d[2 * i + 1];
      break;
    case TFSDK_COMPLEX128:
      ((double *)out->data)[2 * i] = d[2 * i];
      ((double *)out->data)[2 * i + 1] = d[2 * i + 1];
      break;
    case TFSDK_INT8:
    case TFSDK_UINT8: ((uint8_t *)out->data)[i] = (uint8_t)u[i]; break;
    case TFSDK_INT16:
    case TFSDK_UINT16: ((uint16_t *)out->data)[i] = (uint16_t)u[i]; break;
    case TFSDK_INT32:
    case TFSDK_UINT32: ((uint32_t *)out->data)[i] = (uint32_t)u[i]; break;
    case TFSDK_INT64:
    case TFSDK_UINT64: ((uint64_t *)out->data)[i] = u[i]; break;
    case TFSDK_BOOL: ((uint8_t *)out->data)[i] = u[i] != 0; break;
    default: break;
    }
  }
}
