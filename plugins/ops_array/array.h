/* array.h - what the ops of this folder share: moving elements, reading shape arguments, index
 * checks.
 *
 * Most ops here only move elements. They describe *what comes next in the output* as a list of rows
 * of one input ("from element `first` on, every `stride`-th, n of them"), and the sink writes them:
 * one memcpy per contiguous run for types of fixed size, two passes (count the bytes, then write)
 * for strings. So a kernel has no code per type, and strings come for free:
 *
 *     static void write(array_sink *s, const void *user) {        // y = x reversed
 *       const tfsdk_run *r = (const tfsdk_run *)user;
 *       array_put(s, &r->in[0], r->in[0].n_elem - 1, -1, r->in[0].n_elem);
 *     }
 *     ... return array_write(r, 0, write, r);
 */
#ifndef OPS_ARRAY_ARRAY_H
#define OPS_ARRAY_ARRAY_H

#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* ---------------------------------------------------------------------------------- schema text */

#define ARRAY_SHAPE_ARG   (TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST) /* shapes, axes, sizes */
#define ARRAY_INDEX_TYPES "dtype{int32,int64}"
#define ARRAY_REAL_TYPES                                                                           \
  "dtype{float32,float64,float16,bfloat16,int8,int16,int32,int64,uint8,uint16,uint32,uint64}"
#define ARRAY_NUMBER_TYPES                                                                         \
  "dtype{float32,float64,float16,bfloat16,int8,int16,int32,int64,uint8,uint16,uint32,uint64,"      \
  "complex64,complex128}"
#define ARRAY_NUMBER_TYPES_AND_BOOL                                                                \
  "dtype{float32,float64,float16,bfloat16,int8,int16,int32,int64,uint8,uint16,uint32,uint64,"      \
  "complex64,complex128,bool}"
#define ARRAY_FLOAT_TYPES "dtype{float32,float64,float16,bfloat16}"

/* The argument part of a record. */
#define ARRAY_SCHEMA(in_, out_, attr_)                                                             \
  .in = in_, .out = out_, .attr = attr_, .n_in = TFSDK_COUNT(in_), .n_out = TFSDK_COUNT(out_),     \
  .n_attr = TFSDK_COUNT(attr_)

/* ---------------------------------------------------------------------------------- shape rules */

/* Every context (infer, run, gradient) begins with its host: what a check needs that serves them
 * all. */
typedef struct array_host {
  const tfsdk_host *host;
} array_host;
#define array_host_of(context) ((const array_host *)(const void *)&(context)->host)

/* The value of flat input i, or NULL while it is not known. */
static inline const tfsdk_view *array_value(const tfsdk_infer *c, uint32_t i) {
  return c->value != NULL && i < c->n_in ? c->value[i] : NULL;
}
/* a * b and a + b of extents that are not negative; an overflow is an error that says `what`. */
tfsdk_status *array_mul(const tfsdk_infer *c, int64_t a, int64_t b, const char *what, int64_t *out);
tfsdk_status *array_add(const tfsdk_infer *c, int64_t a, int64_t b, const char *what, int64_t *out);
/* The shape said by flat input i, a vector of extents. Extents must not be negative. With the value
 * unknown: of known rank if the vector's length is known, else unknown. */
tfsdk_status *array_shape_arg(const tfsdk_infer *c, uint32_t i, const char *what, tfsdk_shape *out);
/* Reads flat input i as a vector of exactly n integers; *known = 0 while the value is unknown. */
tfsdk_status *array_ints_arg(const tfsdk_infer *c, uint32_t i, const char *what, int64_t n,
                             int64_t *out, int *known);
/* The axis said by scalar input i for a tensor of that rank. *out = -1 while value or rank is
 * unknown. */
tfsdk_status *array_axis_arg(const tfsdk_infer *c, uint32_t i, int32_t rank, int32_t *out);
/* An input must have rank 0 (TensorFlow also lets a vector of one element pass). */
tfsdk_status *array_scalar_arg(const tfsdk_infer *c, uint32_t i);
/* The product of dim[from..to); -1 if one is unknown. */
int64_t array_extent(const int64_t *dim, int32_t from, int32_t to);

/* ------------------------------------------------------------------------------- moving elements
 */

typedef struct array_sink {
  size_t size;      /* bytes of an element; 0 for strings */
  char *at;         /* where the next element's bytes go; NULL while string bytes are counted */
  uint64_t *offset; /* strings: where the next offset goes */
  uint64_t bytes;   /* strings: bytes so far */
} array_sink;

typedef void array_write_fn(array_sink *s, const void *user);

/* Appends elements first, first + stride, ... (n of them) of `from`. */
void array_put(array_sink *s, const tfsdk_view *from, int64_t first, int64_t stride, int64_t n);
/* Appends n elements of zero bits, or empty strings. */
void array_put_zeros(array_sink *s, int64_t n);
/* Fills output o by calling fn (twice for strings); fn must append exactly as many elements as the
 * output has. Its shape must be known: from the rule or, for fixed sizes, from alloc_out. */
