/* tfsdk/emit.h - emitting ops: the one surface that gradients and layers are written against.
 *
 * A context (`tfsdk_ctx`) is either a graph, where emitting adds a node, or eager, where it runs
 * the op at once and records it on the active tapes. Code that emits ops therefore works in both,
 * and its own gradient comes for free.
 *
 *     static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {        // y = tanh(x)
 *       return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "TanhGrad", tfsdk_output(g, 0), tfsdk_dy(g, 0)));
 *     }
 *
 * Errors are sticky in the short forms (tfsdk_emit1 and so on): the first error is kept in the
 * context, the call and all later ones give "no value", and tfsdk_set_dx, tfsdk_ctx_error return
 * the error. So an expression can be written in one piece and checked once at its end.
 *
 * A gradient or layer may branch on dtypes, static shapes, attributes and values that
 * tfsdk_known tells; never on what is known only when a graph runs. Values (`tfsdk_val`) live until
 * the outermost call that made them returns; there is nothing to free. A context is used by one
 * thread at a time.
 */
#ifndef TFSDK_EMIT_H
#define TFSDK_EMIT_H

#include <tfsdk/op.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An edge of a graph, or an eager tensor. id 0 is "no value". */
typedef struct tfsdk_val {
  uint64_t id;
} tfsdk_val;

static inline tfsdk_val tfsdk_none(void) {
  tfsdk_val v = {0};
  return v;
}

/* How to make a variable. */
typedef struct tfsdk_varspec {
  uint32_t struct_size;
  int32_t dtype;
  tfsdk_shape shape;       /* whole */
  tfsdk_val init;          /* the initial value; or none, and then the initializer below */
  const char *initializer; /* an op with the inputs (shape) and attributes (dtype, ...), or NULL:
                              Glorot uniform for floats, zeros for the rest */
  const tfsdk_attrval *init_attrs;
  uint32_t n_init_attrs;
  int32_t not_trainable;
} tfsdk_varspec;

enum tfsdk_bucket { TFSDK_BUCKET_UPDATES = 1, TFSDK_BUCKET_LOSSES = 2, TFSDK_BUCKET_SUMMARIES = 3 };

/* A weight that a layer asks for. The layer says what it is for and what it is like; whoever builds
 * the layer decides what it is called, how it begins, and whether it is shared with another call. */
typedef struct tfsdk_weightspec {
  uint32_t struct_size;
  int32_t dtype;
  const char *role;        /* "kernel" "bias" "gamma" "moving_mean": one of the record's weights */
  const char *initializer; /* what the layer proposes: "glorot_uniform" (NULL) "zeros" "ones"
                              "uniform" (-0.05 .. 0.05) */
  tfsdk_shape shape;       /* whole */
  int32_t state;           /* 1: statistics. Not trained; the layer assigns to its handle */
} tfsdk_weightspec;

typedef struct tfsdk_emit_api {
  uint32_t struct_size, reserved;
  /* Emits an op. Inputs are flat: a list input's members one after another; an absent optional
   * input is "no value". Attributes in any order; those with a default, or told by the inputs, may
   * be left out. Writes at most n_out outputs. */
  tfsdk_status *(*emit)(tfsdk_ctx *c, const char *op, const tfsdk_val *in, size_t n_in,
                        const tfsdk_attrval *attr, size_t n_attr, tfsdk_val *out, size_t n_out);
  /* A constant from host memory: `data` is n_elem elements of dtype, row-major. Copied. */
  tfsdk_status *(*constant)(tfsdk_ctx *c, int32_t dtype, uint32_t rank, const int64_t *dim,
                            const void *data, tfsdk_val *out);
  /* dtype and static shape (partly unknown in a graph). */
  tfsdk_status *(*type)(tfsdk_ctx *c, tfsdk_val v, tfsdk_typed_shape *out);
  /* Lends the value if it is known now: a constant, or computed from constants. Returns 0 if not.
   */
  int32_t (*known)(tfsdk_ctx *c, tfsdk_val v, tfsdk_view *out);
  /* A variable of the present scope (made, or shared as the scope's reuse rule says): its value. */
  tfsdk_status *(*variable)(tfsdk_ctx *c, const char *name, const tfsdk_varspec *spec,
                            tfsdk_val *out_handle, tfsdk_val *out_value);
  /* Adds the value to the bucket of the graph that training steps run, or hands it to whoever builds
   * the layer. Eager: an update has happened already, and nothing more is done. */
  tfsdk_status *(*effect)(tfsdk_ctx *c, int32_t bucket, tfsdk_val v);
  /* Keeps the first error; later ones are dropped. */
  void (*stick)(tfsdk_ctx *c, tfsdk_status *take_status);
  /* Takes the kept error, leaving none. */
  tfsdk_status *(*take_error)(tfsdk_ctx *c);
  int32_t (*has_error)(tfsdk_ctx *c);
  /* A weight of the layer that is being built: see tfsdk_weight. */
  tfsdk_status *(*weight)(tfsdk_ctx *c, const tfsdk_weightspec *spec, tfsdk_val *out_handle,
                          tfsdk_val *out_value);
  /* Builds a layer inside this one: its weights and effects go where those of this one go. */
  tfsdk_status *(*layer)(tfsdk_ctx *c, const char *layer, const tfsdk_val *in, size_t n_in,
                         const tfsdk_attrval *param, size_t n_param, tfsdk_val *out, size_t n_out);
} tfsdk_emit_api;

