/* Random inputs, and comparing tensors. */
#include "kit.h"

#include <math.h>

uint64_t random_bits(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static double uniform(uint64_t *state) { return (double)(random_bits(state) >> 11) * 0x1p-53; }

bool is_float(int32_t dtype) { return tfsdk_dtype_kind(dtype) == 'f'; }

static void store(void *data, int32_t dtype, int64_t i, double x) {
  switch (dtype) {
  case TFSDK_FLOAT32: ((float *)data)[i] = (float)x; break;
  case TFSDK_FLOAT64: ((double *)data)[i] = x; break;
  case TFSDK_FLOAT16: ((uint16_t *)data)[i] = tfsdk_to_half((float)x); break;
  case TFSDK_BFLOAT16: ((uint16_t *)data)[i] = tfsdk_to_bfloat16((float)x); break;
  case TFSDK_INT64: ((int64_t *)data)[i] = (int64_t)x; break;
  case TFSDK_UINT64: ((uint64_t *)data)[i] = (uint64_t)x; break;
  case TFSDK_INT32: ((int32_t *)data)[i] = (int32_t)x; break;
  case TFSDK_UINT32: ((uint32_t *)data)[i] = (uint32_t)x; break;
  case TFSDK_INT16: ((int16_t *)data)[i] = (int16_t)x; break;
  case TFSDK_UINT16: ((uint16_t *)data)[i] = (uint16_t)x; break;
  case TFSDK_INT8: ((int8_t *)data)[i] = (int8_t)x; break;
  case TFSDK_UINT8: ((uint8_t *)data)[i] = (uint8_t)x; break;
  case TFSDK_BOOL: ((uint8_t *)data)[i] = x != 0; break;
  case TFSDK_COMPLEX64: ((float *)data)[2 * i] = (float)x, ((float *)data)[2 * i + 1] = 0; break;
  case TFSDK_COMPLEX128: ((double *)data)[2 * i] = x, ((double *)data)[2 * i + 1] = 0; break;
  default: break;
  }
}

/* No value twice in a float tensor, so that maxima and medians have no ties: a shuffled grid with
 * jitter. */
static void fill(void *data, const input *in, int64_t n, uint64_t *state) {
  char kind = tfsdk_dtype_kind(in->dtype);
  int64_t *order = kind == 'f' ? malloc((size_t)(n + 1) * sizeof *order) : NULL;
  for (int64_t i = 0; order && i < n; i++) order[i] = i;
  for (int64_t i = n - 1; order && i > 0; i--) {
    int64_t j = (int64_t)(random_bits(state) % (uint64_t)(i + 1)), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  for (int64_t i = 0; i < n; i++) {
    double x;
    bool given = in->lo != -2 || in->hi != 2;
    if (kind == 'f')
      x = in->lo + (in->hi - in->lo) * ((double)order[i] + 0.25 + 0.5 * uniform(state)) / (double)n;
    else if (kind == 'b')
      x = (double)(random_bits(state) & 1);
    else {
      double lo = given ? ceil(in->lo) : kind == 'u' ? 0 : -5, hi = given ? floor(in->hi) : 5;
      x = lo + (double)(random_bits(state) % (uint64_t)(hi - lo + 1 < 1 ? 1 : hi - lo + 1));
    }
    store(data, in->dtype, i, x);
  }
  free(order);
}

static tfsdk_status *make_strings(tfsdk_runtime *rt, const input *in, uint64_t *state, int64_t n,
                                  tfsdk_tensor **out) {
  static const char *const words[] = {"", "a", "tensor", "two words", "\xc3\xa9t\xc3\xa9"};
  const char **list = calloc((size_t)n + 1, sizeof *list);
  for (int64_t i = 0; i < n; i++)
    list[i] = in->literal ? in->text[i] : words[random_bits(state) % 5];
  tfsdk_status *s = tfsdk_tensor_create_strings(rt, (uint32_t)in->shape.rank, in->shape.dim, list,
                                                in->literal ? in->length : NULL, out);
  free(list);
  return s;
}

static tfsdk_status *make_input(tfsdk_runtime *rt, const input *in, uint64_t *state,
                                tfsdk_tensor **out) {
  void *data;
  int64_t n = tfsdk_shape_elements(&in->shape);
  *out = NULL;
  if (in->absent) return NULL;
  if (in->dtype == TFSDK_STRING) return make_strings(rt, in, state, n, out);
  TFSDK_TRY(tfsdk_tensor_create_empty(rt, in->dtype, (uint32_t)in->shape.rank, in->shape.dim, &data,
                                      out));
  if (tfsdk_dtype_kind(in->dtype) == 'c') { /* pairs of reals */
    input part = *in;
    part.dtype = in->dtype == TFSDK_COMPLEX64 ? TFSDK_FLOAT32 : TFSDK_FLOAT64;
    fill(data, &part, 2 * n, state);
    for (int64_t i = 0; in->literal && i < 2 * n; i++)
      store(data, part.dtype, i, i % 2 ? 0 : in->value[i / 2]);
  } else if (in->literal)
    for (int64_t i = 0; i < n; i++) store(data, in->dtype, i, in->value[i]);
  else
    fill(data, in, n, state);
  return NULL;
}

target other_device;

/* Strings never leave the host; variables are made from what is there. */
static tfsdk_status *move_input(tfsdk_runtime *rt, tfsdk_tensor **t) {
  tfsdk_tensor *there;
  if (rt != other_device.rt || *t == NULL || tfsdk_tensor_dtype(*t) == TFSDK_STRING) return NULL;
  tfsdk_status *st = tfsdk_tensor_to_device(*t, other_device.device, &there);
  if (st == NULL) {
    tfsdk_tensor_release(*t);
    *t = there;
  }
  return st;
}

tfsdk_status *make_inputs(tfsdk_runtime *rt, const sample *s, uint64_t seed, tfsdk_tensor **out) {
  uint64_t state = seed;
  for (uint32_t i = 0; i < s->n_in; i++) {
    tfsdk_status *st = make_input(rt, &s->in[i], &state, &out[i]);
    if (st == NULL && (st = move_input(rt, &out[i])) != NULL) tfsdk_tensor_release(out[i]);
    if (st != NULL) {
      release_all(out, i);
      return st;
    }
  }
  return NULL;
}

void release_all(tfsdk_tensor **t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    tfsdk_tensor_release(t[i]);
    t[i] = NULL;
  }
}

/* Relative to the larger of 1 and the wanted value. Sums in another order differ by a few roundings
 * of the type; ops whose functions are approximated twice over by different formulas may need more.
 */
double tolerance_of(const char *op, int32_t dtype) {
  (void)op;
  switch (dtype) {
  case TFSDK_FLOAT64: return 1e-10;
  case TFSDK_FLOAT32: return 2e-5;
  case TFSDK_FLOAT16: return 4e-3;
  case TFSDK_BFLOAT16: return 3e-2;
  default: return 0;
  }
}

static bool close_enough(const tfsdk_view *a, const tfsdk_view *b, double tolerance, char *why,
                         size_t why_n) {
  for (int64_t i = 0; i < a->n_elem; i++) {
    double x = tfsdk_view_number(a, i), y = tfsdk_view_number(b, i);
    if ((isnan(x) && isnan(y)) || x == y) continue;
    double scale = fabs(x) > 1 ? fabs(x) : 1;
    if (!(fabs(x - y) <= tolerance * scale)) {
      snprintf(why, why_n, "element %lld is %.9g instead of %.9g", (long long)i, y, x);
      return false;
    }
  }
  return true;
}

bool same(tfsdk_tensor *want, tfsdk_tensor *got, double tolerance, char *why, size_t why_n) {
  tfsdk_view a, b;
  tfsdk_status *s = tfsdk_tensor_view(want, &a);
  if (s == NULL) s = tfsdk_tensor_view(got, &b);
  if (s != NULL) {
    snprintf(why, why_n, "%s", tfsdk_status_text(s));
    tfsdk_status_release(s);
    return false;
  }
  tfsdk_shape sa = tfsdk_shape_of_view(&a), sb = tfsdk_shape_of_view(&b);
  if (a.dtype != b.dtype ||
      !(sa.rank == sb.rank && (sa.rank == 0 || memcmp(sa.dim, sb.dim, (size_t)sa.rank * 8) == 0))) {
    snprintf(why, why_n, "%s %s instead of %s %s", tfsdk_dtype_name(b.dtype),
             tfsdk_shape_text(&sb).s, tfsdk_dtype_name(a.dtype), tfsdk_shape_text(&sa).s);
    return false;
  }
  if (a.dtype == TFSDK_RESOURCE) return true;
  if (!is_float(a.dtype) || tolerance < 0) {
    bool equal = a.byte_size == b.byte_size &&
                 (a.byte_size == 0 || memcmp(a.data, b.data, a.byte_size) == 0);
    for (int64_t i = 0;
         !equal && i < a.n_elem && a.dtype != TFSDK_STRING && tfsdk_dtype_kind(a.dtype) != 'c';
         i++) {
      double x = tfsdk_view_number(&a, i), y = tfsdk_view_number(&b, i);
      if (memcmp((char *)a.data + (size_t)i * tfsdk_dtype_size(a.dtype),
                 (char *)b.data + (size_t)i * tfsdk_dtype_size(a.dtype),
                 tfsdk_dtype_size(a.dtype)) == 0)
        continue;
      if (isnan(x) && isnan(y)) continue;
      snprintf(why, why_n, "element %lld is %.17g instead of %.17g", (long long)i, y, x);
      return false;
    }
    if (!equal && tfsdk_dtype_kind(a.dtype) == 'c') {
      a.n_elem *= 2;
      b.n_elem *= 2;
      a.dtype = b.dtype = a.dtype == TFSDK_COMPLEX64 ? TFSDK_FLOAT32 : TFSDK_FLOAT64;
      return close_enough(&a, &b,
                          tolerance < 0              ? 0
                          : a.dtype == TFSDK_FLOAT32 ? 2e-5
                                                     : 1e-10,
                          why, why_n);
    }
    if (!equal && a.dtype == TFSDK_STRING) {
      snprintf(why, why_n, "the bytes differ");
      return false;
    }
    return true;
  }
  return close_enough(&a, &b, tolerance, why, why_n);
}
