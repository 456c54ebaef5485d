/* slicing.c - see slicing.h. */
#include "slicing.h"

static const char *const mask_names[5] = {"begin_mask", "end_mask", "ellipsis_mask",
                                          "new_axis_mask", "shrink_axis_mask"};

array_masks array_masks_of(const tfsdk_attrs *a) {
  array_masks m;
  m.begin = tfsdk_attr_int(a, mask_names[0]);
  m.end = tfsdk_attr_int(a, mask_names[1]);
  m.ellipsis = tfsdk_attr_int(a, mask_names[2]);
  m.new_axis = tfsdk_attr_int(a, mask_names[3]);
  m.shrink = tfsdk_attr_int(a, mask_names[4]);
  return m;
}

void array_masks_emit(const tfsdk_attrs *a, tfsdk_attrval out[5]) {
  for (int i = 0; i < 5; i++) out[i] = tfsdk_a_int(mask_names[i], tfsdk_attr_int(a, mask_names[i]));
}

static int64_t clip(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }

/* One axis, extent n: positions b, b + s, ... before e. Everything known. */
static void range(int64_t n, int64_t b, int64_t e, int64_t s, int open_b, int open_e,
                  int64_t *first, int64_t *count) {
  int64_t lo = s > 0 ? 0 : -1, hi = s > 0 ? n : n - 1, length, step;
  if (b < 0) b = b < -n ? -1 - n : b + n; /* -1 - n: out of the way without overflow */
  if (e < 0) e = e < -n ? -1 - n : e + n;
  b = open_b ? (s > 0 ? lo : hi) : clip(b, lo, hi);
  e = open_e ? (s > 0 ? hi : lo) : clip(e, lo, hi);
  length = s > 0 ? e - b : b - e;
  step = s > 0 ? s : s == INT64_MIN ? INT64_MAX : -s;
  *first = b;
  *count = length <= 0 ? 0 : 1 + (length - 1) / step;
}

static void add_dim(array_window *w, int64_t n, int is_new) {
  if (w->shape.rank < TFSDK_MAX_RANK) {
    w->shape.dim[w->shape.rank] = n;
    w->is_new[w->shape.rank] = (uint8_t)is_new;
  }
  w->shape.rank++;
}

static void whole_axis(const tfsdk_shape *x, array_window *w, int32_t axis) {
  w->begin[axis] = 0;
  w->step[axis] = 1;
  w->count[axis] = x->dim[axis];
  add_dim(w, x->dim[axis], 0);
}

tfsdk_status *array_window_make(const array_host *c, const tfsdk_shape *x, int64_t n,
                                const tfsdk_view *begin, const tfsdk_view *end,
                                const tfsdk_view *strides, const array_masks *m,
                                array_window *out) {
  int32_t axis = 0, left, seen = 0;
  int64_t ranges = 0;
  TFSDK_REQUIRE(c, n <= 32, "begin, end and strides have %lld entries; 32 are possible",
                (long long)n);
  memset(out, 0, sizeof *out);
  out->rank = x->rank;
  for (int64_t i = 0; i < n; i++) {
    int64_t bit = INT64_C(1) << i;
    if (m->ellipsis & bit) {
      TFSDK_REQUIRE(c, !seen, "ellipsis_mask has more than one bit");
      seen = 1;
    } else if (!(m->new_axis & bit)) {
      ranges++;
    }
  }
  TFSDK_REQUIRE(c, ranges <= x->rank, "%lld axes are indexed, but shape %s has %d",
                (long long)ranges, tfsdk_shape_text(x).s, (int)x->rank);
  left = x->rank - (int32_t)ranges;
  for (int64_t i = 0; i < n; i++) {
    int64_t bit = INT64_C(1) << i, size, b = 0, e = 0, s = 1;
    int open_b = (m->begin & bit) != 0, open_e = (m->end & bit) != 0;
    if (m->ellipsis & bit) {
      for (; left > 0; left--) whole_axis(x, out, axis++);
      continue;
    }
    if (m->new_axis & bit) {
      add_dim(out, 1, 1);
      continue;
    }
    size = x->dim[axis];
    if (begin != NULL) b = tfsdk_view_int(begin, i);
    if (end != NULL) e = tfsdk_view_int(end, i);
    if (strides != NULL) s = tfsdk_view_int(strides, i);
    TFSDK_REQUIRE(c, s != 0, "strides[%lld] must not be 0", (long long)i);
    out->begin[axis] = out->step[axis] = out->count[axis] = -1;
    if (m->shrink & bit) {
      TFSDK_REQUIRE(c, s > 0, "strides[%lld] = %lld: only 1 makes sense where an axis is dropped",
                    (long long)i, (long long)s);
      if (begin != NULL && size >= 0) {
        int64_t at = b < 0 ? b + size : b;
        TFSDK_REQUIRE(c, b >= -size && b < size,
                      "index %lld is out of range [%lld, %lld) for axis %d of shape %s",
                      (long long)b, (long long)-size, (long long)size, (int)axis,
                      tfsdk_shape_text(x).s);
        out->begin[axis] = at;
      }
      out->step[axis] = 1;
      out->count[axis] = 1;
      out->dropped[axis] = 1;
    } else {
      if (size >= 0 && strides != NULL && (begin != NULL || open_b) && (end != NULL || open_e)) {
        out->step[axis] = s;
        range(size, b, e, s, open_b, open_e, &out->begin[axis], &out->count[axis]);
      }
      add_dim(out, out->count[axis], 0);
    }
    axis++;
  }
  for (; axis < x->rank; axis++) whole_axis(x, out, axis);
  TFSDK_REQUIRE(c, out->shape.rank <= TFSDK_MAX_RANK,
                "the result would have rank %d; %d is the highest", (int)out->shape.rank,
                TFSDK_MAX_RANK);
  return NULL;
}