struct tfsdk_ctx {
  const tfsdk_host *host;
  const tfsdk_emit_api *api;
};

/* The kept error (NULL: none); the context is clean afterwards. */
static inline tfsdk_status *tfsdk_ctx_error(tfsdk_ctx *c) { return c->api->take_error(c); }

/* ------------------------------------------------------------------------ emitting, short forms */

static inline void tfsdk_emit_n(tfsdk_ctx *c, const char *op, const tfsdk_val *in, size_t n_in,
                                const tfsdk_attrval *attr, size_t n_attr, tfsdk_val *out,
                                size_t n_out) {
  tfsdk_status *s;
  memset(out, 0, n_out * sizeof *out);
  if (c->api->has_error(c)) return;
  s = c->api->emit(c, op, in, n_in, attr, n_attr, out, n_out);
  if (s != NULL) c->api->stick(c, s);
}
/* One output, attributes given. */
static inline tfsdk_val tfsdk_emit(tfsdk_ctx *c, const char *op, const tfsdk_val *in, size_t n_in,
                                   const tfsdk_attrval *attr, size_t n_attr) {
  tfsdk_val out;
  tfsdk_emit_n(c, op, in, n_in, attr, n_attr, &out, 1);
  return out;
}
static inline tfsdk_val tfsdk_emit0(tfsdk_ctx *c, const char *op) {
  return tfsdk_emit(c, op, NULL, 0, NULL, 0);
}
static inline tfsdk_val tfsdk_emit1(tfsdk_ctx *c, const char *op, tfsdk_val a) {
  return tfsdk_emit(c, op, &a, 1, NULL, 0);
}
static inline tfsdk_val tfsdk_emit2(tfsdk_ctx *c, const char *op, tfsdk_val a, tfsdk_val b) {
  tfsdk_val in[2];
  in[0] = a;
  in[1] = b;
  return tfsdk_emit(c, op, in, 2, NULL, 0);
}
static inline tfsdk_val tfsdk_emit3(tfsdk_ctx *c, const char *op, tfsdk_val a, tfsdk_val b,
                                    tfsdk_val d) {
  tfsdk_val in[3];
  in[0] = a;
  in[1] = b;
  in[2] = d;
  return tfsdk_emit(c, op, in, 3, NULL, 0);
}
/* dtype and static shape; dtype 0 and unknown rank once an error is kept. */
static inline tfsdk_typed_shape tfsdk_type(tfsdk_ctx *c, tfsdk_val v) {
  tfsdk_typed_shape t;
  tfsdk_status *s;
  memset(&t, 0, sizeof t);
  t.shape.rank = -1;
  if (c->api->has_error(c)) return t;
  s = c->api->type(c, v, &t);
  if (s != NULL) c->api->stick(c, s);
  return t;
}
/* Lends the value if it is known when the graph is built (always, in eager mode, on the host). */
static inline int32_t tfsdk_known(tfsdk_ctx *c, tfsdk_val v, tfsdk_view *out) {
  return v.id != 0 && !c->api->has_error(c) ? c->api->known(c, v, out) : 0;
}
static inline tfsdk_val tfsdk_constant(tfsdk_ctx *c, int32_t dtype, uint32_t rank,
                                       const int64_t *dim, const void *data) {
  tfsdk_val out = {0};
  tfsdk_status *s;
  if (c->api->has_error(c)) return out;
  s = c->api->constant(c, dtype, rank, dim, data, &out);
  if (s != NULL) c->api->stick(c, s);
  return out;
}
/* A scalar constant of any numeric real dtype. */
static inline tfsdk_val tfsdk_scalar(tfsdk_ctx *c, int32_t dtype, double value) {
  union {
    float f;
    double d;
    int64_t i64;
    uint64_t u64;
    int32_t i32;
    uint32_t u32;
    int16_t i16;
    uint16_t u16;
    int8_t i8;
    uint8_t u8;
  } x;
  memset(&x, 0, sizeof x);
  switch (dtype) {
  case TFSDK_FLOAT32: x.f = (float)value; break;
  case TFSDK_FLOAT64: x.d = value; break;
  case TFSDK_FLOAT16: x.u16 = tfsdk_to_half(tfsdk_round_to_odd(value)); break;
  case TFSDK_BFLOAT16: x.u16 = tfsdk_to_bfloat16(tfsdk_round_to_odd(value)); break;
  case TFSDK_INT64: x.i64 = (int64_t)value; break;
  case TFSDK_UINT64: x.u64 = (uint64_t)value; break;
  case TFSDK_INT32: x.i32 = (int32_t)value; break;
  case TFSDK_UINT32: x.u32 = (uint32_t)value; break;
  case TFSDK_INT16: x.i16 = (int16_t)value; break;
  case TFSDK_UINT16: x.u16 = (uint16_t)value; break;
  case TFSDK_INT8: x.i8 = (int8_t)value; break;
  case TFSDK_UINT8: x.u8 = (uint8_t)value; break;
  case TFSDK_BOOL: x.u8 = value != 0; break;
  default: break;
  }
  return tfsdk_constant(c, dtype, 0, NULL, &x);
}
static inline tfsdk_val tfsdk_scalar_like(tfsdk_ctx *c, tfsdk_val like, double value) {
  return tfsdk_scalar(c, tfsdk_type(c, like).dtype, value);
}
/* A vector of int32 (axes, shapes). At most 64 members. */
static inline tfsdk_val tfsdk_int_vector(tfsdk_ctx *c, const int64_t *values, uint32_t n) {
  int32_t v[64];
  int64_t dim[1];
  dim[0] = n;
  for (uint32_t i = 0; i < n && i < 64; i++) v[i] = (int32_t)values[i];
  return tfsdk_constant(c, TFSDK_INT32, 1, dim, v);
}
static inline tfsdk_val tfsdk_int_scalar(tfsdk_ctx *c, int32_t value) {
  return tfsdk_constant(c, TFSDK_INT32, 0, NULL, &value);
}
/* Nonzero if both static shapes are whole and equal. */
static inline int tfsdk_same_shape(const tfsdk_shape *a, const tfsdk_shape *b) {
  if (a->rank < 0 || a->rank != b->rank) return 0;
  for (int32_t i = 0; i < a->rank; i++)
    if (a->dim[i] < 0 || a->dim[i] != b->dim[i]) return 0;
  return 1;
}
/* The gradient of broadcasting: sums `dy` over the axes along which `like` was stretched. */
static inline tfsdk_val tfsdk_sum_like(tfsdk_ctx *c, tfsdk_val dy, tfsdk_val like) {
  tfsdk_typed_shape a = tfsdk_type(c, dy), b = tfsdk_type(c, like);
  if (tfsdk_same_shape(&a.shape, &b.shape)) return dy;
  return tfsdk_emit2(c, "SumToLike", dy, like);
}

