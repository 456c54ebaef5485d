/* Dropout: zeroes elements at random and scales the rest.
 *
 *     y[i] = x[i] / (1 - rate) if mask[i], else 0;   P(mask[i]) = 1 - rate
 *
 * Inverted scaling as in TensorFlow's tf.nn.dropout (Srivastava et al., JMLR 15, 2014). The mask is
 * an output, so that the gradient is that of the very same draw:  dx = dy / (1 - rate) where mask,
 * else 0.
 *
 * Element i of the mask is kept if its random word is at least rate * 2^32. Rate 0 keeps everything
 * and is the identity, bit for bit; rate 1 drops everything.
 */
#include "draw.h"

/* The walk of a mask over a tensor that it may be stretched over: `axes` pairs of extents and of
 * steps in the mask (0 where it is stretched), axes of the same kind merged. */
typedef struct walk {
  int axes;
  int64_t dim[TFSDK_MAX_RANK], step[TFSDK_MAX_RANK];
} walk;

static walk walk_of(const tfsdk_view *x, const tfsdk_view *mask) {
  walk w;
  int64_t step = 1, dim[TFSDK_MAX_RANK], at[TFSDK_MAX_RANK];
  int n = 0, lead = (int)x->rank - (int)mask->rank;
  for (int i = (int)x->rank - 1; i >= 0; i--) { /* from the last axis; turned round below */
    int64_t m = i >= lead ? mask->dim[i - lead] : 1, d = x->dim[i];
    int64_t s = m == d && d != 1 ? step : 0;
    if (d == 1) continue;
    step *= m;
    if (n > 0 && ((s == 0 && at[n - 1] == 0) || (s != 0 && at[n - 1] * dim[n - 1] == s))) {
      dim[n - 1] *= d;
      continue;
    }
    dim[n] = d;
    at[n++] = s;
  }
  w.axes = n;
  for (int i = 0; i < n; i++) {
    w.dim[i] = dim[n - 1 - i];
    w.step[i] = at[n - 1 - i];
  }
  return w;
}

/* b[i] = a[i] * scale where keep[i * step], else 0: NaN and infinity in a dropped element are gone.
 * The mask as long as the tensor is the common case, and a loop that compilers make wide. */
#define SCALE_LOOP(S, F, LOAD, STORE)                                                              \
  do {                                                                                             \
    const S *a = (const S *)x->data + at;                                                          \
    S *b = (S *)y->data + at;                                                                      \
    F s = (F)scale;                                                                                \
    if (step == 1)                                                                                 \
      for (int64_t i = 0; i < n; i++) b[i] = keep[i] ? STORE(LOAD(a[i]) * s) : 0;                  \
    else                                                                                           \
      for (int64_t i = 0; i < n; i++) b[i] = keep[i * step] ? STORE(LOAD(a[i]) * s) : 0;           \
  } while (0)
#define SAME(v) (v)
static void scale_run(const tfsdk_view *x, const tfsdk_view *y, int64_t at, int64_t n,
                      const uint8_t *keep, int64_t step, double scale) {
  switch (x->dtype) {
  case TFSDK_FLOAT32: SCALE_LOOP(float, float, SAME, SAME); break;
  case TFSDK_FLOAT64: SCALE_LOOP(double, double, SAME, SAME); break;
  case TFSDK_FLOAT16: SCALE_LOOP(uint16_t, float, tfsdk_from_half, tfsdk_to_half); break;
  default: SCALE_LOOP(uint16_t, float, tfsdk_from_bfloat16, tfsdk_to_bfloat16); break;
  }
}

typedef struct scale_job {
  const tfsdk_view *x, *mask, *y;
  double scale;
} scale_job;

/* Mask and tensor of one shape. */
static void scale_range(void *user, int64_t begin, int64_t end) {
  const scale_job *job = (const scale_job *)user;
  scale_run(job->x, job->y, begin, end - begin, (const uint8_t *)job->mask->data + begin, 1,
            job->scale);
}

/* y = x * mask * scale; the mask's shape is stretched to x's. */
static void apply(tfsdk_run *r, const tfsdk_view *x, const tfsdk_view *mask, double scale,
                  const tfsdk_view *y) {
  walk w = walk_of(x, mask);
  const uint8_t *keep = (const uint8_t *)mask->data;
  scale_job job = {x, mask, y, scale};
  int last = w.axes - 1;
  int64_t run = last >= 0 ? w.dim[last] : 1, step = last >= 0 ? w.step[last] : 0;
  int64_t index[TFSDK_MAX_RANK] = {0}, from = 0;
  if (last == 0 && step == 1) {
    r->api->par_for(r, run, 16384, scale_range, &job);
    return;
  }
  for (int64_t at = 0; at < x->n_elem; at += run) {
    scale_run(x, y, at, run, keep + from, step, scale);
    for (int i = last - 1; i >= 0; i--) {
      from += w.step[i];
      if (++index[i] < w.dim[i]) break;
      from -= w.step[i] * w.dim[i];
      index[i] = 0;
    }
  }
}

