/* Tensors as text, for Print and Assert, in TensorFlow's form: "1 2 3...", "[1 2][3...]...". */
#ifndef OPS_STATE_SHOW_H
#define OPS_STATE_SHOW_H

#include <stdlib.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* A growing text. `failed` is set when memory ran out; the text is then cut. */
typedef struct show_text {
  const tfsdk_host *host;
  char *s;
  size_t n, cap;
  int failed;
} show_text;

static inline void show_bytes(show_text *t, const char *bytes, size_t n) {
  if (t->failed) return;
  if (t->cap - t->n <= n) {
    size_t cap = t->cap * 2 + n + 128;
    char *s = (char *)t->host->realloc(t->host, t->s, t->cap, cap);
    if (s == NULL) {
      t->failed = 1;
      return;
    }
    t->s = s;
    t->cap = cap;
  }
  memcpy(t->s + t->n, bytes, n);
  t->n += n;
  t->s[t->n] = '\0';
}
static inline tfsdk_status *show_no_memory(const tfsdk_run *r) {
  return TFSDK_FAIL(r, RESOURCE_EXHAUSTED, "no memory for the text to show");
}
static inline void show_string(show_text *t, const char *s) { show_bytes(t, s, strlen(s)); }
static inline void show_deinit(show_text *t) {
  if (t->s != NULL) t->host->realloc(t->host, t->s, t->cap, 0);
  t->s = NULL;
}

/* The shortest of 6 and `digits` significant digits that reads back as the same number. */
static inline void show_number(show_text *t, double x, int digits) {
  char b[40];
  snprintf(b, sizeof b, "%.6g", x);
  if (digits == 9 ? strtof(b, NULL) != (float)x : strtod(b, NULL) != x)
    snprintf(b, sizeof b, "%.*g", digits, x);
  for (char *p = b; *p != '\0'; p++)
    if (*p == ',') *p = '.'; /* the program's locale may say so */
  show_string(t, b);
}

static inline void show_element(show_text *t, const tfsdk_view *v, int64_t i) {
  char b[32];
  switch (tfsdk_dtype_kind(v->dtype)) {
  case 'f': show_number(t, tfsdk_view_number(v, i), v->dtype == TFSDK_FLOAT64 ? 17 : 9); return;
  case 's': {
    uint64_t n;
    const char *s = tfsdk_view_string(v, i, &n);
    show_bytes(t, s, (size_t)n);
    return;
  }
  case 'c': {
    int wide = v->dtype == TFSDK_COMPLEX128;
    const double *d = (const double *)v->data + 2 * i;
    const float *f = (const float *)v->data + 2 * i;
    show_string(t, "(");
    show_number(t, wide ? d[0] : (double)f[0], wide ? 17 : 9);
    show_string(t, ",");
    show_number(t, wide ? d[1] : (double)f[1], wide ? 17 : 9);
    show_string(t, ")");
    return;
  }
  case 'u': snprintf(b, sizeof b, "%llu", (unsigned long long)tfsdk_view_int(v, i)); break;
  case 'i': snprintf(b, sizeof b, "%lld", (long long)tfsdk_view_int(v, i)); break;
  case 'b': snprintf(b, sizeof b, "%s", tfsdk_view_int(v, i) != 0 ? "true" : "false"); break;
  default: snprintf(b, sizeof b, "<%s>", tfsdk_dtype_name(v->dtype)); break;
  }
  show_string(t, b);
}

/* The elements of `axis` and inward, from element *at on, while there are any left to show. Whoever
 * opens a bracket closes it; "..." stands where a row is cut. */
static inline void show_axis(show_text *t, const tfsdk_view *v, int axis, int64_t *at,
                             int64_t limit) {
  int64_t n = v->rank == 0 ? 1 : v->dim[axis];
  int last = axis >= (int)v->rank - 1;
  for (int64_t i = 0; i < n && *at < limit; i++) {
    if (last) {
      if (i > 0) show_string(t, " ");
      show_element(t, v, (*at)++);
      if (*at == limit && i + 1 < n && axis > 0) show_string(t, "...");
    } else {
      show_string(t, "[");
      show_axis(t, v, axis + 1, at, limit);
      show_string(t, "]");
    }
  }
}
/* At most `summarize` elements (all of them if it is negative), "..." for the rest. */
static inline void show_tensor(show_text *t, const tfsdk_view *v, int64_t summarize) {
  int64_t at = 0, limit = summarize < 0 || summarize > v->n_elem ? v->n_elem : summarize;
  if (limit > 0) show_axis(t, v, 0, &at, limit);
  if (limit < v->n_elem) show_string(t, "...");
}

#endif
