/* How random words become numbers, shared by the ops of this folder.
 *
 * A stream is a Philox key and the first counter that the op may use. Element i of an output
 * depends on key, counter and i alone, never on how the work is cut into ranges, so that threads,
 * devices, graph and eager mode give the same numbers.
 */
#ifndef OPS_RANDOM_DRAW_H
#define OPS_RANDOM_DRAW_H

#include <math.h>
#include <tfsdk/philox.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

#define DRAW_FLOATS "dtype{float32,float64,float16,bfloat16}"
#define DRAW_SEED_ATTRS                                                                            \
  {"seed", "int", "0", "seed of this op; 0 in both: the graph's, else a random one", 0, 0}, {      \
    "seed2", "int", "0", "second seed, which keeps ops of one seed apart", 0, 0                    \
  }
#define DRAW_SEED_DOC                                                                              \
  "The same seeds give the same sequence of outputs in graph and eager mode, whatever the number " \
  "of threads."
#define DRAW_STATELESS_DOC                                                                         \
  "The same `seed` gives the same numbers each time, whatever the number of threads."
#define DRAW_NO_GRAD "random numbers do not depend on the inputs' values"

typedef struct draw_stream {
  uint32_t key[2];
  uint64_t counter;
} draw_stream;

/* --------------------------------------------------------------------------- shapes and streams */

/* *out is what input i, a vector of extents, says. */
static inline tfsdk_status *draw_infer_shape(const tfsdk_infer *c, uint32_t i, tfsdk_shape *out) {
  tfsdk_shape vector;
  TFSDK_TRY(tfsdk_with_rank(c, i, 1, &vector));
  if (c->value[i] == NULL) {
    *out = vector.dim[0] < 0 || vector.dim[0] > TFSDK_MAX_RANK
               ? tfsdk_shape_unknown()
               : tfsdk_shape_of_rank((int32_t)vector.dim[0]);
    return NULL;
  }
  TFSDK_TRY(tfsdk_value_shape(c, c->value[i], "'shape'", out));
  for (int32_t k = 0; k < out->rank; k++)
    TFSDK_REQUIRE(c, out->dim[k] >= 0, "'shape' has the extent %lld at position %d",
                  (long long)out->dim[k], (int)k);
  return NULL;
}
/* The rule of ops whose input 0 is the shape of their only output. */
static inline tfsdk_status *draw_infer(tfsdk_infer *c) {
  return draw_infer_shape(c, 0, &c->out[0].shape);
}
/* Input i must be the two numbers of a stateless op's seed. */
static inline tfsdk_status *draw_infer_seed(const tfsdk_infer *c, uint32_t i) {
  tfsdk_shape s;
  TFSDK_TRY(tfsdk_with_rank(c, i, 1, &s));
  TFSDK_REQUIRE(c, s.dim[0] < 0 || s.dim[0] == 2, "'seed' must have 2 members, not %lld",
                (long long)s.dim[0]);
  return NULL;
}
static inline tfsdk_status *draw_infer_stateless(tfsdk_infer *c) {
  TFSDK_TRY(draw_infer_seed(c, 1));
  return draw_infer_shape(c, 0, &c->out[0].shape);
}

/* Samples of each member of a tensor of parameters: input i says the shape of one member's samples,
 * which stands before the shape of input j, the parameters. */
static inline tfsdk_status *draw_infer_samples(tfsdk_infer *c, uint32_t i, uint32_t j) {
  tfsdk_shape front, *out = &c->out[0].shape;
  const tfsdk_shape *back = &c->in[j].shape;
  TFSDK_TRY(draw_infer_shape(c, i, &front));
  if (front.rank < 0 || back->rank < 0) return NULL;
  TFSDK_REQUIRE(c, front.rank + back->rank <= TFSDK_MAX_RANK,
                "the output would have rank %d, the most is %d", (int)(front.rank + back->rank),
                TFSDK_MAX_RANK);
  *out = front;
  out->rank = front.rank + back->rank;
  for (int32_t k = 0; k < back->rank; k++) out->dim[front.rank + k] = back->dim[k];
  return NULL;
}

/* The node's own stream, of which `blocks` blocks will be used. */
static inline tfsdk_status *draw_open(tfsdk_run *r, int64_t blocks, draw_stream *out) {
  return r->api->rng(r, (uint64_t)blocks, out->key, &out->counter);
}
/* The stream of a seed that was handed in. One block, in a corner of the counters that no op
 * reaches, makes key and first counter of it, so that neighbouring seeds have nothing in common. */
static inline draw_stream draw_open_seed(const tfsdk_view *seed) {
  uint64_t a = (uint64_t)tfsdk_view_int(seed, 0), b = (uint64_t)tfsdk_view_int(seed, 1);
  const uint32_t key[2] = {(uint32_t)a, (uint32_t)(a >> 32)};
  const uint32_t counter[4] = {(uint32_t)b, (uint32_t)(b >> 32), 0x5eed5eedu, 1};
  uint32_t w[4];
  draw_stream s;
  tfsdk_philox128(key, counter, w);
  s.key[0] = w[0];
  s.key[1] = w[1];
  s.counter = (uint64_t)w[3] << 32 | w[2];
  return s;
}

/* -------------------------------------------------------------------------------------- numbers */

/* The high 64 bits of the 96- or 128-bit product: words to [0, range), with a bias below 2^-32 for
 * ranges of 32 bits and below 2^-64 else. */
