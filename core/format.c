/* Tensors as text, in Torch's form: rows of aligned numbers, matrices one after another under a
 * heading that says which, and a last line like "[2x3 float32]". Long axes show their ends. */
#include "internal.h"
#include <math.h>

typedef struct printer {
  tfsdk__buf b;
  const tfsdk_view *v;
  int64_t edge; /* elements shown at each end of a long axis; 0: all */
  int width, precision;
  bool exponent;
} printer;

static bool shown(const printer *p, int64_t i, int64_t n) {
  return p->edge == 0 || n <= 2 * p->edge + 1 || i < p->edge || i >= n - p->edge;
}

static void number(printer *p, int64_t i, char *out, size_t cap) {
  const tfsdk_view *v = p->v;
  char kind = tfsdk_dtype_kind(v->dtype);
  if (kind == 'b')
    snprintf(out, cap, "%s", ((const uint8_t *)v->data)[i] ? "true" : "false");
  else if (v->dtype == TFSDK_UINT64)
    snprintf(out, cap, "%llu", (unsigned long long)((const uint64_t *)v->data)[i]);
  else if (kind == 'i' || kind == 'u')
    snprintf(out, cap, "%lld", (long long)tfsdk_view_int(v, i));
  else if (kind == 's') {
    uint64_t n;
    const char *s = tfsdk_view_string(v, i, &n);
    snprintf(out, cap, "\"%.*s\"%s", n > 60 ? 60 : (int)n, s, n > 60 ? "..." : "");
  } else if (kind == 'c') {
    double re = v->dtype == TFSDK_COMPLEX64 ? (double)((const float *)v->data)[2 * i]
                                            : ((const double *)v->data)[2 * i];
    double im = v->dtype == TFSDK_COMPLEX64 ? (double)((const float *)v->data)[2 * i + 1]
                                            : ((const double *)v->data)[2 * i + 1];
    snprintf(out, cap, "%.*f%+.*fi", p->precision, re, p->precision, im);
  } else {
    double x = tfsdk_view_number(v, i);
    if (isnan(x))
      snprintf(out, cap, "nan");
    else if (isinf(x))
      snprintf(out, cap, "%s", x < 0 ? "-inf" : "inf");
    else if (p->exponent)
      snprintf(out, cap, "%.*e", p->precision, x);
    else
      snprintf(out, cap, "%.*f", p->precision, x);
  }
}

/* Whole numbers need one decimal only ("48.0" is Lua's way); very large or small ones an exponent.
 */
static void choose_format(printer *p, int64_t limit) {
  const tfsdk_view *v = p->v;
  char kind = tfsdk_dtype_kind(v->dtype), text[160];
  double largest = 0, smallest = 0;
  bool whole = true;
  int64_t n = v->n_elem < limit || limit <= 0 ? v->n_elem : limit;
  p->precision = 4;
  if (kind == 'f') {
    for (int64_t i = 0; i < n; i++) {
      double x = fabs(tfsdk_view_number(v, i));
      if (!isfinite(x)) continue;
      whole = whole && x == floor(x);
      if (x > largest) largest = x;
      if (x > 0 && (smallest == 0 || x < smallest)) smallest = x;
    }
    p->exponent = largest >= 1e8 || (smallest > 0 && largest < 1e-3);
    if (whole && !p->exponent) p->precision = 1;
  }
  for (int64_t i = 0; i < n; i++) {
    number(p, i, text, sizeof text);
    if ((int)strlen(text) > p->width) p->width = (int)strlen(text);
  }
}

static void row(printer *p, int64_t offset, int64_t n) {
  char text[160];
  for (int64_t i = 0; i < n; i++) {
    if (!shown(p, i, n)) {
      tfsdk__buf_add(&p->b, "  ...");
      i = n - p->edge - 1;
      continue;
    }
    number(p, offset + i, text, sizeof text);
    tfsdk__buf_add(&p->b, "  %*s", p->width, text);
  }
  tfsdk__buf_add(&p->b, "\n");
}

static void matrix(printer *p, int64_t offset, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; i++) {
    if (!shown(p, i, rows)) {
      tfsdk__buf_add(&p->b, "  ...\n");
      i = rows - p->edge - 1;
      continue;
    }
    row(p, offset + i * columns, columns);
  }
}

tfsdk_status *tfsdk_tensor_format(tfsdk_tensor *t, int64_t limit, char **out_text) {
  tfsdk_view v;
  *out_text = NULL;
  if (t->cell != NULL) {
    printer p = {{0}, NULL, 0, 0, 0, false};
    tfsdk__buf_add(&p.b, "[variable '%s']", t->cell->name);
    *out_text = p.b.s;
    return p.b.failed ? TFSDK__NOMEM(t->rt) : NULL;
  }
  TFSDK_TRY(tfsdk_tensor_view(t, &v));
  printer p = {{0}, &v, limit > 0 && v.n_elem > limit ? 3 : 0, 0, 0, false};
  choose_format(&p, limit);
  if (v.n_elem > 0) {
    int64_t columns = v.rank > 0 ? v.dim[v.rank - 1] : 1, rows = v.rank > 1 ? v.dim[v.rank - 2] : 1;
    int64_t blocks = v.n_elem / (rows * columns);
    for (int64_t k = 0; k < blocks; k++) {
      if (!shown(&p, k, blocks)) {
        tfsdk__buf_add(&p.b, "...\n");
        k = blocks - p.edge - 1;
        continue;
      }
      if (v.rank > 2) { /* (1,2,.,.) = : Lua counts from 1 */
        int64_t rest = k, index[TFSDK_MAX_RANK];
        for (int32_t a = v.rank - 3; a >= 0; a--) {
          index[a] = rest % v.dim[a];
          rest /= v.dim[a];
        }
        tfsdk__buf_add(&p.b, "(");
        for (int32_t a = 0; a < v.rank - 2; a++)
          tfsdk__buf_add(&p.b, "%lld,", (long long)index[a] + 1);
        tfsdk__buf_add(&p.b, ".,.) =\n");
      }
      matrix(&p, k * rows * columns, rows, columns);
    }
  }
  tfsdk__buf_add(&p.b, "[");
  for (uint32_t i = 0; i < v.rank; i++)
    tfsdk__buf_add(&p.b, "%s%lld", i ? "x" : "", (long long)v.dim[i]);
  tfsdk__buf_add(&p.b, "%s%s]", v.rank ? " " : "scalar ", tfsdk_dtype_name(v.dtype));
  if (p.b.failed) {
    tfsdk__buf_deinit(&p.b);
    return TFSDK__NOMEM(t->rt);
  }
  *out_text = p.b.s;
  return NULL;
}
