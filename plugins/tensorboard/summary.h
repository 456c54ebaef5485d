/* What the summary ops share: an output that is one serialized Summary, and its values.
 *
 * Summary{value 1*}; Value{tag 1, simple_value 2, image 4, histo 5, audio 6, tensor 8, metadata 9}
 * (tensorflow/core/framework/summary.proto). The bytes are those that TensorFlow 2.21 writes. */
#ifndef TFSDK_TENSORBOARD_SUMMARY_H
#define TFSDK_TENSORBOARD_SUMMARY_H

#include <tfsdk/shape.h>

#include "pb.h"

/* Real types, as TensorFlow's realnumbertype without those that are not there. */
#define SUMMARY_REALS                                                                              \
  "dtype{float32,float64,int32,uint8,int16,int8,int64,bfloat16,uint16,float16,uint32,uint64}"

/* Output 0 becomes the scalar string that `b` holds; frees b. */
static inline tfsdk_status *summary_finish(tfsdk_run *r, pb *b) {
  tfsdk_status *s = NULL;
  if (b->failed) s = TFSDK_FAIL(r, RESOURCE_EXHAUSTED, "no memory for a summary");
  if (s == NULL) s = r->api->alloc_strings(r, 0, 0, NULL, b->n);
  if (s == NULL) {
    uint64_t *at = (uint64_t *)r->out[0].data;
    at[0] = 0;
    at[1] = b->n;
    if (b->n > 0) memcpy(at + 2, b->p, b->n);
  }
  pb_free(b);
  return s;
}

/* The string of a tag input, which must be a scalar. */
static inline tfsdk_status *summary_scalar(const tfsdk_run *r, uint32_t i, const char *what,
                                           const char **out, uint64_t *out_n) {
  if (r->in[i].n_elem != 1)
    return TFSDK_FAIL(r, INVALID_ARGUMENT, "'%s' must be a scalar, not %lld strings", what,
                      (long long)r->in[i].n_elem);
  *out = tfsdk_view_string(&r->in[i], 0, out_n);
  return NULL;
}

/* The tag of the i-th of at most `max` images or clips: "tag/image/2", or "tag/image" if there can
 * be only one. */
static inline void summary_numbered_tag(pb *b, const char *tag, uint64_t n, const char *kind,
                                        int64_t i, int64_t max) {
  char number[24];
  size_t begin = pb_begin(b, 1), digits = 0;
  pb_raw(b, tag, (size_t)n);
  pb_raw(b, kind, strlen(kind));
  if (max > 1) {
    char reversed[20];
    size_t k = 0;
    do reversed[k++] = (char)('0' + i % 10);
    while ((i /= 10) != 0);
    number[digits++] = '/';
    while (k > 0) number[digits++] = reversed[--k];
    pb_raw(b, number, digits);
  }
  pb_end(b, begin);
}

#endif