/* 1 / (1 - rate), and 0 for rate 1. */
static tfsdk_status *scale_of(const tfsdk_run *r, uint32_t i, double *rate, double *scale) {
  *rate = tfsdk_view_number(&r->in[i], 0);
  *scale = *rate < 1 ? 1 / (1 - *rate) : 0;
  TFSDK_REQUIRE(r, *rate >= 0 && *rate <= 1, "'rate' is %g, but it must lie in 0..1", *rate);
  return NULL;
}

typedef struct mask_job {
  draw_stream stream;
  uint64_t threshold;
  int64_t n;
  uint8_t *mask;
} mask_job;

static void fill_mask(void *user, int64_t begin, int64_t end) {
  const mask_job *job = (const mask_job *)user;
  for (int64_t b = begin; b < end; b++) {
    uint32_t w[4];
    tfsdk_philox(job->stream.key, job->stream.counter + (uint64_t)b, w);
    for (int64_t i = 0; i < 4 && 4 * b + i < job->n; i++)
      job->mask[4 * b + i] = w[i] >= job->threshold;
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *mask = &r->out[1];
  double rate, scale;
  mask_job job;
  (void)state;
  TFSDK_TRY(scale_of(r, 1, &rate, &scale));
  job.n = mask->n_elem;
  job.mask = (uint8_t *)mask->data;
  job.threshold = (uint64_t)(rate * 0x1p32 + 0.5);
  if (job.n > 0) {
    int64_t blocks = (job.n + 3) / 4;
    TFSDK_TRY(draw_open(r, blocks, &job.stream));
    if (rate == 0)
      memset(job.mask, 1, (size_t)job.n);
    else
      r->api->par_for(r, blocks, 4096, fill_mask, &job);
  }
  if (rate == 0 && r->in[0].byte_size > 0)
    memcpy(r->out[0].data, r->in[0].data, (size_t)r->in[0].byte_size);
  else if (rate != 0)
    apply(r, &r->in[0], mask, scale, &r->out[0]);
  return NULL;
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  double rate, scale;
  (void)state;
  TFSDK_TRY(scale_of(r, 2, &rate, &scale));
  apply(r, &r->in[0], &r->in[1], scale, &r->out[0]);
  return NULL;
}

/* The mask's shape must stretch to x's. Where neither is known there is nothing to check yet. */
static tfsdk_status *check_mask(const tfsdk_infer *c, const tfsdk_shape *x, const tfsdk_shape *mask,
                                const char *what) {
  if (x->rank < 0 || mask->rank < 0) return NULL;
  for (int32_t i = 1; i <= mask->rank; i++) {
    int64_t m = mask->dim[mask->rank - i], d = i <= x->rank ? x->dim[x->rank - i] : -2;
    TFSDK_REQUIRE(c, d != -2 && (m < 0 || m == 1 || d < 0 || m == d),
                  "%s %s does not stretch to the shape of 'x', %s", what, tfsdk_shape_text(mask).s,
                  tfsdk_shape_text(x).s);
  }
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape scalar, *mask = &c->out[1].shape;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 0, &scalar));
  c->out[0].shape = c->in[0].shape;
  if (c->n_in < 3 || (c->in[2].flags & TFSDK_VIEW_ABSENT)) {
    *mask = c->in[0].shape;
    return NULL;
  }
  TFSDK_TRY(tfsdk_with_rank(c, 2, 1, &scalar));
  if (c->value[2] == NULL) return NULL;
  TFSDK_TRY(tfsdk_value_shape(c, c->value[2], "'noise_shape'", mask));
  /* -1 stands for x's own extent, as `None` does in TensorFlow. */
  for (int32_t i = 1; i <= mask->rank && i <= c->in[0].shape.rank; i++)
    if (mask->dim[mask->rank - i] < 0)
      mask->dim[mask->rank - i] = c->in[0].shape.dim[c->in[0].shape.rank - i];
  return check_mask(c, &c->in[0].shape, mask, "'noise_shape'");
}

