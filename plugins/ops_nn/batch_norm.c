/* batch_norm.c - see batch_norm.h. */
#include "batch_norm.h"
#include <math.h>
#include <tfsdk/shape.h>
#include "emit_nn.h"
#include "row.h"

static int channels_first(const tfsdk_attrs *attr) {
  return strncmp(tfsdk_attr_string(attr, "data_format"), "NC", 2) == 0;
}

/* ---------------------------------------------------------------------------------- shape rules */

/* The shape of input i, of rank 4 or 5 as data_format says; and the channels. */
static tfsdk_status *image(const tfsdk_infer *c, uint32_t i, tfsdk_shape *out, int64_t *channels) {
  int32_t rank = (int32_t)strlen(tfsdk_attr_string(&c->attr, "data_format"));
  TFSDK_TRY(tfsdk_with_rank(c, i, rank, out));
  *channels = out->dim[channels_first(&c->attr) ? 1 : rank - 1];
  return NULL;
}

tfsdk_status *nn_bn_infer(tfsdk_infer *c) {
  tfsdk_shape x, v;
  int64_t channels;
  int training = tfsdk_attr_int(&c->attr, "is_training") != 0;
  int averages = tfsdk_attr_float(&c->attr, "exponential_avg_factor") != 1.0;
  TFSDK_TRY(image(c, 0, &x, &channels));
  for (uint32_t i = 1; i < 5; i++) {
    TFSDK_TRY(tfsdk_with_rank(c, i, 1, &v));
    if (i >= 3 && training && !averages) continue; /* not read: usually empty */
    TFSDK_TRY(tfsdk_merge_dim(c, channels, v.dim[0], "channels of 'x' and length of a vector",
                              &channels));
  }
  x.dim[channels_first(&c->attr) ? 1 : x.rank - 1] = channels;
  c->out[0].shape = x;
  for (uint32_t i = 1; i < 5; i++) c->out[i].shape = tfsdk_shape_vector(channels);
  if (c->n_out > 5) c->out[5].shape = tfsdk_shape_vector(0);
  return NULL;
}

tfsdk_status *nn_bn_infer_grad(tfsdk_infer *c) {
  tfsdk_shape x, dy, v;
  int64_t channels;
  TFSDK_TRY(image(c, 1, &x, &channels));
  TFSDK_TRY(image(c, 0, &dy, &channels));
  TFSDK_TRY(tfsdk_merge(c, &dy, &x, "'y_backprop' and 'x'", &x));
  channels = x.dim[channels_first(&c->attr) ? 1 : x.rank - 1];
  for (uint32_t i = 2; i < 5; i++) {
    TFSDK_TRY(tfsdk_with_rank(c, i, 1, &v));
    TFSDK_TRY(tfsdk_merge_dim(c, channels, v.dim[0], "channels of 'x' and length of a vector",
                              &channels));
  }
  c->out[0].shape = x;
  c->out[1].shape = c->out[2].shape = tfsdk_shape_vector(channels);
  c->out[3].shape = c->out[4].shape = tfsdk_shape_vector(0);
  return NULL;
}

/* -------------------------------------------------------------------------------------- kernels */

/* A tensor cut into runs that are contiguous: of all channels (channels last), or of one channel
 * (first). */
typedef struct runs {
  int64_t n, length, channels, per_channel;
  int first;
} runs;

static runs runs_of(const tfsdk_run *r, const tfsdk_view *x) {
  runs s = {.first = channels_first(&r->attr)};
  s.channels = x->dim[s.first ? 1 : x->rank - 1];
  s.length = s.channels;
  if (s.first) {
    s.length = 1;
    for (int32_t i = 2; i < x->rank; i++) s.length *= x->dim[i];
  }
  s.n = s.length > 0 ? x->n_elem / s.length : 0;
  s.per_channel = s.channels > 0 ? x->n_elem / s.channels : 0;
  return s;
}
/* The channel of element j of run i. */
static int64_t channel(const runs *s, int64_t i, int64_t j) {
  return s->first ? i % s->channels : j;
}

