/* patches.c - see patches.h. */
#include "patches.h"

typedef struct geometry {
  int32_t m;
  int64_t k[3], stride[3], rate[3], before[3], windows[3];
} geometry;

/* Entry of a list attribute for spatial axis i; batch and channel entries must be 1. */
static tfsdk_status *entry(const array_host *c, const tfsdk_attrs *a, const char *name, int32_t m,
                           int32_t i, int64_t *out) {
  uint32_t n;
  const int64_t *list = tfsdk_attr_ints(a, name, &n);
  *out = 1;
  if (tfsdk_attr_find(a, name) == NULL) return NULL;
  TFSDK_REQUIRE(c, n == (uint32_t)m + 2, "%s must have %d members, but has %u", name, (int)m + 2,
                (unsigned)n);
  TFSDK_REQUIRE(c, list[0] == 1 && list[m + 1] == 1, "%s must be 1 for batch and channels", name);
  TFSDK_REQUIRE(c, list[i + 1] >= 1, "%s[%d] = %lld must be at least 1", name, (int)i + 1,
                (long long)list[i + 1]);
  *out = list[i + 1];
  return NULL;
}

static tfsdk_status *geometry_of(const tfsdk_infer *c, const tfsdk_attrs *a, const int64_t *dim,
                                 int32_t m, geometry *g) {
  int padding = tfsdk_padding_of(tfsdk_attr_string(a, "padding"));
  memset(g, 0, sizeof *g);
  g->m = m;
  for (int32_t i = 0; i < m; i++) {
    const array_host *h = array_host_of(c);
    TFSDK_TRY(entry(h, a, "ksizes", m, i, &g->k[i]));
    TFSDK_TRY(entry(h, a, "strides", m, i, &g->stride[i]));
    TFSDK_TRY(entry(h, a, "rates", m, i, &g->rate[i]));
    TFSDK_TRY(tfsdk_window(c, dim[i + 1], g->k[i], g->stride[i], g->rate[i], padding, 0, 0,
                           &g->windows[i], &g->before[i]));
  }
  return NULL;
}

/* In a kernel: tfsdk_window wants an infer context for its errors only. */
static tfsdk_status *geometry_run(const tfsdk_run *r, const int64_t *dim, int32_t m, geometry *g) {
  tfsdk_infer c;
  memset(&c, 0, sizeof c);
  c.host = r->host;
  c.op = r->op;
  return geometry_of(&c, &r->attr, dim, m, g);
}

static tfsdk_status *patch_shape(tfsdk_infer *c, int32_t m, tfsdk_shape *out) {
  geometry g;
  tfsdk_shape x;
  int64_t elements = 1;
  TFSDK_TRY(tfsdk_with_rank(c, 0, m + 2, &x));
  TFSDK_TRY(geometry_of(c, &c->attr, x.dim, m, &g));
  *out = x;
  for (int32_t i = 0; i < m; i++) {
    TFSDK_TRY(array_mul(c, elements, g.k[i], "ksizes", &elements));
    out->dim[i + 1] = g.windows[i];
  }
  if (x.dim[m + 1] >= 0)
    TFSDK_TRY(array_mul(c, elements, x.dim[m + 1], "ksizes", &out->dim[m + 1]));
  return NULL;
}

tfsdk_status *array_patches_infer(tfsdk_infer *c, int32_t m) {
  return patch_shape(c, m, &c->out[0].shape);
}

tfsdk_status *array_patches_infer_back(tfsdk_infer *c, int32_t m) {
  tfsdk_shape want, merged;
  TFSDK_TRY(patch_shape(c, m, &want));
  c->out[0].shape = c->in[0].shape;
  return tfsdk_merge(c, &want, &c->in[1].shape, "dy does not have the shape of the patches",
                     &merged);
}

/* Visits the elements of all patches in order: the pixel (in units of channels), or -1 in the
 * border. */
typedef void pixel_fn(void *user, int64_t pixel);