static tfsdk_status *infer_grad(tfsdk_infer *c) {
  tfsdk_shape scalar;
  TFSDK_TRY(tfsdk_with_rank(c, 2, 0, &scalar));
  c->out[0].shape = c->in[0].shape;
  return check_mask(c, &c->in[0].shape, &c->in[1].shape, "the mask's shape");
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  if (!tfsdk_has_dy(g, 0)) return NULL;
  return tfsdk_set_dx(
      g, 0, tfsdk_emit3(c, "DropoutGrad", tfsdk_dy(g, 0), tfsdk_output(g, 1), tfsdk_input(g, 1)));
}
/* DropoutGrad is linear in dy, with the same mask. */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(
      g, 0, tfsdk_emit3(c, "DropoutGrad", tfsdk_dy(g, 0), tfsdk_input(g, 1), tfsdk_input(g, 2)));
}

static const tfsdk_arg in[] = {
    {"x", "T", "any tensor", 0, 0},
    {"rate", "Trate", "a scalar in 0..1: the chance of an element to be dropped",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"noise_shape", "Tnoise?",
     "a vector: the shape of the mask, which is stretched to x's; -1 for x's own extent. By "
     "default "
     "each element of x has its own draw",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {
    {"y", "T", "x / (1 - rate) where the mask is true, else 0", 0, 0},
    {"mask", "bool", "which elements were kept, of shape noise_shape", 0, 0},
};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"T", DRAW_FLOATS, NULL, "the element type", 0, 0},
    {"Trate", DRAW_FLOATS, NULL, "the type of `rate`", 0, 0},
    {"Tnoise", "dtype{int32,int64}", "int32", "the type of `noise_shape`", 0, 0},
};
static const tfsdk_arg in_grad[] = {
    {"dy", "T", "the gradient of `y`", 0, 0},
    {"mask", "bool", "the mask that the forward op drew", TFSDK_ARG_NONDIFF, 0},
    {"rate", "Trate", "a scalar: the forward op's rate", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out_grad[] = {{"dx", "T", "the gradient of `x`", 0, 0}};
static const tfsdk_attrdef attr_grad[] = {
    {"T", DRAW_FLOATS, NULL, "the element type", 0, 0},
    {"Trate", DRAW_FLOATS, NULL, "the type of `rate`", 0, 0},
};
/* Each run draws another mask, so that differences of two runs are not the gradient. */
static const char *const samples[] = {
    "nograd T[3,4] ; float32(0.5) ; - | seed=1; seed2=2",
    "nograd float32[2,3,4] ; float32(0.25) ; int32{2,1,4} | seed=1; seed2=2",
    "float64[3,4] ; float64(0) ; - | seed=1; seed2=2",
    "nograd float32[0,4] ; float32(0.5) ; - | seed=1; seed2=2",
    NULL,
};
static const char *const samples_grad[] = {
    "T[2,2] ; bool{{1,0},{0,1}} ; float32(0.5)",
    "float32[3,2] ; bool{{1,0}} ; float32(0.25)",
    NULL,
};
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("Dropout", "zeroes elements at random and scales the rest"),
        .doc = "Keeps each element with chance 1 - `rate` and divides it by that chance, so that "
               "the mean stays; the others become 0. Rate 0 is the identity, rate 1 gives zeros. "
               "With `noise_shape` one draw decides about all elements along the axes where it is "
               "1. The gradient uses the same mask. " DRAW_SEED_DOC,
        .flags = TFSDK_OP_RANDOM | TFSDK_OP_STATEFUL,
        .in = in,
        .n_in = TFSDK_COUNT(in),
        .out = out,
        .n_out = TFSDK_COUNT(out),
        .attr = attr,
        .n_attr = TFSDK_COUNT(attr),
        .const_in = 4,
        .grad_in = 2,
        .grad_out = 2,
        .infer = infer,
        .reference = compute,
        .grad = grad,
        .samples = samples,
    },
    {
        TFSDK_OP_HEAD("DropoutGrad", "the gradient of Dropout"),
        .doc = "dy / (1 - rate) where the mask is true, else 0.",
        .in = in_grad,
        .n_in = TFSDK_COUNT(in_grad),
        .out = out_grad,
        .n_out = TFSDK_COUNT(out_grad),
        .attr = attr_grad,
        .n_attr = TFSDK_COUNT(attr_grad),
        .grad_in = 6,
        .infer = infer_grad,
        .reference = compute_grad,
        .grad = grad_grad,
        .samples = samples_grad,
    }};
TFSDK_UNIT_OPS(dropout, ops);
