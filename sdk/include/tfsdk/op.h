/* tfsdk/op.h - an op's record: what it is called, takes and gives; its shape rule, gradient and
 * samples.
 *
 * One C file defines one op (and its backward op, if it has one of its own). From the record come
 * the Lua function, the C call, the reference page, the conformance test and the benchmark. A whole
 * op:
 *
 *     #include <tfsdk/unit.h>
 *     static tfsdk_status *infer(tfsdk_infer *c) { c->out[0].shape = c->in[0].shape; return NULL; }
 *     static tfsdk_status *compute(void *state, tfsdk_run *r) {
 *       const float *x = (const float *)r->in[0].data;
 *       float *y = (float *)r->out[0].data;
 *       (void)state;
 *       for (int64_t i = 0; i < r->out[0].n_elem; i++) y[i] = x[i] * x[i];
 *       return NULL;
 *     }
 *     static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {          // dx = 2 x dy
 *       tfsdk_val two = tfsdk_scalar_like(c, tfsdk_input(g, 0), 2);
 *       tfsdk_val x2 = tfsdk_emit2(c, "Mul", two, tfsdk_input(g, 0));
 *       return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Mul", tfsdk_dy(g, 0), x2));
 *     }
 *     static const tfsdk_arg in[] = {{"x", "float32", "any shape", 0, 0}};
 *     static const tfsdk_arg out[] = {{"y", "float32", "x * x, of x's shape", 0, 0}};
 *     static const char *const samples[] = {"float32[2,3]", NULL};
 *     static const tfsdk_opdef ops[] = {{
 *         TFSDK_OP_HEAD("acme.Square", "x * x"), .in = in, .n_in = 1, .out = out, .n_out = 1,
 *         .infer = infer, .reference = compute, .grad = grad, .grad_in = 1, .samples = samples}};
 *     TFSDK_UNIT_OPS(square, ops);
 */
#ifndef TFSDK_OP_H
#define TFSDK_OP_H

#include <tfsdk/plugin.h>
#include <tfsdk/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tfsdk_tensor tfsdk_tensor; /* opaque outside the core */

/* ------------------------------------------------------------------------------------- attributes
 */

enum tfsdk_attr_kind {
  TFSDK_ATTR_NONE = 0,
  TFSDK_ATTR_INT = 1,
  TFSDK_ATTR_FLOAT = 2,
  TFSDK_ATTR_BOOL = 3,
  TFSDK_ATTR_STRING = 4,
  TFSDK_ATTR_DTYPE = 5,
  TFSDK_ATTR_SHAPE = 6,
  TFSDK_ATTR_TENSOR = 7,
  TFSDK_ATTR_LIST_INT = 8,
  TFSDK_ATTR_LIST_FLOAT = 9,
  TFSDK_ATTR_LIST_STRING = 10,
  TFSDK_ATTR_LIST_DTYPE = 11,
  TFSDK_ATTR_LIST_BOOL = 12,
  TFSDK_ATTR_LIST_SHAPE = 13
};

#define TFSDK_UNKNOWN_RANK UINT32_MAX

/* A typed value. Lists and shapes have their length in `n`; a SHAPE of unknown rank has
 * n = TFSDK_UNKNOWN_RANK. Borrowed: the giver keeps what it points to alive for the call; a node or
 * record keeps its own copy. */
typedef struct tfsdk_attrval {
  const char *name;
  int32_t kind; /* TFSDK_ATTR_* */
  uint32_t n;
  union {
    int64_t i; /* INT, BOOL (0 or 1), DTYPE */
    double f;
    const char *s;              /* STRING, NUL-ended UTF-8 */
    const int64_t *ints;        /* SHAPE, LIST_INT, LIST_DTYPE, LIST_BOOL */
    const double *floats;       /* LIST_FLOAT */
    const char *const *strings; /* LIST_STRING */
    const tfsdk_shape *shapes;  /* LIST_SHAPE */
    const tfsdk_tensor *tensor; /* TENSOR */
  } v;
} tfsdk_attrval;