/* Mean and population variance of each channel: two passes, so that nothing cancels. */
static void moments(const tfsdk_view *x, const runs *s, double *row, double *mean,
                    double *variance) {
  double n = (double)s->per_channel;
  for (int64_t c = 0; c < s->channels; c++) mean[c] = variance[c] = 0;
  for (int64_t i = 0; i < s->n; i++) {
    nn_load_f(x->dtype, x->data, i * s->length, 1, s->length, row);
    for (int64_t j = 0; j < s->length; j++) mean[channel(s, i, j)] += row[j];
  }
  for (int64_t c = 0; c < s->channels; c++) mean[c] /= n;
  for (int64_t i = 0; i < s->n; i++) {
    nn_load_f(x->dtype, x->data, i * s->length, 1, s->length, row);
    for (int64_t j = 0; j < s->length; j++) {
      double d = row[j] - mean[channel(s, i, j)];
      variance[channel(s, i, j)] += d * d;
    }
  }
  for (int64_t c = 0; c < s->channels; c++) variance[c] /= n;
}

static void load(const tfsdk_view *v, double *out) {
  nn_load_f(v->dtype, v->data, 0, 1, v->n_elem, out);
}
static void store(const tfsdk_view *v, const double *in) {
  nn_store_f(v->dtype, v->data, 0, 1, v->n_elem, in);
}

tfsdk_status *nn_bn_compute(tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  int training = tfsdk_attr_int(&r->attr, "is_training") != 0;
  double epsilon = tfsdk_attr_float(&r->attr, "epsilon");
  double share = tfsdk_attr_float(&r->attr, "exponential_avg_factor");
  runs s = runs_of(r, x);
  int64_t n = s.channels;
  double bessel = s.per_channel > 1 ? (double)s.per_channel / (double)(s.per_channel - 1) : 1;
  void *work;
  TFSDK_TRY(r->api->workspace(r, ((size_t)s.length + 6 * (size_t)n + 1) * sizeof(double), &work));
  double *mean = (double *)work, *variance = mean + n, *scale = variance + n, *offset = scale + n;
  double *old = offset + n, *given = old + n, *row = given + n;
  load(&r->in[1], scale);
  load(&r->in[2], offset);
  if (training) {
    moments(x, &s, row, mean, variance);
    for (int k = 0; k < 2; k++) { /* the moving averages of mean and variance */
      const double *batch = k == 0 ? mean : variance;
      for (int64_t c = 0; c < n; c++) old[c] = batch[c] * (k == 0 ? 1 : bessel);
      if (share != 1.0) {
        load(&r->in[3 + k], given);
        for (int64_t c = 0; c < n; c++) /* an empty batch leaves them alone */
          old[c] = s.per_channel == 0 ? given[c] : (1 - share) * given[c] + share * old[c];
      }
      store(&r->out[1 + k], old);
    }
  } else {
    load(&r->in[3], mean);
    load(&r->in[4], variance);
    store(&r->out[1], mean);
    store(&r->out[2], variance);
  }
  store(&r->out[3], mean);
  store(&r->out[4], variance);
  for (int64_t c = 0; c < n; c++) scale[c] /= sqrt(variance[c] + epsilon);
  for (int64_t i = 0; i < s.n; i++) {
    nn_load_f(x->dtype, x->data, i * s.length, 1, s.length, row);
    for (int64_t j = 0; j < s.length; j++) {
      int64_t c = channel(&s, i, j);
      row[j] = (row[j] - mean[c]) * scale[c] + offset[c];
    }
    nn_store_f(y->dtype, y->data, i * s.length, 1, s.length, row);
  }
  return NULL;
}

/* With h = (x - m) / sqrt(v + e): d offset = sum dy, d scale = sum dy h, and dx = scale / sqrt(v
 * + e) * (dy - mean(dy) - h mean(dy h)); in inference the two means are left out. */