/* ------------------------------------------------------------------------------------ gradients */

typedef struct tfsdk_grad_api {
  uint32_t struct_size, reserved;
  tfsdk_val (*input)(tfsdk_gradcall *g, uint32_t i);
  tfsdk_val (*output)(tfsdk_gradcall *g, uint32_t i);
  tfsdk_val (*dy)(tfsdk_gradcall *g, uint32_t i);
  tfsdk_val (*dy_or_slices)(tfsdk_gradcall *g, uint32_t i);
  int32_t (*wants)(tfsdk_gradcall *g, uint32_t i);
  tfsdk_status *(*set_dx)(tfsdk_gradcall *g, uint32_t i, tfsdk_val dx);
  tfsdk_status *(*set_dx_slices)(tfsdk_gradcall *g, uint32_t i, tfsdk_val indices,
                                 tfsdk_val values);
} tfsdk_grad_api;

/* One call of an op's gradient: given dL/d(outputs), set dL/d(inputs). i counts flat, as in emit.
 */
struct tfsdk_gradcall {
  const tfsdk_host *host;
  const tfsdk_grad_api *api;
  const tfsdk_opdef *op;
  tfsdk_ctx *ctx;
  tfsdk_attrs attr; /* of the forward node */
  uint32_t n_in, n_out;
};

