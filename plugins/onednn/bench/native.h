/* native.h - oneDNN by itself: layouts, threads and scratch memory as it likes, weights packed
 * beforehand. What none of our kernels can count on, and so the figure to be compared with. */
#ifndef TFSDK_ONEDNN_BENCH_NATIVE_H
#define TFSDK_ONEDNN_BENCH_NATIVE_H

#include "../onednn.h"

typedef struct native native;

/* Groups of one channel where `depthwise`; before, after: of rows and of columns alike. */
typedef struct native_conv_shape {
  int64_t batch, in, in_c, window, out, out_c, stride, before, after;
  int depthwise, kind; /* DN_FORWARD, DN_INPUT, DN_FILTER */
} native_conv_shape;

/* NULL where the library cannot be opened or refuses. */
native *native_conv(int threads, int32_t dtype, const native_conv_shape *s);
native *native_product(int threads, int32_t dtype, int64_t count, int64_t m, int64_t k, int64_t n);
/* One call, on all of its threads. */
void native_run(native *n);
void native_free(native *n);

#endif