tfsdk_status *nn_bn_compute_grad(tfsdk_run *r) {
  const tfsdk_view *dy = &r->in[0], *x = &r->in[1], *dx = &r->out[0];
  int training = tfsdk_attr_int(&r->attr, "is_training") != 0;
  double epsilon = tfsdk_attr_float(&r->attr, "epsilon");
  runs s = runs_of(r, x);
  int64_t n = s.channels;
  double count = (double)s.per_channel;
  void *work;
  TFSDK_TRY(
      r->api->workspace(r, (2 * (size_t)s.length + 5 * (size_t)n + 1) * sizeof(double), &work));
  double *scale = (double *)work, *mean = scale + n, *root = mean + n, *sum = root + n;
  double *sum_h = sum + n, *row = sum_h + n, *row_dy = row + s.length;
  load(&r->in[2], scale);
  load(&r->in[3], mean);
  load(&r->in[4], root);
  for (int64_t c = 0; c < n; c++) {
    root[c] = 1 / sqrt(root[c] + epsilon);
    sum[c] = sum_h[c] = 0;
  }
  for (int64_t i = 0; i < s.n; i++) {
    nn_load_f(x->dtype, x->data, i * s.length, 1, s.length, row);
    nn_load_f(dy->dtype, dy->data, i * s.length, 1, s.length, row_dy);
    for (int64_t j = 0; j < s.length; j++) {
      int64_t c = channel(&s, i, j);
      sum[c] += row_dy[j];
      sum_h[c] += row_dy[j] * (row[j] - mean[c]) * root[c];
    }
  }
  for (int64_t i = 0; i < s.n; i++) {
    nn_load_f(x->dtype, x->data, i * s.length, 1, s.length, row);
    nn_load_f(dy->dtype, dy->data, i * s.length, 1, s.length, row_dy);
    for (int64_t j = 0; j < s.length; j++) {
      int64_t c = channel(&s, i, j);
      double d = row_dy[j];
      if (training) d -= sum[c] / count + (row[j] - mean[c]) * root[c] * sum_h[c] / count;
      row[j] = d * scale[c] * root[c];
    }
    nn_store_f(dx->dtype, dx->data, i * s.length, 1, s.length, row);
  }
  store(&r->out[1], sum_h);
  store(&r->out[2], sum);
  return NULL;
}

/* ------------------------------------------------------------------------------------ gradients */

static tfsdk_val mul(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) { return tfsdk_emit2(c, "Mul", a, b); }
static tfsdk_val sub(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) { return tfsdk_emit2(c, "Sub", a, b); }
/* a + b, where either may be "no value". */
static tfsdk_val add(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) {
  if (a.id == 0) return b;
  return b.id == 0 ? a : tfsdk_emit2(c, "Add", a, b);
}
static tfsdk_val scaled(tfsdk_ctx *c, tfsdk_val a, double by) {
  return by == 1.0 ? a : mul(c, a, tfsdk_scalar_like(c, a, by));
}

/* Emitting on tensors laid out as the op's images. */
typedef struct images {
  tfsdk_ctx *c;
  int32_t rank, first;
  int32_t type; /* computing type: that of the vectors */
} images;

static images images_of(tfsdk_ctx *c, const tfsdk_attrs *attr, tfsdk_val vector) {
  images m = {c, (int32_t)strlen(tfsdk_attr_string(attr, "data_format")), channels_first(attr),
              tfsdk_type(c, vector).dtype};
  return m;
}
static tfsdk_val cast(tfsdk_ctx *c, tfsdk_val v, int32_t to) {
  tfsdk_attrval dst = tfsdk_a_dtype("DstT", to);
  return v.id == 0 || tfsdk_type(c, v).dtype == to ? v : tfsdk_emit(c, "Cast", &v, 1, &dst, 1);
}
/* A vector so shaped that it is broadcast along the channels. */
static tfsdk_val spread(const images *m, tfsdk_val vector) {
  int64_t shape[4] = {-1, 1, 1, 1};
  if (!m->first || vector.id == 0) return vector;
  return tfsdk_emit2(m->c, "Reshape", vector, tfsdk_int_vector(m->c, shape, (uint32_t)m->rank - 1));
}
/* "Mean" or "Sum" over all axes but the channels'. */
static tfsdk_val reduce(const images *m, const char *op, tfsdk_val v, int keep) {
  int64_t axes[5];
  uint32_t n = 0;
  tfsdk_attrval attr = tfsdk_a_bool("keep_dims", keep);
  for (int32_t i = 0; i < m->rank; i++)
    if (i != (m->first ? 1 : m->rank - 1)) axes[n++] = i;
  tfsdk_val in[2] = {v, tfsdk_int_vector(m->c, axes, n)};
  return tfsdk_emit(m->c, op, in, 2, &attr, 1);
}
static tfsdk_val mean(const images *m, tfsdk_val v) { return reduce(m, "Mean", v, 1); }
static tfsdk_val inverse_root(const images *m, tfsdk_val variance, double epsilon) {
  tfsdk_val e = tfsdk_scalar_like(m->c, variance, epsilon);
  return tfsdk_emit1(m->c, "Rsqrt", tfsdk_emit2(m->c, "Add", variance, e));
}