static void visit(const geometry *g, const int64_t *dim, pixel_fn *fn, void *user) {
  int64_t w[3] = {0}, k[3];
  int64_t windows = array_extent(g->windows, 0, g->m), patch = array_extent(g->k, 0, g->m);
  for (int64_t n = 0; n < dim[0]; n++) {
    for (int64_t i = 0; i < windows; i++) {
      int64_t rest = i;
      for (int32_t a = g->m; a-- > 0; rest /= g->windows[a]) w[a] = rest % g->windows[a];
      for (int64_t j = 0; j < patch; j++) {
        int64_t pixel = n;
        rest = j;
        for (int32_t a = g->m; a-- > 0; rest /= g->k[a]) k[a] = rest % g->k[a];
        for (int32_t a = 0; a < g->m && pixel >= 0; a++) {
          int64_t at = w[a] * g->stride[a] + k[a] * g->rate[a] - g->before[a];
          pixel = at < 0 || at >= dim[a + 1] ? -1 : pixel * dim[a + 1] + at;
        }
        fn(user, pixel);
      }
    }
  }
}

typedef struct job {
  const tfsdk_view *x;
  const geometry *g;
  array_sink *sink;
  int64_t channels;
} job;

static void put_pixel(void *user, int64_t pixel) {
  const job *j = (const job *)user;
  if (pixel < 0)
    array_put_zeros(j->sink, j->channels);
  else
    array_put(j->sink, j->x, pixel * j->channels, 1, j->channels);
}

static void write(array_sink *s, const void *user) {
  job j = *(const job *)user;
  j.sink = s;
  visit(j.g, j.x->dim, put_pixel, &j);
}

tfsdk_status *array_patches_run(tfsdk_run *r, int32_t m) {
  geometry g;
  job j = {&r->in[0], &g, NULL, r->in[0].dim[m + 1]};
  TFSDK_TRY(geometry_run(r, r->in[0].dim, m, &g));
  return array_write(r, 0, write, &j);
}

typedef struct fold {
  array_sum sum;
  const tfsdk_view *dy;
  int64_t from, channels;
} fold;

static void add_pixel(void *user, int64_t pixel) {
  fold *f = (fold *)user;
  if (pixel >= 0) array_sum_add(&f->sum, pixel * f->channels, f->dy, f->from, f->channels, 1);
  f->from += f->channels;
}

tfsdk_status *array_patches_run_back(tfsdk_run *r, int32_t m) {
  const tfsdk_view *dx = &r->out[0];
  geometry g;
  fold f = {{0}, &r->in[1], 0, 0};
  if (dx->n_elem == 0) return NULL;
  f.channels = dx->dim[m + 1];
  TFSDK_TRY(geometry_run(r, dx->dim, m, &g));
  TFSDK_TRY(array_sum_begin(r, dx->dtype, dx->n_elem, &f.sum));
  visit(&g, dx->dim, add_pixel, &f);
  array_sum_end(&f.sum, dx);
  return NULL;
}

static size_t copy_attrs(const tfsdk_gradcall *g, tfsdk_attrval out[4]) {
  static const char *const names[] = {"ksizes", "strides", "rates", "padding"};
  size_t n = 0;
  for (size_t i = 0; i < 4; i++) {
    const tfsdk_attrval *a = tfsdk_attr_find(&g->attr, names[i]);
    if (a != NULL) out[n++] = *a;
  }
  return n;
}

tfsdk_status *array_patches_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *backward) {
  tfsdk_attrval a[4];
  tfsdk_val in[2];
  in[0] = tfsdk_input(g, 0);
  in[1] = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, backward, in, 2, a, copy_attrs(g, a)));
}

tfsdk_status *array_patches_grad_back(tfsdk_ctx *c, tfsdk_gradcall *g, const char *forward) {
  tfsdk_attrval a[4];
  tfsdk_val dy = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 1, tfsdk_emit(c, forward, &dy, 1, a, copy_attrs(g, a)));
}
