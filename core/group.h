/* A group: element-wise ops that are computed together, so that memory is walked once whatever
 * their number.
 *
 * The group's domain, the shape of all its outputs, is cut into tiles of some thousand elements.
 * For each tile the members' ordinary kernels are called one after another on views of it; what one
 * member hands to another lies in scratch memory that stays in the first-level cache. Nothing is
 * known of the ops but that they work element by element: those of third parties are fused as well
 * as ours. */
#ifndef TFSDK_CORE_GROUP_H
#define TFSDK_CORE_GROUP_H

#include "internal.h"

#define TFSDK__GROUP_INPUTS  8 /* of a member */
#define TFSDK__GROUP_MEMBERS 256
#define TFSDK__GROUP_SCRATCH 64 /* buffers */

enum tfsdk__operand_kind {
  TFSDK__OPERAND_SCRATCH = 1, /* another member's result */
  TFSDK__OPERAND_WHOLE,       /* of the domain's shape */
  TFSDK__OPERAND_SCALAR,
  TFSDK__OPERAND_ROW,    /* the same for every row: [cols] */
  TFSDK__OPERAND_COLUMN, /* one for each row: [rows, 1] */
  TFSDK__OPERAND_SHAPE,  /* of the domain's shape, which is all that is read of it */
  TFSDK__OPERAND_SUPPLY  /* another member's result, for the reduction that the group supplies */
};

typedef struct tfsdk__operand {
  uint8_t kind, size; /* size: bytes of an element */
  uint16_t at;        /* the scratch buffer, or the group's tensor */
  uint16_t spread;    /* ROW and COLUMN: the scratch buffer that they are spread out in */
  int32_t dtype;
} tfsdk__operand;

typedef struct tfsdk__member {
  const tfsdk_kerneldef *kernel;
  void *state;
  const tfsdk_host *host;
  const tfsdk_opdef *op;
  const char *name;
  tfsdk_attrs attr;
  void *device;
  uint32_t n_in;
  uint16_t
      stream; /* the tensor + 1 that the result goes to, past the caches, from `out`; 0: none */
  tfsdk__operand in[TFSDK__GROUP_INPUTS], out;
} tfsdk__member;

struct tfsdk__group {
  int64_t rows, cols; /* the domain; without ROW and COLUMN operands one row */
  int64_t row_length; /* of the domain's last axis: what `finish` counts in */
  uint32_t n_members, n_tensors, n_views;
  bool streams;           /* a member's result is written past the caches */
  int64_t tile;           /* elements */
  uint32_t scratch_bytes; /* of one buffer */
  tfsdk__member *member;
  /* Tensors that are spread over a tile of several rows, so that kernels see equal shapes. */
  tfsdk__operand *spread;
  uint32_t n_spread;
  tfsdk__operand *fetch; /* WHOLE operands that come from memory, if they are large */
  uint32_t n_fetch;
  struct tfsdk__ready *ready;     /* of a domain that is one tile: all its calls prepared */
  const tfsdk__operand *supply;   /* the member's result that a reduction asks for; or NULL */
  void **data;                    /* of the tensors that go in or come out; set before each run */
  _Atomic(tfsdk_status *) *error; /* the first one */
};
typedef struct tfsdk__group tfsdk__group;

/* How an operand of that shape lies in the domain, and the columns that it asks for (0: any);
 * 0 when a group cannot take it. */
int tfsdk__operand_kind(const tfsdk_shape *domain, const tfsdk_shape *operand, int64_t *out_cols);
/* Results of so many bytes are in no cache when the next step reads them: they are written past the
 * caches, which saves reading what they overwrite. */
#define TFSDK__STREAM_BYTES (24u << 20)

/* Chooses tile and scratch sizes; `n_scratch` buffers of elements of at most `size` bytes. */
void tfsdk__group_size(tfsdk__group *g, uint32_t n_scratch, uint32_t size);
/* Prepares the calls of a group whose domain is one tile, so that a run only makes them. */
tfsdk_status *tfsdk__group_prepare(tfsdk_runtime *rt, tfsdk__group *g);
void tfsdk__group_unprepare(tfsdk_runtime *rt, tfsdk__group *g);
/* Rows begin..end, counted along the last axis, on this thread. */
void tfsdk__group_rows(const tfsdk__group *g, int64_t begin, int64_t end);
/* Elements begin..end, on this thread; where those lie that the group supplies (`room` or the
 * group's tensor). */
const void *tfsdk__group_supply(const tfsdk__group *g, int64_t begin, int64_t end, void *room);
/* All of it, on the device's threads. */
void tfsdk__group_run(const tfsdk__group *g, tfsdk__device *d);

#endif