/* Input i of the forward op. Its argument must be in grad_in (or in grad_shape, and then only dtype
 * and shape may be used), else the call fails with FAILED_PRECONDITION: everything undeclared is
 * freed. */
static inline tfsdk_val tfsdk_input(tfsdk_gradcall *g, uint32_t i) { return g->api->input(g, i); }
/* Output i of the forward op; must be in grad_out. */
static inline tfsdk_val tfsdk_output(tfsdk_gradcall *g, uint32_t i) { return g->api->output(g, i); }
/* The gradient of output i; "no value" if the loss does not depend on it. An op with one output is
 * called only when it has one. */
static inline tfsdk_val tfsdk_dy(tfsdk_gradcall *g, uint32_t i) { return g->api->dy(g, i); }
static inline int tfsdk_has_dy(tfsdk_gradcall *g, uint32_t i) { return g->api->dy(g, i).id != 0; }
/* 0: nobody asks for the gradient of input i; it may be skipped. */
static inline int tfsdk_wants(tfsdk_gradcall *g, uint32_t i) { return g->api->wants(g, i) != 0; }
/* Sets the gradient of input i: of its dtype and shape, or "no value" for none. Returns the
 * context's kept error, so that `return tfsdk_set_dx(...)` ends a gradient. */
static inline tfsdk_status *tfsdk_set_dx(tfsdk_gradcall *g, uint32_t i, tfsdk_val dx) {
  return g->api->set_dx(g, i, dx);
}
/* Sets a gradient that is zero but for rows: row indices[k] gets values[k], repeated rows add up.
 */
static inline tfsdk_status *tfsdk_set_dx_slices(tfsdk_gradcall *g, uint32_t i, tfsdk_val indices,
                                                tfsdk_val values) {
  return g->api->set_dx_slices(g, i, indices, values);
}

/* ------------------------------------------------------------------------------------ rewriting */

/* How a value of a plan is made. Borrowed until the rule returns. */
typedef struct tfsdk_maker {
  const char *op;
  tfsdk_attrs attr;
  const tfsdk_val *in;
  uint32_t n_in, index; /* index: which of its outputs the value is */
} tfsdk_maker;

typedef struct tfsdk_rewrite_api {
  uint32_t struct_size, reserved;
  int32_t (*maker)(tfsdk_rewriting *w, tfsdk_val v, tfsdk_maker *out);
  tfsdk_status *(*set)(tfsdk_rewriting *w, uint32_t i, tfsdk_val v);
} tfsdk_rewrite_api;

/* A node of a plan that is being made, seen by its op's rewriting rule: shapes are those of this
 * plan, mostly whole, and constants are known (tfsdk_known). The rule emits into the plan. What it
 * leaves unread is dropped. It must keep the values, if not every bit of them.
 *
 *     static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {      // -(-x) = x
 *       tfsdk_maker m;
 *       if (tfsdk_made_by(w, w->in[0], "Neg", &m)) return tfsdk_set_rewritten(w, 0, m.in[0]);
 *       return NULL;
 *     }
 */
struct tfsdk_rewriting {
  const tfsdk_host *host;
  const tfsdk_rewrite_api *api;
  const tfsdk_opdef *op;
  tfsdk_ctx *ctx;
  tfsdk_attrs attr;
  const tfsdk_val *in;
  uint32_t n_in, n_out;
};

/* Nonzero if `v` is an output of an op of that name. */
static inline int tfsdk_made_by(tfsdk_rewriting *w, tfsdk_val v, const char *op, tfsdk_maker *out) {
  return v.id != 0 && w->api->maker(w, v, out) && strcmp(out->op, op) == 0;
}
/* Output i is that value: of its dtype and shape. All outputs must be set, or none. Returns the
 * context's kept error. */
static inline tfsdk_status *tfsdk_set_rewritten(tfsdk_rewriting *w, uint32_t i, tfsdk_val v) {
  return w->api->set(w, i, v);
}

/* --------------------------------------------------------------------------------------- layers */

