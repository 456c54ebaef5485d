/* batch_space.c - see batch_space.h. */
#include "batch_space.h"

/* Reads what is known; views may be NULL. */
static tfsdk_status *read_blocks(const array_host *c, const tfsdk_attrs *attr, int block_in,
                                 const tfsdk_view *block, const tfsdk_view *border, int32_t m,
                                 array_blocks *out) {
  memset(out, 0, sizeof *out);
  out->m = m;
  out->known_block = block_in < 0 || block != NULL;
  out->known_border = border != NULL;
  for (int32_t i = 0; i < m; i++) {
    out->block[i] = block_in < 0    ? tfsdk_attr_int(attr, "block_size")
                    : block != NULL ? tfsdk_view_int(block, i)
                                    : 1;
    TFSDK_REQUIRE(c, out->block[i] >= 1, "block_shape[%d] = %lld must be at least 1", (int)i,
                  (long long)out->block[i]);
    if (border == NULL) continue;
    out->before[i] = tfsdk_view_int(border, 2 * i);
    out->after[i] = tfsdk_view_int(border, 2 * i + 1);
    TFSDK_REQUIRE(c, out->before[i] >= 0 && out->after[i] >= 0,
                  "paddings and crops must not be negative, but row %d is (%lld, %lld)", (int)i,
                  (long long)out->before[i], (long long)out->after[i]);
  }
  return NULL;
}

tfsdk_status *array_batch_space_infer(tfsdk_infer *c, int to_batch, int block_in,
                                      uint32_t border_in) {
  const tfsdk_shape *x = &c->in[0].shape, *border = &c->in[border_in].shape;
  const char *name = c->op->in[border_in].name;
  int64_t m = block_in < 0 ? 2 : -1, product = 1;
  array_blocks b;
  tfsdk_shape y;
  if (block_in >= 0 && c->in[block_in].shape.rank >= 0) {
    const tfsdk_shape *s = &c->in[block_in].shape;
    if (s->rank != 1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'block_shape' must be a vector, but its shape is %s",
                        tfsdk_shape_text(s).s);
    m = s->dim[0];
  }
  if (border->rank >= 0 && (border->rank != 2 || (border->dim[1] >= 0 && border->dim[1] != 2)))
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'%s' must have the shape [%lld, 2], but it is %s", name,
                      (long long)m, tfsdk_shape_text(border).s);
  if (border->rank == 2)
    TFSDK_TRY(tfsdk_merge_dim(c, m, border->dim[0], "one row of borders for each block axis", &m));
  if (x->rank < 0) return NULL;
  if (m >= x->rank || (block_in < 0 && x->rank != 4))
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "shape %s has no batch axis and %lld spatial axes%s",
                      tfsdk_shape_text(x).s, (long long)m, block_in < 0 ? " and channels" : "");
  c->out[0].shape = tfsdk_shape_of_rank(x->rank);
  if (m < 0) return NULL;
  TFSDK_TRY(read_blocks(array_host_of(c), &c->attr, block_in,
                        block_in < 0 ? NULL : array_value(c, (uint32_t)block_in),
                        array_value(c, border_in), (int32_t)m, &b));
  y = *x;
  for (int32_t i = 0; i < b.m; i++) {
    int64_t *n = &y.dim[i + 1];
    TFSDK_TRY(array_mul(c, product, b.block[i], "block_shape", &product));
    if (!b.known_block || !b.known_border) *n = -1;
    if (*n < 0) continue;
    if (to_batch) {
      TFSDK_TRY(array_add(c, *n, b.before[i], name, n));
      TFSDK_TRY(array_add(c, *n, b.after[i], name, n));
      if (*n % b.block[i] != 0)
        return TFSDK_FAIL(c, INVALID_ARGUMENT,
                          "padded extent %lld of axis %d is no multiple of block %lld",
                          (long long)*n, (int)i + 1, (long long)b.block[i]);
      *n /= b.block[i];
    } else {
      TFSDK_TRY(array_mul(c, *n, b.block[i], "block_shape", n));
      if (b.before[i] > *n || b.after[i] > *n - b.before[i])
        return TFSDK_FAIL(c, INVALID_ARGUMENT, "crops (%lld, %lld) pass extent %lld of axis %d",
                          (long long)b.before[i], (long long)b.after[i], (long long)*n, (int)i + 1);
      *n -= b.before[i] + b.after[i];
    }
  }
  if (!b.known_block)
    y.dim[0] = -1;
  else if (to_batch && y.dim[0] >= 0)
    TFSDK_TRY(array_mul(c, y.dim[0], product, "block_shape", &y.dim[0]));
  else if (y.dim[0] >= 0 && y.dim[0] % product != 0)
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "batch %lld is no multiple of the block's %lld positions",
                      (long long)y.dim[0], (long long)product);
  else if (y.dim[0] >= 0)
    y.dim[0] /= product;
  c->out[0].shape = y;
  return NULL;
}

