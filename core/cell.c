/* Cells: the mutable values behind variables, and the sets of them that sessions keep.
 *
 * A cell's value is an immutable tensor. Assigning swaps it; writing in place happens only while
 * nobody else holds it, so whoever has read a value keeps what was read. */
#include "internal.h"

tfsdk_status *tfsdk__cell_create(tfsdk_runtime *rt, const char *name, int32_t dtype,
                                 const tfsdk_shape *shape, tfsdk__cell **out) {
  tfsdk__cell *c = tfsdk__zalloc(rt, sizeof *c);
  if (c != NULL) c->name = tfsdk__strdup(rt, name);
  if (c == NULL || c->name == NULL) {
    tfsdk__free(rt, c);
    return TFSDK__NOMEM(rt);
  }
  atomic_init(&c->refs, 1);
  pthread_mutex_init(&c->lock, NULL);
  c->rt = rt;
  c->dtype = dtype;
  c->shape = *shape;
  *out = c;
  return NULL;
}

void tfsdk__cell_release(tfsdk__cell *c) {
  if (c == NULL || atomic_fetch_sub(&c->refs, 1) != 1) return;
  tfsdk_runtime *rt = c->rt;
  tfsdk_tensor *value = c->value;
  pthread_mutex_destroy(&c->lock);
  tfsdk__free(rt, c->name);
  tfsdk__free(rt, c);
  tfsdk_tensor_release(value); /* last: it may hold the runtime's last reference but ours */
}

tfsdk_status *tfsdk__cell_read(tfsdk__cell *c, tfsdk_tensor **out) {
  pthread_mutex_lock(&c->lock);
  *out = c->value ? tfsdk_tensor_retain(c->value) : NULL;
  pthread_mutex_unlock(&c->lock);
  if (*out == NULL)
    return tfsdk__status_make(TFSDK_FAILED_PRECONDITION,
                              "variable '%s' has no value yet: run its initializer first", c->name);
  return NULL;
}

tfsdk_status *tfsdk__cell_assign(tfsdk__cell *c, tfsdk_tensor *value) {
  bool fits = c->shape.rank < 0 || c->shape.rank == value->rank;
  for (int32_t i = 0; fits && i < c->shape.rank; i++)
    fits = c->shape.dim[i] < 0 || c->shape.dim[i] == value->dim[i];
  if (value->dtype != c->dtype || !fits) {
    tfsdk_typed_shape given;
    tfsdk__tensor_typed_shape(value, &given);
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "variable '%s' is %s %s; it cannot take a value of %s %s", c->name,
                              tfsdk_dtype_name(c->dtype), tfsdk_shape_text(&c->shape).s,
                              tfsdk_dtype_name(value->dtype), tfsdk_shape_text(&given.shape).s);
  }
  pthread_mutex_lock(&c->lock);
  tfsdk_tensor *old = c->value;
  c->value = tfsdk_tensor_retain(value);
  pthread_mutex_unlock(&c->lock);
  tfsdk_tensor_release(old);
  return NULL;
}

tfsdk_status *tfsdk__cells_get(tfsdk_runtime *rt, tfsdk__cells *c, const char *name, int32_t dtype,
                               const tfsdk_shape *shape, tfsdk__cell **out) {
  tfsdk_status *s = NULL;
  pthread_mutex_lock(&c->lock);
  tfsdk__cell *cell = tfsdk__map_get(&c->by_name, name);
  if (cell == NULL) {
    s = tfsdk__cell_create(rt, name, dtype, shape, &cell);
    if (s == NULL && !tfsdk__map_put(rt, &c->by_name, cell->name, cell)) {
      tfsdk__cell_release(cell);
      s = TFSDK__NOMEM(rt);
    }
  } else if (cell->dtype != dtype) {
    s = tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "variable '%s' is %s here and %s elsewhere",
                           name, tfsdk_dtype_name(dtype), tfsdk_dtype_name(cell->dtype));
  }
  pthread_mutex_unlock(&c->lock);
  if (s == NULL) *out = cell;
  return s;
}

void tfsdk__cells_deinit(tfsdk_runtime *rt, tfsdk__cells *c) {
  for (size_t i = 0; i < c->by_name.cap; i++)
    if (c->by_name.slot[i].key != NULL) tfsdk__cell_release(c->by_name.slot[i].value);
  tfsdk__map_deinit(rt, &c->by_name);
  pthread_mutex_destroy(&c->lock);
}