/* What flows back through batch_mean, batch_variance and the reserve spaces in training: with u
 * upstream of the mean and v of the population variance, dx = u / n + v 2 (x - m) / n. */
static tfsdk_val grad_of_moments(tfsdk_ctx *c, tfsdk_gradcall *g) {
  double share = tfsdk_attr_float(&g->attr, "exponential_avg_factor");
  tfsdk_val x = tfsdk_input(g, 0), scale = tfsdk_input(g, 1), u, v, dx = tfsdk_none(), n;
  images m = images_of(c, &g->attr, scale);
  tfsdk_attrval type = tfsdk_a_dtype("DstT", m.type);
  tfsdk_val sizes[2] = {tfsdk_emit1(c, "Size", x), tfsdk_emit1(c, "Size", scale)};
  for (int i = 0; i < 2; i++) sizes[i] = tfsdk_emit(c, "Cast", &sizes[i], 1, &type, 1);
  n = tfsdk_emit2(c, "RealDiv", sizes[0], sizes[1]);
  x = cast(c, x, m.type);
  u = tfsdk_dy(g, 3);
  if (tfsdk_has_dy(g, 1)) u = add(c, u, scaled(c, tfsdk_dy(g, 1), share));
  v = tfsdk_dy(g, 4);
  if (tfsdk_has_dy(g, 2)) {
    tfsdk_val one = tfsdk_scalar_like(c, n, 1);
    tfsdk_val rest = tfsdk_emit2(c, "Maximum", sub(c, n, one), one);
    tfsdk_val bessel = tfsdk_emit2(c, "RealDiv", n, rest);
    v = add(c, v, mul(c, scaled(c, tfsdk_dy(g, 2), share), bessel));
  }
  if (u.id != 0) dx = mul(c, spread(&m, u), tfsdk_emit1(c, "OnesLike", x));
  if (v.id != 0)
    dx = add(c, dx, mul(c, spread(&m, v), scaled(c, sub(c, x, spread(&m, tfsdk_output(g, 3))), 2)));
  return cast(c, tfsdk_emit2(c, "RealDiv", dx, n), tfsdk_type(c, tfsdk_input(g, 0)).dtype);
}

tfsdk_status *nn_bn_grad(const char *op, tfsdk_ctx *c, tfsdk_gradcall *g) {
  int training = tfsdk_attr_int(&g->attr, "is_training") != 0;
  tfsdk_val d[3] = {{0}, {0}, {0}};
  if (tfsdk_has_dy(g, 0)) {
    tfsdk_val in[6] = {tfsdk_dy(g, 0), tfsdk_input(g, 0), tfsdk_input(g, 1)};
    tfsdk_attrval attr[3] = {
        tfsdk_a_float("epsilon", tfsdk_attr_float(&g->attr, "epsilon")),
        tfsdk_a_string("data_format", tfsdk_attr_string(&g->attr, "data_format")),
        tfsdk_a_bool("is_training", training)};
    in[3] = training ? tfsdk_output(g, 3) : tfsdk_input(g, 3);
    in[4] = training ? tfsdk_output(g, 4) : tfsdk_input(g, 4);
    if (g->n_out > 5) in[5] = tfsdk_output(g, 5);
    tfsdk_emit_n(c, op, in, g->n_out > 5 ? 6 : 5, attr, 3, d, 3);
  }
  if (training && tfsdk_wants(g, 0) &&
      (tfsdk_has_dy(g, 1) || tfsdk_has_dy(g, 2) || tfsdk_has_dy(g, 3) || tfsdk_has_dy(g, 4)))
    d[0] = add(c, d[0], grad_of_moments(c, g));
  for (uint32_t i = 0; i < 3; i++)
    if (d[i].id != 0) TFSDK_TRY(tfsdk_set_dx(g, i, d[i]));
  return tfsdk_ctx_error(c);
}

/* P(u) = u - mean(u) - h mean(u h): dx of the forward op is scale * root * P(dy). P is
 * symmetric. */