typedef struct job {
  const tfsdk_view *x;
  array_blocks b;
  int64_t dim[TFSDK_MAX_RANK];    /* of the output */
  int64_t stride[TFSDK_MAX_RANK]; /* of x */
  int64_t product, batch;         /* positions of a block; batch of the image that is not cut */
  int to_batch;
} job;

/* Writes the output below spatial axis i. `at` is the place in x so far. To batch: offset holds the
 * place within the block. From batch: `block` gathers it. */
static void write_axis(array_sink *s, const job *j, int32_t i, int64_t at, int64_t offset,
                       int64_t block) {
  int64_t size = j->b.block[i < j->b.m ? i : 0];
  if (i == j->b.m) {
    int64_t rest = array_extent(j->x->dim, j->b.m + 1, j->x->rank);
    if (!j->to_batch) at += block * j->batch * j->stride[0];
    array_put(s, j->x, at, 1, rest);
    return;
  }
  for (int64_t o = 0; o < j->dim[i + 1]; o++) {
    if (j->to_batch) {
      int64_t below = 1, p, in;
      for (int32_t k = i + 1; k < j->b.m; k++) below *= j->b.block[k];
      p = offset / below % size;
      in = o * size + p - j->b.before[i];
      if (in < 0 || in >= j->x->dim[i + 1])
        array_put_zeros(s, array_extent(j->dim, i + 2, j->x->rank));
      else
        write_axis(s, j, i + 1, at + in * j->stride[i + 1], offset, 0);
    } else {
      int64_t p = o + j->b.before[i];
      write_axis(s, j, i + 1, at + p / size * j->stride[i + 1], 0, block * size + p % size);
    }
  }
}

static void write(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  for (int64_t n = 0; n < j->dim[0]; n++) {
    int64_t b = j->to_batch ? n % j->batch : n;
    write_axis(s, j, 0, b * j->stride[0], j->to_batch ? n / j->batch : 0, 0);
  }
}

tfsdk_status *array_batch_space_run(tfsdk_run *r, int to_batch, int block_in, uint32_t border_in) {
  const tfsdk_view *x = &r->in[0];
  job j;
  memset(&j, 0, sizeof j);
  j.x = x;
  j.to_batch = to_batch;
  TFSDK_TRY(read_blocks(array_host_of(r), &r->attr, block_in,
                        block_in < 0 ? NULL : &r->in[block_in], &r->in[border_in],
                        (int32_t)r->in[border_in].dim[0], &j.b));
  j.product = 1;
  for (int32_t i = 0; i < j.b.m; i++) j.product *= j.b.block[i];
  for (int32_t i = 0; i < x->rank; i++) j.dim[i] = r->out[0].dim[i];
  j.batch = to_batch ? x->dim[0] : j.dim[0];
  array_strides(x->dim, x->rank, j.stride);
  return array_write(r, 0, write, &j);
}

tfsdk_status *array_batch_space_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *opposite) {
  tfsdk_attrval a = tfsdk_a_int("block_size", tfsdk_attr_int(&g->attr, "block_size"));
  int old = tfsdk_attr_find(&g->attr, "block_size") != NULL;
  tfsdk_val in[3];
  in[0] = tfsdk_dy(g, 0);
  for (uint32_t i = 1; i < g->n_in; i++) in[i] = tfsdk_input(g, i);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, opposite, in, g->n_in, &a, old ? 1 : 0));
}
