/* tfsdk/kernel.h - a kernel: one way to compute one op on one type of device.
 *
 * Anyone may add kernels to anyone's op. Of the kernels that match device and dtypes and whose
 * `supports` agrees, the one of highest priority runs; the op's reference kernel has priority 0 on
 * the device "cpu". Two plugins with the same priority for the same case are refused when the
 * second loads.
 *
 *     static tfsdk_status *compute(void *state, tfsdk_run *r) {      // a faster acme.Square
 *       const float *x = (const float *)r->in[0].data;
 *       float *y = (float *)r->out[0].data;
 *       (void)state;
 *       for (int64_t i = 0; i < r->out[0].n_elem; i++) y[i] = x[i] * x[i];
 *       return NULL;
 *     }
 *     static const tfsdk_kerneldef kernels[] = {
 *         {TFSDK_KERNEL_HEAD("acme.Square", "cpu", 100), .compute = compute}};
 */
#ifndef TFSDK_KERNEL_H
#define TFSDK_KERNEL_H

#include <tfsdk/op.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void tfsdk_range_fn(void *user, int64_t begin, int64_t end);

/* What a kernel can ask of the host while it runs. */
typedef struct tfsdk_run_api {
  uint32_t struct_size, reserved;
  /* Gives output i its memory, when the shape rule could not tell its shape. Not for strings. */
  tfsdk_status *(*alloc_out)(tfsdk_run *r, uint32_t i, uint32_t rank, const int64_t *dim);
  /* Gives string output i memory for that shape and `bytes` of text. The kernel fills the offsets
   * and the bytes (see tfsdk_view_string). Each string output must be given its memory in this way.
   */
  tfsdk_status *(*alloc_strings)(tfsdk_run *r, uint32_t i, uint32_t rank, const int64_t *dim,
                                 uint64_t bytes);
  /* Makes output o the very tensor that input i is, under the inferred shape: no copy. */
  tfsdk_status *(*forward)(tfsdk_run *r, uint32_t i, uint32_t o);
  /* Makes output o the tensor of a TENSOR attribute. */
  tfsdk_status *(*forward_attr)(tfsdk_run *r, const tfsdk_attrval *a, uint32_t o);
  /* Memory of the kernel's device until compute returns (or, on a stream, until the work is done).
   */
  tfsdk_status *(*workspace)(tfsdk_run *r, size_t bytes, void **out);
  /* Cuts 0..n into ranges of at least `grain` and calls fn for each, on the threads of the pool and
   * of the caller; returns when all are done. Must not be nested. */
  void (*par_for)(tfsdk_run *r, int64_t n, int64_t grain, tfsdk_range_fn *fn, void *user);
  /* The key of this node's stream of random numbers and the first of `blocks` unused counters of
   * Philox 4x32-10 (philox.h). The same seed gives the same numbers in graph and eager mode. */
  tfsdk_status *(*rng)(tfsdk_run *r, uint64_t blocks, uint32_t key[2], uint64_t *counter);
  int32_t (*cancelled)(tfsdk_run *r); /* nonzero: give up soon */

  /* Variables. `i` is a resource input. */
  /* Lends the present value. FAILED_PRECONDITION naming the variable when it has none. */
  tfsdk_status *(*var_view)(tfsdk_run *r, uint32_t i, tfsdk_view *out);
  /* Lends the value for writing in place; whoever holds the old value keeps it unchanged (it is
   * copied first if anybody does). */
  tfsdk_status *(*var_mutable)(tfsdk_run *r, uint32_t i, tfsdk_view *out);
  /* Makes output o the present value, without a copy. */
  tfsdk_status *(*var_read)(tfsdk_run *r, uint32_t i, uint32_t o);
  /* Makes input `value` the variable's value, without a copy. */
  tfsdk_status *(*var_assign)(tfsdk_run *r, uint32_t i, uint32_t value);
  int32_t (*var_initialized)(tfsdk_run *r, uint32_t i);
  /* Makes output o the handle of the variable called `name`, made here if there is none yet. */
  tfsdk_status *(*var_handle)(tfsdk_run *r, const char *name, int32_t dtype,
                              const tfsdk_shape *shape, uint32_t o);
  /* Writes a line to the runtime's log, or to standard error where the user asked for printing. */
  void (*print)(tfsdk_run *r, const char *line);
  /* "dense/MatMul", or the op's name in eager mode: for messages. */
  const char *(*node_name)(tfsdk_run *r);
  /* For kernels with the trait FINISHES: rows begin..end of output 0 (a row is its last axis; a
   * vector or scalar is one row) hold their final values. Called exactly once for each row, from
   * whatever thread computed it and as soon as it did: what a plan computes from them element by
   * element (bias, activation, residual sum) happens in this call, while they are in the cache, and
   * may overwrite them. Does nothing when nothing follows. */
  void (*finish)(tfsdk_run *r, int64_t begin, int64_t end);
  /* For kernels with the trait SUPPLIED, when input 0 has the flag TFSDK_VIEW_SUPPLIED: elements
   * begin..end of it (at least one, counted in row-major order) are computed now, on the calling
   * thread. Returns where they lie: in `room`, which has space for them, until the kernel uses it
   * otherwise; or in a tensor that has them all, at element `begin`, until the call ends. The same
   * at every call. A kernel asks exactly once for each element, from any thread, in any order. So a
   * plan computes a chain of element-wise ops and the reduction at its end in one walk over memory. */
  const void *(*supply)(tfsdk_run *r, int64_t begin, int64_t end, void *room);
} tfsdk_run_api;