/* The attributes of a node in the order of its op's record, every one present, defaults filled in.
 */
typedef struct tfsdk_attrs {
  const tfsdk_attrval *list;
  uint32_t n;
  uint32_t reserved;
} tfsdk_attrs;

/* The attribute of that name, or NULL. A handful of names are compared; kernels that care read
 * attributes once, in `create`. */
static inline const tfsdk_attrval *tfsdk_attr_find(const tfsdk_attrs *a, const char *name) {
  for (uint32_t i = 0; i < a->n; i++)
    if (strcmp(a->list[i].name, name) == 0) return &a->list[i];
  return NULL;
}
/* The value of an INT, BOOL or DTYPE attribute; 0 when the record has no such attribute. */
static inline int64_t tfsdk_attr_int(const tfsdk_attrs *a, const char *name) {
  const tfsdk_attrval *v = tfsdk_attr_find(a, name);
  return v ? v->v.i : 0;
}
static inline double tfsdk_attr_float(const tfsdk_attrs *a, const char *name) {
  const tfsdk_attrval *v = tfsdk_attr_find(a, name);
  return v ? v->v.f : 0.0;
}
static inline const char *tfsdk_attr_string(const tfsdk_attrs *a, const char *name) {
  const tfsdk_attrval *v = tfsdk_attr_find(a, name);
  return v ? v->v.s : "";
}
/* The integers of a LIST_INT, LIST_DTYPE, LIST_BOOL or SHAPE attribute and their count. */
static inline const int64_t *tfsdk_attr_ints(const tfsdk_attrs *a, const char *name, uint32_t *n) {
  const tfsdk_attrval *v = tfsdk_attr_find(a, name);
  *n = v ? v->n : 0;
  return v ? v->v.ints : NULL;
}

/* Builders, for emitting ops: {tfsdk_a_int("axis", 1), tfsdk_a_bool("keep_dims", 1)}. */
static inline tfsdk_attrval tfsdk_a_(const char *name, int32_t kind) {
  tfsdk_attrval a;
  memset(&a, 0, sizeof a);
  a.name = name;
  a.kind = kind;
  return a;
}
static inline tfsdk_attrval tfsdk_a_int(const char *name, int64_t i) {
  tfsdk_attrval a = tfsdk_a_(name, TFSDK_ATTR_INT);
  a.v.i = i;
  return a;
}
static inline tfsdk_attrval tfsdk_a_float(const char *name, double f) {
  tfsdk_attrval a = tfsdk_a_(name, TFSDK_ATTR_FLOAT);
  a.v.f = f;
  return a;
}
static inline tfsdk_attrval tfsdk_a_bool(const char *name, int64_t b) {
  tfsdk_attrval a = tfsdk_a_(name, TFSDK_ATTR_BOOL);
  a.v.i = b != 0;
  return a;
}
static inline tfsdk_attrval tfsdk_a_string(const char *name, const char *s) {
  tfsdk_attrval a = tfsdk_a_(name, TFSDK_ATTR_STRING);
  a.v.s = s;
  return a;
}
static inline tfsdk_attrval tfsdk_a_dtype(const char *name, int32_t dtype) {
  tfsdk_attrval a = tfsdk_a_(name, TFSDK_ATTR_DTYPE);
  a.v.i = dtype;
  return a;
}
static inline tfsdk_attrval tfsdk_a_ints(const char *name, const int64_t *list, uint32_t n) {
  tfsdk_attrval a = tfsdk_a_(name, TFSDK_ATTR_LIST_INT);
  a.v.ints = list;
  a.n = n;
  return a;
}
static inline tfsdk_attrval tfsdk_a_shape(const char *name, const int64_t *dims, uint32_t rank) {
  tfsdk_attrval a = tfsdk_a_(name, TFSDK_ATTR_SHAPE);
  a.v.ints = dims;
  a.n = rank;
  return a;
}
static inline tfsdk_attrval tfsdk_a_tensor(const char *name, const tfsdk_tensor *t) {
  tfsdk_attrval a = tfsdk_a_(name, TFSDK_ATTR_TENSOR);
  a.v.tensor = t;
  return a;
}