/* A layer: parameters, their defaults, and how to build it in any context. One record serves every
 * layer library, C and Lua, graphs and define-by-run:
 *
 *     static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in,
 *                                size_t n_in, tfsdk_val *out, size_t n_out) {
 *       tfsdk_typed_shape x = tfsdk_type(c, in[0]);
 *       int64_t units = tfsdk_attr_int(cfg, "units");
 *       TFSDK_REQUIRE(c, x.shape.rank == 2 && x.shape.dim[1] > 0, "the input must be a matrix");
 *       int64_t dim[2] = {x.shape.dim[1], units};
 *       out[0] = tfsdk_emit2(c, "MatMul", in[0], tfsdk_weight(c, "kernel", x.dtype, 2, dim, NULL));
 *       return tfsdk_ctx_error(c);
 *     }
 *
 * `cfg` holds every parameter of `param`, defaults filled in. A layer does not name its variables,
 * it asks for weights by their roles (tfsdk_weight). It branches on what is known when it is built:
 * a flag that may change later, as "training", is an optional input as well as a parameter. */
struct tfsdk_layerdef {
  uint32_t struct_size;
  uint16_t n_param, attr_size;
  const char *name, *doc; /* names as of ops: third parties' are "vendor.layer" */
  const tfsdk_attrdef *param;
  /* n_in is the number of `in`, absent ones "no value" (more, if the last one is a list). */
  tfsdk_status *(*build)(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                         tfsdk_val *out, size_t n_out);
  /* Types of inputs: "tensor", "tensor?" (may be absent), "tensor*" (one or more, the last input).
   * Of weights: "trained" or "state". Without `out` there is one output. */
  const tfsdk_arg *in, *out, *weight;
  uint16_t n_in, n_out, n_weight, arg_size;
};

#define TFSDK_LAYER_HEAD(name_, doc_)                                                              \
  .struct_size = (uint32_t)sizeof(tfsdk_layerdef), .attr_size = (uint16_t)sizeof(tfsdk_attrdef),   \
  .arg_size = (uint16_t)sizeof(tfsdk_arg), .name = name_, .doc = doc_

static inline tfsdk_weightspec tfsdk_weight_(const char *role, int32_t dtype, uint32_t rank,
                                             const int64_t *dim, const char *initializer) {
  tfsdk_weightspec w;
  memset(&w, 0, sizeof w);
  w.struct_size = (uint32_t)sizeof w;
  w.dtype = dtype;
  w.role = role;
  w.initializer = initializer;
  w.shape.rank = (int32_t)rank;
  for (uint32_t i = 0; i < rank && i < TFSDK_MAX_RANK; i++) w.shape.dim[i] = dim[i];
  return w;
}
/* The value of a trained weight. */
static inline tfsdk_val tfsdk_weight(tfsdk_ctx *c, const char *role, int32_t dtype, uint32_t rank,
                                     const int64_t *dim, const char *initializer) {
  tfsdk_weightspec w = tfsdk_weight_(role, dtype, rank, dim, initializer);
  tfsdk_val handle = {0}, value = {0};
  tfsdk_status *s;
  if (c->api->has_error(c)) return value;
  s = c->api->weight(c, &w, &handle, &value);
  if (s != NULL) c->api->stick(c, s);
  return value;
}
/* Statistics: their value, and the handle to assign to. */
static inline tfsdk_val tfsdk_state(tfsdk_ctx *c, const char *role, int32_t dtype, uint32_t rank,
                                    const int64_t *dim, const char *initializer,
                                    tfsdk_val *out_handle) {
  tfsdk_weightspec w = tfsdk_weight_(role, dtype, rank, dim, initializer);
  tfsdk_val value = {0};
  tfsdk_status *s;
  w.state = 1;
  out_handle->id = 0;
  if (c->api->has_error(c)) return value;
  s = c->api->weight(c, &w, out_handle, &value);
  if (s != NULL) c->api->stick(c, s);
  return value;
}
/* Puts a value into a bucket: the update of statistics, a loss. */
static inline void tfsdk_effect(tfsdk_ctx *c, int32_t bucket, tfsdk_val v) {
  tfsdk_status *s;
  if (v.id == 0 || c->api->has_error(c)) return;
  s = c->api->effect(c, bucket, v);
  if (s != NULL) c->api->stick(c, s);
}
/* The first output of a layer of one input, built inside this one. */
static inline tfsdk_val tfsdk_layer1(tfsdk_ctx *c, const char *layer, tfsdk_val x,
                                     const tfsdk_attrval *param, size_t n_param) {
  tfsdk_val out = {0};
  tfsdk_status *s;
  if (c->api->has_error(c)) return out;
  s = c->api->layer(c, layer, &x, 1, param, n_param, &out, 1);
  if (s != NULL) c->api->stick(c, s);
  return out;
}

#ifdef __cplusplus
}
#endif
#endif