static tfsdk_val project(const images *m, tfsdk_val u, tfsdk_val h) {
  tfsdk_val along = mul(m->c, h, mean(m, mul(m->c, u, h)));
  return sub(m->c, sub(m->c, u, mean(m, u)), along);
}

/* Training. With upstream v of x_backprop, p of scale_backprop, q of offset_backprop, s = scale, r
 * = root: d dy = s r P(v) + p h + q d s  = sum r v P(dy) d x  = -s r^2 ((mean(v dy) - mean(v)
 * mean(dy) - mean(v h) mean(dy h)) h + mean(dy h) P(v) + mean(v h) P(dy))
 *          + p r P(dy)
 * which follows from dr/dx = -r^2 h / n and d mean(u h)/dx = r P(u) / n for fixed u. Mean and
 * root are emitted anew from x, so that the result has all further derivatives. */
static void grad_training(const images *m, tfsdk_val dy, tfsdk_val x, tfsdk_val s, double epsilon,
                          tfsdk_val v, tfsdk_val p, tfsdk_val q, tfsdk_val out[3]) {
  tfsdk_ctx *c = m->c;
  tfsdk_val center = sub(c, x, mean(m, x));
  tfsdk_val r = inverse_root(m, mean(m, mul(c, center, center)), epsilon), h = mul(c, center, r);
  tfsdk_val pdy = project(m, dy, h), mean_dyh = mean(m, mul(c, dy, h));
  out[0] = add(c, p.id != 0 ? mul(c, p, h) : p, q);
  out[1] = p.id != 0 ? mul(c, mul(c, p, r), pdy) : p;
  out[2] = tfsdk_none();
  if (v.id != 0) {
    tfsdk_val pv = project(m, v, h), sr = mul(c, s, r), mean_vh = mean(m, mul(c, v, h));
    tfsdk_val level = sub(c, mean(m, mul(c, v, dy)), mul(c, mean(m, v), mean(m, dy)));
    tfsdk_val terms = mul(c, sub(c, level, mul(c, mean_vh, mean_dyh)), h);
    terms = add(c, terms, add(c, mul(c, mean_dyh, pv), mul(c, mean_vh, pdy)));
    terms = tfsdk_emit1(c, "Neg", mul(c, mul(c, sr, r), terms));
    out[0] = add(c, mul(c, sr, pv), out[0]);
    out[1] = add(c, terms, out[1]);
    out[2] = reduce(m, "Sum", mul(c, r, mul(c, v, pdy)), 0);
  }
}

/* Inference: d dy = v s r + p (x - m) r + q,  d x = p r dy,  d s = sum v dy r; m and r are
 * given. */
static void grad_inference(const images *m, tfsdk_val dy, tfsdk_val x, tfsdk_val s,
                           tfsdk_val center, tfsdk_val r, tfsdk_val v, tfsdk_val p, tfsdk_val q,
                           tfsdk_val out[3]) {
  tfsdk_ctx *c = m->c;
  out[0] = q;
  out[1] = out[2] = tfsdk_none();
  if (p.id != 0) {
    out[0] = add(c, mul(c, mul(c, sub(c, x, center), r), p), out[0]);
    out[1] = mul(c, mul(c, p, r), dy);
  }
  if (v.id != 0) {
    out[0] = add(c, mul(c, v, mul(c, s, r)), out[0]);
    out[2] = reduce(m, "Sum", mul(c, mul(c, v, dy), r), 0);
  }
}

