/* onednn.h - what the kernels share: the library, and a plan that runs one primitive over slices.
 *
 * Threads. A product or a batch of images is cut into units whose number depends on the shapes
 * alone, and the units are spread over a few lanes, which run as pieces of par_for with one OpenMP
 * thread each. So the device's pool and its number of threads rule, nobody spins, and the results
 * are the same to the bit for any number of threads. (OMP_WAIT_POLICY, which would keep waiting
 * threads from spinning, is read while the OpenMP runtime is loaded: too late for us to set.) */
#ifndef TFSDK_ONEDNN_H
#define TFSDK_ONEDNN_H

#include <dnnl.h>
#include <dnnl_debug.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* The functions of the library that are used. It is opened when the first kernel is made: its 40 MB
 * of code and the OpenMP runtime cost nobody anything who does not ask for it. */
#define DN_FUNCTIONS_BOTH(X)                                                                       \
  X(engine_create)                                                                                 \
  X(stream_create)                                                                                 \
  X(stream_destroy)                                                                                \
  X(stream_wait)                                                                                   \
  X(status2str)                                                                                    \
  X(get_effective_cpu_isa)                                                                         \
  X(memory_desc_equal)                                                                             \
  X(memory_desc_get_size)                                                                          \
  X(memory_create)                                                                                 \
  X(memory_destroy)                                                                                \
  X(memory_set_data_handle)                                                                        \
  X(primitive_attr_create)                                                                         \
  X(primitive_attr_set_scratchpad_mode)                                                            \
  X(primitive_attr_set_fpmath_mode)                                                                \
  X(primitive_desc_destroy)                                                                        \
  X(primitive_desc_query_md)                                                                       \
  X(reorder_primitive_desc_create)                                                                 \
  X(primitive_create)                                                                              \
  X(primitive_execute)                                                                             \
  X(primitive_destroy)

/* Descriptions differ between the versions: describe.c alone knows how. A dn_desc belongs to a plan,
 * or is lent. */
#if DNNL_VERSION_MAJOR < 3
typedef const dnnl_memory_desc_t *dn_desc;
#define DN_FUNCTIONS_OF_VERSION(X)                                                                 \
  X(memory_desc_init_by_strides)                                                                   \
  X(memory_desc_init_by_tag)                                                                       \
  X(dilated_convolution_forward_desc_init)                                                         \
  X(dilated_convolution_backward_data_desc_init)                                                   \
  X(dilated_convolution_backward_weights_desc_init)                                                \
  X(pooling_forward_desc_init)                                                                     \
  X(softmax_v2_forward_desc_init)                                                                  \
  X(matmul_desc_init)                                                                              \
  X(primitive_desc_create)
#else
typedef const_dnnl_memory_desc_t dn_desc;
#define DN_FUNCTIONS_OF_VERSION(X)                                                                 \
  X(memory_desc_create_with_strides)                                                               \
  X(memory_desc_create_with_tag)                                                                   \
  X(memory_desc_clone)                                                                             \
  X(memory_desc_destroy)                                                                           \
  X(convolution_forward_primitive_desc_create)                                                     \
  X(convolution_backward_data_primitive_desc_create)                                               \
  X(convolution_backward_weights_primitive_desc_create)                                            \
  X(pooling_forward_primitive_desc_create)                                                         \
  X(softmax_forward_primitive_desc_create)                                                         \
  X(matmul_primitive_desc_create)
#endif
#define DN_FUNCTIONS(X) DN_FUNCTIONS_BOTH(X) DN_FUNCTIONS_OF_VERSION(X)

typedef struct dn_library {
#define DN_MEMBER(name) __typeof__(dnnl_##name) *name;
  DN_FUNCTIONS(DN_MEMBER)
#undef DN_MEMBER
  /* Of the OpenMP runtime below it; both concern the calling thread only. */
  void (*omp_set_num_threads)(int n);
  int (*omp_get_max_threads)(void);
  dnnl_engine_t engine;
  dnnl_primitive_attr_t attr; /* of every primitive: scratchpads are ours, float32 stays float32 */
} dn_library;