static inline uint64_t draw_below32(uint32_t high, uint32_t low, uint64_t range) {
  return (range * high + ((range * low) >> 32)) >> 32; /* range <= 2^32 - 1 */
}
static inline uint64_t draw_mul_high(uint64_t a, uint64_t b, uint64_t *low) {
  uint64_t a1 = a >> 32, a0 = (uint32_t)a, b1 = b >> 32, b0 = (uint32_t)b;
  uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
  uint64_t mid = (p00 >> 32) + (uint32_t)p01 + (uint32_t)p10;
  *low = mid << 32 | (uint32_t)p00;
  return a1 * b1 + (p01 >> 32) + (p10 >> 32) + (mid >> 32);
}
static inline uint64_t draw_below64(const uint32_t w[4], uint64_t range) {
  uint64_t low, carry, unused;
  uint64_t high = draw_mul_high((uint64_t)w[0] << 32 | w[1], range, &low);
  carry = draw_mul_high((uint64_t)w[2] << 32 | w[3], range, &unused);
  return high + (low + carry < low);
}

/* Box and Muller, "A note on the generation of random normal deviates", 1958: two uniform numbers
 * make two independent normal ones. The radius's number lies in (0, 1], so that its logarithm is
 * finite. */
static inline void draw_normals(uint32_t a, uint32_t b, float z[2]) {
  float u = ((float)a + 1.0f) * 0x1p-32f;
  float radius = sqrtf(-2.0f * logf(u)), angle = (float)b * (6.28318530717958648f * 0x1p-32f);
  z[0] = radius * cosf(angle);
  z[1] = radius * sinf(angle);
}
static inline void draw_normals_double(const uint32_t w[4], double z[2]) {
  double u = tfsdk_uniform_double(w[0], w[1]) + 0x1p-53;
  double radius = sqrt(-2.0 * log(u)), angle = tfsdk_uniform_double(w[2], w[3]);
  angle *= 6.283185307179586476925;
  z[0] = radius * cos(angle);
  z[1] = radius * sin(angle);
}

/* ---------------------------------------------------------- one element's own source of numbers */

/* For laws that need nobody knows how many draws: element i begins DRAW_OWN blocks behind element
 * i - 1. An element that needs more runs on into its neighbour's, about once in 10^30. */
#define DRAW_OWN 256

typedef struct draw_source {
  uint32_t key[2], left;
  uint64_t counter;
  uint32_t w[4];
} draw_source;

static inline draw_source draw_element(const draw_stream *s, int64_t i) {
  draw_source d = {{s->key[0], s->key[1]}, 0, s->counter + (uint64_t)i * DRAW_OWN, {0, 0, 0, 0}};
  return d;
}
/* A double in [0, 1). */
static inline double draw_double(draw_source *d) {
  if (d->left == 0) {
    tfsdk_philox(d->key, d->counter++, d->w);
    d->left = 2;
  }
  d->left--;
  return tfsdk_uniform_double(d->w[2 * d->left], d->w[2 * d->left + 1]);
}
/* A normal number; the second of the pair is dropped. */
static inline double draw_normal(draw_source *d) {
  double z[2];
  uint32_t w[4];
  tfsdk_philox(d->key, d->counter++, w);
  draw_normals_double(w, z);
  return z[0];
}

/* Stores a double as element i of any real type. */
static inline void draw_store(const tfsdk_view *v, int64_t i, double x) {
  switch (v->dtype) {
  case TFSDK_FLOAT32: ((float *)v->data)[i] = (float)x; break;
  case TFSDK_FLOAT64: ((double *)v->data)[i] = x; break;
  case TFSDK_FLOAT16: ((uint16_t *)v->data)[i] = tfsdk_to_half((float)x); break;
  case TFSDK_BFLOAT16: ((uint16_t *)v->data)[i] = tfsdk_to_bfloat16((float)x); break;
  case TFSDK_INT32: ((int32_t *)v->data)[i] = x >= 2147483647.0 ? INT32_MAX : (int32_t)x; break;
  default: ((int64_t *)v->data)[i] = x >= 0x1p63 ? INT64_MAX : (int64_t)x; break;
  }
}

/* -------------------------------------------------------------------------------- whole outputs */

/* A law writes elements [at, at + n) of a floating output from block `at / per`; n is `per` but at
 * the end of the output. */
typedef struct draw_job draw_job;
typedef void draw_block_fn(const draw_job *job, int64_t block, int64_t at, int64_t n);
struct draw_job {
  draw_stream stream;
  const tfsdk_view *out;
  draw_block_fn *fn;
  int64_t per;    /* elements of a block: 2 of float64, else 4 */
  int64_t blocks; /* that cover the output */
};

static inline void draw_range(void *user, int64_t begin, int64_t end) {
  const draw_job *job = (const draw_job *)user;
  for (int64_t b = begin; b < end; b++) {
    int64_t at = b * job->per, rest = job->out->n_elem - at;
    job->fn(job, b, at, rest < job->per ? rest : job->per);
  }
}
/* Fills output 0. `seed` is the seed of a stateless op, or NULL; `spare` blocks per element are
 * kept for the law's own use, behind the first ones. */
static inline tfsdk_status *draw_fill(tfsdk_run *r, const tfsdk_view *seed, draw_block_fn *fn,
                                      int64_t spare) {
  draw_job job;
  job.out = &r->out[0];
  job.fn = fn;
  job.per = job.out->dtype == TFSDK_FLOAT64 ? 2 : 4;
  job.blocks = (job.out->n_elem + job.per - 1) / job.per;
  if (seed != NULL)
    job.stream = draw_open_seed(seed);
  else
    TFSDK_TRY(draw_open(r, job.blocks + spare * job.out->n_elem, &job.stream));
  if (job.blocks > 0) r->api->par_for(r, job.blocks, 2048, draw_range, &job);
  return NULL;
}

#endif