tfsdk_status *nn_bn_grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  double epsilon = tfsdk_attr_float(&g->attr, "epsilon");
  images m = images_of(c, &g->attr, tfsdk_input(g, 2));
  int32_t type = tfsdk_type(c, tfsdk_input(g, 1)).dtype;
  tfsdk_val dy = cast(c, tfsdk_input(g, 0), m.type), x = cast(c, tfsdk_input(g, 1), m.type), out[3];
  tfsdk_val s = spread(&m, tfsdk_input(g, 2)), v = cast(c, tfsdk_dy(g, 0), m.type);
  tfsdk_val p = spread(&m, tfsdk_dy(g, 1)), q = spread(&m, tfsdk_dy(g, 2));
  if (v.id == 0 && p.id == 0 && q.id == 0) return NULL;
  if (tfsdk_attr_int(&g->attr, "is_training"))
    grad_training(&m, dy, x, s, epsilon, v, p, q, out);
  else
    grad_inference(&m, dy, x, s, spread(&m, tfsdk_input(g, 3)),
                   spread(&m, inverse_root(&m, tfsdk_input(g, 4), epsilon)), v, p, q, out);
  /* A vector alone (only q flows) must still get dy's shape. */
  if (v.id == 0 && p.id == 0) out[0] = mul(c, tfsdk_emit1(c, "OnesLike", dy), out[0]);
  TFSDK_TRY(tfsdk_set_dx(g, 0, cast(c, out[0], type)));
  if (out[1].id != 0) TFSDK_TRY(tfsdk_set_dx(g, 1, cast(c, out[1], type)));
  if (out[2].id != 0) TFSDK_TRY(tfsdk_set_dx(g, 2, out[2]));
  return tfsdk_ctx_error(c);
}

/* ------------------------------------------------------------------------------------ rewriting */

/* What belongs to channels is computed in double, as the kernels do, whose bits result. */
static tfsdk_val wide(tfsdk_ctx *c, tfsdk_val v) { return cast(c, v, TFSDK_FLOAT64); }
static tfsdk_val number(tfsdk_ctx *c, double v) { return tfsdk_scalar(c, TFSDK_FLOAT64, v); }

/* (1 - f) * given + f * by * batch */
static tfsdk_val average(tfsdk_ctx *c, double share, tfsdk_val given, tfsdk_val batch, double by) {
  int32_t type = tfsdk_type(c, batch).dtype;
  if (share == 1.0) return by == 1.0 ? batch : cast(c, mul(c, wide(c, batch), number(c, by)), type);
  tfsdk_val new = mul(c, mul(c, wide(c, batch), number(c, share)), number(c, by));
  return cast(c, add(c, mul(c, wide(c, given), number(c, 1 - share)), new), type);
}

tfsdk_status *nn_bn_rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  tfsdk_typed_shape x = tfsdk_type(c, w->in[0]);
  int training = tfsdk_attr_int(&w->attr, "is_training") != 0;
  double share = tfsdk_attr_find(&w->attr, "exponential_avg_factor")
                     ? tfsdk_attr_float(&w->attr, "exponential_avg_factor")
                     : 1.0;
  int64_t n = tfsdk_shape_elements(&x.shape), none = 0;
  tfsdk_val moment[2] = {w->in[3], w->in[4]}, out_variance = w->in[4];
  if (channels_first(&w->attr) || n <= 0 || tfsdk_type(c, w->in[1]).dtype != x.dtype ||
      (x.dtype != TFSDK_FLOAT32 && x.dtype != TFSDK_FLOAT64))
    return NULL;
  if (training) {
    double rows = (double)(n / x.shape.dim[x.shape.rank - 1]);
    double bessel = rows > 1 ? rows / (rows - 1) : 1;
    tfsdk_emit_n(c, "ChannelMoments", w->in, 1, NULL, 0, moment, 2);
    out_variance = average(c, share, w->in[4], moment[1], bessel);
  }
  double epsilon = tfsdk_attr_float(&w->attr, "epsilon");
  tfsdk_val root = tfsdk_emit1(c, "Sqrt", add(c, wide(c, moment[1]), number(c, epsilon)));
  tfsdk_val by = cast(c, tfsdk_emit2(c, "RealDiv", wide(c, w->in[1]), root), x.dtype);
  tfsdk_val y = mul(c, sub(c, w->in[0], moment[0]), by);
  TFSDK_TRY(tfsdk_set_rewritten(w, 0, add(c, y, w->in[2])));
  TFSDK_TRY(
      tfsdk_set_rewritten(w, 1, training ? average(c, share, w->in[3], moment[0], 1) : w->in[3]));
  TFSDK_TRY(tfsdk_set_rewritten(w, 2, out_variance));
  TFSDK_TRY(tfsdk_set_rewritten(w, 3, moment[0]));
  TFSDK_TRY(tfsdk_set_rewritten(w, 4, moment[1]));
  if (w->n_out > 5)
    TFSDK_TRY(tfsdk_set_rewritten(w, 5, tfsdk_constant(c, x.dtype, 1, &none, &none)));
  return tfsdk_ctx_error(c);
}