/* The library, opened at the first call and kept; NULL, and why in words, when it cannot be used. */
const dn_library *dn_library_get(const char **why);
/* From here to dn_leave the calling thread runs primitives without help from OpenMP. */
int dn_enter(const dn_library *l);
void dn_leave(const dn_library *l, int token);

enum { DN_LANES = 16, DN_OPERANDS = 3, DN_DESCS = 24 };

/* A tensor that a primitive reads or writes. */
typedef struct dn_operand {
  int arg;       /* DNNL_ARG_... */
  int shared;    /* the same for all units: weights */
  int64_t step;  /* bytes from one unit to the next */
  dn_desc plain; /* as it lies in the framework's tensor; of a shared one */
  dn_desc md[2]; /* of a whole unit, of the last one */
  char *base;    /* during a run */
} dn_operand;

typedef struct dn_lane {
  dnnl_stream_t stream;
  dnnl_memory_t memory[2][DN_OPERANDS + 1]; /* the last is the scratchpad */
  dnnl_status_t status;
} dn_lane;

/* One primitive over `units` slices: the state of a kernel. What follows `dtype` is made anew when
 * shapes change. */
typedef struct dn_plan {
  const tfsdk_host *host;
  const dn_library *lib;
  uint32_t flags; /* the kernel's own */
  int32_t dtype;  /* dnnl_f32, dnnl_bf16 */
  /* From here on prepared. `ready`: for an output of shape `out`, which the shapes of the inputs do
   * not always tell. */
  int32_t ready;
  tfsdk_shape out;
  int64_t units, slices; /* unit u is the last of its product when u % slices == slices - 1 */
  int32_t lanes, n_operands, has_tail;
  /* Rows of the output (0: nobody is told that they are finished) of a product, of a unit. */
  int64_t product_rows, unit_rows;
  dnnl_primitive_t primitive[2];
  dn_desc scratch_md[2], own[DN_DESCS];
  int32_t n_own;
  size_t scratch; /* bytes for each lane */
  dn_operand operand[DN_OPERANDS];
  dn_lane lane[DN_LANES];
  /* Where a unit's operand begins, when a step does not say it. */
  int64_t (*offset)(const struct dn_plan *p, int32_t operand, int64_t unit);
  int64_t batch[TFSDK_MAX_RANK], batch_step[DN_OPERANDS][TFSDK_MAX_RANK]; /* for `offset` */
  int32_t batch_rank;
  /* The shared operand in the library's own layout. */
  dnnl_primitive_t reorder;
  dnnl_memory_t plain_memory, packed_memory;
  void *block;
  size_t block_bytes;
  char *packed;
  uint64_t stamp; /* of the content that was packed; 0: none */
} dn_plan;

/* A state, or an error when the library cannot be opened. */
tfsdk_status *dn_create(const tfsdk_kbuild *b, void **out);
void dn_destroy(void *state);
/* Forgets what was prepared. */
void dn_reset(dn_plan *p);
int dn_ready(const dn_plan *p, const tfsdk_run *r);
/* Kernels for bfloat16 refuse where the library would compute it element by element. */
tfsdk_status *dn_supports_bfloat16(int32_t *yes, char *why, size_t why_n);

/* For kernels that are chosen by shape: whether it is one at which oneDNN was measured faster. */
tfsdk_status *dn_supports_faster(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n);

/* Units of `total` rows or images: at most `most`, equally long if that costs few of them. */
int64_t dn_unit_length(int64_t total, int64_t most, int64_t least);

/* Layouts: by strides in elements, by one of the library's names; DN_ANY: as the library likes. */
tfsdk_status *dn_strides(dn_plan *p, const tfsdk_run *r, int rank, const dnnl_dims_t dim,
                         const dnnl_dims_t stride, dn_desc *out);
tfsdk_status *dn_layout(dn_plan *p, const tfsdk_run *r, int rank, const dnnl_dims_t dim,
                        dnnl_format_tag_t tag, dn_desc *out);
#define DN_ANY dnnl_format_tag_any
/* A copy of a layout that the library lends. */
tfsdk_status *dn_keep(dn_plan *p, const tfsdk_run *r, dn_desc lent, dn_desc *out);
void dn_drop_descs(dn_plan *p);