tfsdk_status *array_write(tfsdk_run *r, uint32_t o, array_write_fn *fn, const void *user);
/* Gives output o its memory, unless the shape rule could tell that shape already. Not for strings.
 */
tfsdk_status *array_alloc(tfsdk_run *r, uint32_t o, uint32_t rank, const int64_t *dim);
/* Like array_write, giving the output its shape first. */
tfsdk_status *array_write_as(tfsdk_run *r, uint32_t o, uint32_t rank, const int64_t *dim,
                             array_write_fn *fn, const void *user);

/* Positions in a tensor, in row-major order of `dim`: first + sum of index[k] * stride[k]. */
typedef struct array_walk {
  int32_t rank;
  int64_t first;
  int64_t dim[2 * TFSDK_MAX_RANK], stride[2 * TFSDK_MAX_RANK];
} array_walk;

/* Adds an axis inside all present ones. */
static inline void array_walk_axis(array_walk *w, int64_t dim, int64_t stride) {
  w->dim[w->rank] = dim;
  w->stride[w->rank++] = stride;
}
/* Row-major strides of a shape, in elements. */
void array_strides(const int64_t *dim, int32_t rank, int64_t *out);
typedef void array_row_fn(void *user, int64_t first, int64_t stride, int64_t n);
/* Calls fn for one innermost row after another; axes that lie together in memory are joined before.
 */
void array_walk_rows(const array_walk *w, array_row_fn *fn, void *user);
/* Appends all positions of a walk through `from`. */
void array_put_walk(array_sink *s, const tfsdk_view *from, const array_walk *w);
/* Output 0 is a walk through input 0: the whole kernel of transpose, slice, tile ... */
tfsdk_status *array_copy_walk(tfsdk_run *r, uint32_t i, uint32_t o, const array_walk *w);
/* Output 0 is input 0 with the axes of the bit set turned round. */
tfsdk_status *array_reverse(tfsdk_run *r, uint32_t axes);
/* Writes consecutive elements of `src` to the positions of a walk through `dst` (not for strings).
 */
void array_scatter_walk(void *dst, size_t size, const array_walk *w, const void *src);

/* Copies n elements, of a given size, with strides in elements. */
void array_move(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, size_t size,
                int64_t n);

/* Sets n elements to a number (complex: real part; bool: 0 or 1). Not for strings. */
void array_fill(void *data, int32_t dtype, double value, int64_t n);
/* Writes the extents of v to an int32 or int64 vector; an extent that does not fit is an error. */
tfsdk_status *array_write_shape(const tfsdk_run *r, const tfsdk_view *v, const tfsdk_view *out);
/* Writes element i of an integer vector of any index type. */
static inline void array_set_index(const tfsdk_view *v, int64_t i, int64_t value) {
  if (v->dtype == TFSDK_INT64)
    ((int64_t *)v->data)[i] = value;
  else
    ((int32_t *)v->data)[i] = (int32_t)value;
}

/* ------------------------------------------------------------------------------------ index checks
 */

/* The error "index I at position P is out of range [0, N)", with the argument's name. */
tfsdk_status *array_bad_index(const tfsdk_run *r, const char *what, int64_t index, int64_t position,
                              int64_t limit);
/* Element i of an int32 or int64 view. */
static inline int64_t array_index(const tfsdk_view *v, int64_t i) {
  return v->dtype == TFSDK_INT32 ? ((const int32_t *)v->data)[i] : tfsdk_view_int(v, i);
}
/* Every element of an index view must lie in [0, limit). */
tfsdk_status *array_check_indices(const tfsdk_run *r, uint32_t i, const char *what, int64_t limit);

/* ---------------------------------------------------------------------------------- for gradients
 */

/* The shape of v as an integer vector: a constant when it is known, else emitted. */
tfsdk_val array_shape_of(tfsdk_ctx *c, tfsdk_val v, int32_t dtype);
/* The same, always of that type. */
tfsdk_val array_emit_shape(tfsdk_ctx *c, tfsdk_val v, int32_t dtype);
/* A vector of that integer type. */
tfsdk_val array_int_const(tfsdk_ctx *c, int32_t dtype, const int64_t *values, uint32_t n);
/* dy under the shape of x. */
tfsdk_val array_reshape_like(tfsdk_ctx *c, tfsdk_val dy, tfsdk_val x);
/* The gradient of every op that only renames axes: dx 0 = dy under input 0's shape. */
tfsdk_status *array_grad_reshape(tfsdk_ctx *c, tfsdk_gradcall *g);
/* The gradient of an op whose outputs are equal pieces of input i: joins their gradients with `op`,
 * given `axis` as last input if it is a value, else the attribute axis of the node. Missing ones
 * are zeros. */
tfsdk_status *array_grad_pieces(tfsdk_ctx *c, tfsdk_gradcall *g, uint32_t i, const char *op,
                                tfsdk_val axis);

#endif