/* What a kernel sees. Views and attributes are borrowed until compute returns. Outputs whose shape
 * the rule told have their memory already; its content is undefined. */
struct tfsdk_run {
  const tfsdk_host *host;
  const tfsdk_run_api *api;
  const tfsdk_opdef *op;
  uint32_t n_in, n_out;
  const tfsdk_view *in; /* a list input's members one after another */
  tfsdk_view *out;
  tfsdk_attrs attr;
  void *stream; /* the device's native stream; NULL on the CPU */
  void *device; /* what the device's open() returned */
};

/* What is known of a node: for `supports` and `create`. */
typedef struct tfsdk_kbuild {
  const tfsdk_host *host;
  const tfsdk_opdef *op;
  tfsdk_attrs attr;
  const int32_t *in_dtype, *out_dtype;
  uint32_t n_in, n_out;
  void *device;
  /* For `supports` of a kernel with the trait BY_SHAPE: the inputs' shapes, whole; of an absent one
   * the rank is -1. NULL elsewhere. */
  const tfsdk_shape *in_shape;
} tfsdk_kbuild;

/* The dtypes of attribute `attr` that the kernel takes; `oneof` ends with 0. */
typedef struct tfsdk_where {
  const char *attr;
  const int32_t *oneof;
} tfsdk_where;

enum tfsdk_kernel_trait {
  TFSDK_KERNEL_SERIAL = 1,       /* one call at a time per state */
  TFSDK_KERNEL_ASYNC = 2,        /* enqueues on `stream` and returns */
  TFSDK_KERNEL_CAPTURE_SAFE = 4, /* may be captured into a device graph */
  TFSDK_KERNEL_NONDETERMINISTIC = 8,
  TFSDK_KERNEL_FINISHES = 16, /* calls finish for every row of output 0 */
  TFSDK_KERNEL_SUPPLIED = 32, /* can ask supply for the elements of input 0 */
  /* Only for some shapes: `supports` reads in_shape and is asked for each combination of shapes. The
   * same answer for the same shapes, so that graph and eager mode choose alike. */
  TFSDK_KERNEL_BY_SHAPE = 64
};

struct tfsdk_kerneldef {
  uint32_t struct_size;
  int32_t priority; /* reference 0, device kernels 100, specialised libraries 200 */
  uint32_t traits;  /* TFSDK_KERNEL_* */
  uint32_t n_where;
  const char *op, *device, *label; /* label: what `explain` shows: "openblas" */
  const tfsdk_where *where;        /* NULL: every dtype that the op allows */
  uint64_t host_in, host_out; /* bit i: input (output) i is in host memory (as with ARG_HOST) */
  /* Says whether the kernel can do this node; NULL: it can. Writes a reason of less than why_n
   * bytes when it cannot. Any thread, concurrent. */
  tfsdk_status *(*supports)(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n);
  /* Makes a state from attributes and dtypes; NULL: none. */
  tfsdk_status *(*create)(const tfsdk_kbuild *b, void **out_state);
  /* Shapes are known, data is not: descriptors and plans. Called again when shapes change. */
  tfsdk_status *(*prepare)(void *state, tfsdk_run *r);
  /* Computes, or enqueues on the stream. Any thread; concurrent unless SERIAL. */
  tfsdk_status *(*compute)(void *state, tfsdk_run *r);
  void (*destroy)(void *state);
};

#define TFSDK_KERNEL_HEAD(op_, device_, priority_)                                                 \
  .struct_size = (uint32_t)sizeof(tfsdk_kerneldef), .priority = priority_, .op = op_,              \
  .device = device_

#ifdef __cplusplus
}
#endif
#endif