tfsdk_status *array_window_infer(const tfsdk_infer *c, const tfsdk_shape *x, uint32_t first,
                                 array_window *out) {
  array_masks m = array_masks_of(&c->attr);
  int64_t n = -1;
  memset(out, 0, sizeof *out);
  out->shape = tfsdk_shape_unknown();
  for (uint32_t i = first; i < first + 3; i++) {
    const tfsdk_shape *s = &c->in[i].shape;
    if (s->rank >= 0 && s->rank != 1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'%s' must be a vector, but its shape is %s",
                        c->op->in[i].name, tfsdk_shape_text(s).s);
    if (s->rank == 1)
      TFSDK_TRY(
          tfsdk_merge_dim(c, n, s->dim[0], "begin, end and strides must be equally long", &n));
  }
  if (x->rank < 0 || n < 0) return NULL;
  return array_window_make(array_host_of(c), x, n, array_value(c, first), array_value(c, first + 1),
                           array_value(c, first + 2), &m, out);
}

tfsdk_status *array_window_run(const tfsdk_run *r, const int64_t *dim, int32_t rank, uint32_t first,
                               array_window *out) {
  array_masks m = array_masks_of(&r->attr);
  tfsdk_shape x = tfsdk_shape_scalar();
  x.rank = rank;
  for (int32_t i = 0; i < rank; i++) x.dim[i] = dim[i];
  TFSDK_REQUIRE(r,
                r->in[first].n_elem == r->in[first + 1].n_elem &&
                    r->in[first].n_elem == r->in[first + 2].n_elem,
                "begin, end and strides must be equally long");
  return array_window_make(array_host_of(r), &x, r->in[first].n_elem, &r->in[first],
                           &r->in[first + 1], &r->in[first + 2], &m, out);
}

void array_window_walk(const array_window *win, const int64_t *dim, array_walk *w) {
  int64_t stride[TFSDK_MAX_RANK];
  array_strides(dim, win->rank, stride);
  memset(w, 0, sizeof *w);
  for (int32_t i = 0; i < win->rank; i++) {
    /* An empty or single range has no second position: keep its step out of the arithmetic. */
    int64_t step = win->count[i] > 1 ? win->step[i] : 1;
    w->first += win->count[i] > 0 ? win->begin[i] * stride[i] : 0;
    array_walk_axis(w, win->count[i], step * stride[i]);
  }
}

tfsdk_status *array_window_check_value(const array_host *c, const tfsdk_shape *slice,
                                       const tfsdk_shape *value) {
  if (slice->rank < 0 || value->rank < 0) return NULL;
  for (int32_t i = 1; i <= value->rank; i++) { /* from the last axis on */
    int64_t n = value->dim[value->rank - i],
            want = i <= slice->rank ? slice->dim[slice->rank - i] : 1;
    TFSDK_REQUIRE(c, n < 0 || n == 1 || want < 0 || n == want,
                  "a value of shape %s cannot be written to a slice of shape %s",
                  tfsdk_shape_text(value).s, tfsdk_shape_text(slice).s);
  }
  return NULL;
}

typedef struct assignment {
  char *x;
  const char *value;
  size_t size;
  const array_walk *source;
} assignment;

/* Row by row of the window; `source` has the same axes with the value's strides. */
static void assign_row(const array_walk *w, assignment *a, int32_t axis, int64_t to, int64_t from) {
  if (axis == w->rank - 1) {
    array_move(a->x + to * (int64_t)a->size, w->stride[axis], a->value + from * (int64_t)a->size,
               a->source->stride[axis], a->size, w->dim[axis]);
    return;
  }
  for (int64_t i = 0; i < w->dim[axis]; i++)
    assign_row(w, a, axis + 1, to + i * w->stride[axis], from + i * a->source->stride[axis]);
}

tfsdk_status *array_window_assign(tfsdk_run *r, const array_window *win, const tfsdk_view *x,
                                  const tfsdk_view *value) {
  int64_t stride[TFSDK_MAX_RANK];
  tfsdk_shape shape = tfsdk_shape_of_view(value);
  array_walk w, source = {0};
  assignment a = {(char *)x->data, (const char *)value->data, tfsdk_dtype_size(x->dtype), &source};
  int32_t lead, k = 0;
  TFSDK_REQUIRE(r, a.size > 0, "slices of %s tensors cannot be replaced",
                tfsdk_dtype_name(x->dtype));
  TFSDK_TRY(array_window_check_value(array_host_of(r), &win->shape, &shape));
  array_window_walk(win, x->dim, &w);
  for (int32_t i = 0; i < w.rank; i++)
    if (w.dim[i] == 0) return NULL;
  array_strides(value->dim, value->rank, stride);
  lead = win->shape.rank - value->rank;
  /* The axes of the window are those of the slice without new ones, and with dropped ones. */
  for (int32_t i = 0; i < win->rank; i++) {
    int64_t step = 0;
    if (!win->dropped[i]) {
      while (win->is_new[k]) k++;
      if (k >= lead && k - lead < value->rank && value->dim[k - lead] != 1) step = stride[k - lead];
      k++;
    }
    array_walk_axis(&source, w.dim[i], step);
  }
  if (w.rank == 0) {
    memcpy(a.x, a.value, a.size);
    return NULL;
  }
  assign_row(&w, &a, 0, w.first, 0);
  return NULL;
}