/* ------------------------------------------------------------------------------------- the record
 */

/* An input or output. `type` is one of
 *   "float32"  that type           "T"        the type in the dtype attribute T, told by the inputs
 *   "N*T"      N tensors of type T (N an int attribute, told by the number of inputs)
 *   "list:Ts"  tensors of the types in the list(dtype) attribute Ts
 * An input type followed by '?' may be absent. */
typedef struct tfsdk_arg {
  const char *name, *type, *doc;
  uint32_t flags; /* TFSDK_ARG_* */
  uint32_t reserved;
} tfsdk_arg;

enum tfsdk_arg_flag {
  TFSDK_ARG_NONDIFF = 1,   /* gradients stop here silently: indices, shapes, axes, labels */
  TFSDK_ARG_HOST = 2,      /* lives in host memory on every device: shapes, axes, sizes */
  TFSDK_ARG_SHAPE_ONLY = 4 /* the op reads dtype and shape only, never the data */
};

/* An attribute. `type`: "int" "float" "bool" "string" "dtype" "shape" "tensor", "list(int)" and so
 * on; a set of allowed values may follow: "dtype{float32,float64}", "string{SAME,VALID}". `dflt` is
 * text: "1", "0.5", "true", "SAME", "float32", "[1,2]"; NULL says that the caller must give it (or
 * that the inputs tell it). Numbers are checked against lo..hi unless both are 0. */
typedef struct tfsdk_attrdef {
  const char *name, *type, *dflt, *doc;
  double lo, hi;
} tfsdk_attrdef;

typedef struct tfsdk_typed_shape {
  int32_t dtype;
  uint32_t flags; /* TFSDK_VIEW_ABSENT for an optional input that was not given */
  tfsdk_shape shape;
} tfsdk_typed_shape;

/* What a shape rule sees. Pure and callable from any thread. Types of inputs and outputs are
 * already resolved and checked; the rule checks ranks and extents, and sets out[i].shape (which
 * begins as "unknown"). In a graph shapes may be partly unknown; when the op runs they are whole.
 * value[i] is input i's value where the record's const_in asks for it and it is known, else NULL; a
 * rule must then say what it can without. */
typedef struct tfsdk_infer {
  const tfsdk_host *host;
  const tfsdk_opdef *op;
  uint32_t n_in, n_out;
  const tfsdk_typed_shape *in;
  tfsdk_typed_shape *out;
  const tfsdk_view *const *value;
  tfsdk_attrs attr;
} tfsdk_infer;

typedef struct tfsdk_run tfsdk_run;             /* kernel.h */
typedef struct tfsdk_ctx tfsdk_ctx;             /* emit.h */
typedef struct tfsdk_gradcall tfsdk_gradcall;   /* emit.h */
typedef struct tfsdk_rewriting tfsdk_rewriting; /* emit.h */

enum tfsdk_op_flag {
  TFSDK_OP_STATEFUL = 1,    /* reads or writes state: never folded, merged or reordered */
  TFSDK_OP_RANDOM = 2,      /* draws random numbers: has the attributes `seed` and `seed2` */
  TFSDK_OP_EFFECT = 4,      /* has an effect outside its outputs: printing, files, asserting */
  TFSDK_OP_COMMUTATIVE = 8, /* the inputs may be swapped */
  TFSDK_OP_VIEW = 16,       /* output 0 is input 0's data under another shape; needs no kernel */
  /* Broadcasting, element by element: may be fused. Kernels are then called on pieces of tensors, on
   * any thread; they give an element the same bits wherever it lies in a piece, and ask the host for
   * nothing but par_for, forward and node_name. Several of them may run at once on one state. */
  TFSDK_OP_ELEMENTWISE = 32,
  TFSDK_OP_PLACEHOLDER = 64, /* must be fed */
  /* The value is the TENSOR attribute `value`; the shape rule sees it as value[0], without an
     input. */
  TFSDK_OP_CONSTANT = 128,
  /* Every kernel of the op makes the outputs itself, by forward, var_read or alloc_out: the host
   * gives them no memory beforehand. */
  TFSDK_OP_OWN_OUTPUTS = 256,
  /* The reference kernel touches no element of a tensor or variable but in HOST arguments: it
   * passes tensors on (forward, forward_attr, var_read, var_assign) or tells shapes. So it runs on
   * every device, and values stay where they are: a variable lives where it was assigned. */
  TFSDK_OP_ANY_DEVICE = 512
};