typedef struct dn_window { /* of images: rows, columns */
  dnnl_dims_t window, stride, dilate, before, after;
} dn_window;
enum { DN_FORWARD, DN_INPUT, DN_FILTER };
/* `forward_f`: the filter of the forward map, of x's type; a gradient f may be float32 beside it. */
dnnl_status_t dn_describe_conv(const dn_library *l, int kind, dn_desc x, dn_desc f, dn_desc y,
                               dn_desc forward_f, const dn_window *w, dnnl_primitive_desc_t *out);
dnnl_status_t dn_describe_pool(const dn_library *l, dnnl_alg_kind_t kind, dn_desc x, dn_desc y,
                               const dn_window *w, dnnl_primitive_desc_t *out);
dnnl_status_t dn_describe_softmax(const dn_library *l, dn_desc x, int axis,
                                  dnnl_primitive_desc_t *out);
dnnl_status_t dn_describe_product(const dn_library *l, dn_desc a, dn_desc b, dn_desc c,
                                  dnnl_primitive_desc_t *out);
/* Makes the primitive of a description (and releases that); `tail` says which. Sets md of each
 * operand as the library chose it. */
tfsdk_status *dn_make(dn_plan *p, const tfsdk_run *r, dnnl_status_t described,
                      dnnl_primitive_desc_t pd, int tail);
/* A reorder between `plain` and md[0] of an operand, to the library's layout or back; and its run. */
tfsdk_status *dn_make_reorder(dn_plan *p, const tfsdk_run *r, const dn_operand *o, int to_packed);
tfsdk_status *dn_reorder(dn_plan *p, const tfsdk_run *r, char *plain, char *packed, int to_packed);
/* Makes lanes and, where a shared input is wanted in another layout, its reorder. */
tfsdk_status *dn_finish(dn_plan *p, const tfsdk_run *r);
/* Calls the run's `finish` for each row of output 0: nothing was to be computed. */
void dn_finish_rows(tfsdk_run *r);
/* Runs all units; operands have their bases. `stamp` is the shared input's: while it stays, what
 * was packed is used again. */
tfsdk_status *dn_run(dn_plan *p, tfsdk_run *r, uint64_t stamp);
/* An error that names op, call, status and shapes. */
tfsdk_status *dn_fail(const dn_plan *p, const tfsdk_run *r, const char *what, dnnl_status_t s);

#define DN_TRY(p, r, what, call)                                                                   \
  do {                                                                                             \
    dnnl_status_t dn_s_ = (call);                                                                  \
    if (dn_s_ != dnnl_success) return dn_fail(p, r, what, dn_s_);                                  \
  } while (0)

static const int32_t dn_float32[] = {TFSDK_FLOAT32, 0}, dn_bfloat16[] = {TFSDK_BFLOAT16, 0};
static const tfsdk_where dn_where_float32[] = {{"T", dn_float32}};
static const tfsdk_where dn_where_bfloat16[] = {{"T", dn_bfloat16}};

#define DN_HEAD(op_, priority_, where_, traits_, prepare_, compute_)                               \
  TFSDK_KERNEL_HEAD(op_, "cpu", priority_),                                                        \
      .label = "onednn", .where = where_, .n_where = 1, .traits = TFSDK_KERNEL_SERIAL | (traits_), \
      .create = dn_create, .destroy = dn_destroy, .prepare = prepare_, .compute = compute_
#define DN_FINISHES TFSDK_KERNEL_FINISHES
/* Below the CPU backend's own kernels (100): for those who prefer them. */
#define DN_KERNEL(op_, traits_, prepare_, compute_)                                                \
  DN_HEAD(op_, 50, dn_where_float32, traits_, prepare_, compute_)
/* Above them: for the shapes at which it is faster, as `supports` knows. */
#define DN_KERNEL_FASTER(op_, traits_, prepare_, compute_)                                         \
  DN_HEAD(op_, 200, dn_where_float32, (traits_) | TFSDK_KERNEL_BY_SHAPE, prepare_, compute_)
#define DN_KERNEL_BFLOAT16(op_, traits_, prepare_, compute_)                                       \
  DN_HEAD(op_, 200, dn_where_bfloat16, traits_, prepare_, compute_)

#endif
