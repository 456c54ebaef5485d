/* einsum_typed.h - moving between tensors and packed arrays in one computing type. Included with
 * ACC, LOAD, STORE, ADD, NAME(x). A list of labels is walked as an odometer counts; its last
 * label is one run of a load or store. */

/* out[labels of `list`, row-major] = sum over the labels of `summed` of the operand; `run` has
 * room for one run. */
static void NAME(pack)(const nest *e, const side *o, const labels *list, const labels *summed,
                       ACC *run, ACC *out) {
  int32_t last = list->n > 0 ? list->id[list->n - 1] : -1;
  int64_t length = last < 0 ? 1 : e->extent[last], total = count(e, list);
  int64_t sums = count(e, summed), step = last < 0 ? 1 : o->step[last];
  odometer at = {0}, inner = {0}; /* `inner` is back at 0 after each round */
  for (int64_t i = 0; i < total; i += length) {
    for (int64_t j = 0; j < length; j++) out[i + j] = 0;
    for (int64_t s = 0; s < sums; s++) {
      LOAD(o->view->dtype, o->view->data, at.offset + inner.offset, step, length, run);
      for (int64_t j = 0; j < length; j++) out[i + j] = ADD(out[i + j], run[j]);
      advance(e, o, summed, summed->n, &inner);
    }
    advance(e, o, list, list->n - 1, &at);
  }
}

/* Writes a packed array to the places its labels have in the target, repeated along the labels
 * of `repeated`. */
static void NAME(place)(const nest *e, const side *o, const labels *list, const labels *repeated,
                        const ACC *in) {
  int32_t last = list->n > 0 ? list->id[list->n - 1] : -1;
  int64_t length = last < 0 ? 1 : e->extent[last], total = count(e, list);
  int64_t copies = count(e, repeated), step = last < 0 ? 1 : o->step[last];
  odometer at = {0}, inner = {0}; /* `inner` is back at 0 after each round */
  for (int64_t i = 0; i < total; i += length) {
    for (int64_t k = 0; k < copies; k++) {
      STORE(o->view->dtype, o->view->data, at.offset + inner.offset, step, length, in + i);
      advance(e, o, repeated, repeated->n, &inner);
    }
    advance(e, o, list, list->n - 1, &at);
  }
}
#undef ACC
#undef LOAD
#undef STORE
#undef ADD
#undef NAME