/* See the head of this file for an example. Names: third parties' ops are "vendor.Op"; names
 * without a dot are the project's, and TensorFlow's wherever it has an op of that meaning. */
struct tfsdk_opdef {
  uint32_t struct_size;
  uint16_t since; /* version of the op's meaning; 1 */
  uint16_t arg_size, attr_size, reserved0;
  uint32_t flags; /* TFSDK_OP_* */
  const char *name, *summary;
  const char *doc; /* Markdown: meaning, formula, its source, errors */
  const tfsdk_arg *in, *out;
  const tfsdk_attrdef *attr;
  uint16_t n_in, n_out, n_attr, reserved1;
  uint64_t const_in;   /* bit i: the shape rule wants the VALUE of input i */
  uint64_t grad_in;    /* bit i: the gradient reads input i (of a list input: the whole list) */
  uint64_t grad_out;   /* bit i: the gradient reads output i */
  uint64_t grad_shape; /* bit i: the gradient reads dtype and shape of input i, not its data */
  const int8_t
      *may_alias; /* per output: the input whose memory it may take over, -1 none; or NULL */
  tfsdk_status *(*infer)(tfsdk_infer *c);
  /* The plain kernel on the host, for every dtype that the record allows: the fallback of the CPU
   * and the oracle of all other kernels. May be NULL for VIEW, PLACEHOLDER, or where only devices
   * can. */
  tfsdk_status *(*reference)(void *state, tfsdk_run *r);
  /* Emits the ops of the gradient. Exactly one of grad and no_grad_reason is set. */
  tfsdk_status *(*grad)(tfsdk_ctx *c, tfsdk_gradcall *g);
  const char *no_grad_reason; /* "integers", "a step function: zero almost everywhere" */
  /* NULL-ended: inputs and attributes that the op accepts, for docs, tests and benchmarks. The
   * inputs, separated by ';', then '|' and the attributes, separated by ';': "float32[2,3] ;
   * int32{0,1} | keep_dims=true" float32[2,3]        random numbers in (-2, 2), integers in -5..5,
   * no value twice in a float tensor T[2,3](0.1,2)       T: every type that the record allows in
   * turn; random numbers in that range int32{0,1}          a vector with these values;
   * int32{{1,2},{3,4}} a matrix;  int32(7) a scalar [a ; b]             a list input;  -  an
   * optional input that is absent var:T[2,3]          a variable of that type with random content
   * (a resource input) Attribute values as in tfsdk_attrdef.dflt. A sample starting with "nograd "
   * is not used for the gradient check (points where the op has a kink). */
  const char *const *samples;
  /* A cheaper way to compute a node, asked for while a plan is made; may be NULL. Emits ops and
   * sets the outputs (tfsdk_set_rewritten), or sets nothing: the node stays. See emit.h. */
  tfsdk_status *(*rewrite)(tfsdk_ctx *c, tfsdk_rewriting *w);
};

#define TFSDK_OP_HEAD(name_, summary_)                                                             \
  .struct_size = (uint32_t)sizeof(tfsdk_opdef), .since = 1,                                        \
  .arg_size = (uint16_t)sizeof(tfsdk_arg), .attr_size = (uint16_t)sizeof(tfsdk_attrdef),           \
  .name = name_, .summary = summary_

#define TFSDK_COUNT(array) ((uint16_t)(sizeof(array) / sizeof((array)[0])))

#ifdef __cplusplus
}
#endif
#endif
