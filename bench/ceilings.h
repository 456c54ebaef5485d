/* What the machine can do, measured: the other side of each ratio of `make bench`. */
#ifndef TFSDK_BENCH_CEILINGS_H
#define TFSDK_BENCH_CEILINGS_H

#include <stddef.h>

double bench_now(void); /* seconds, monotonic */
/* The median of `n` values; sorts them. */
double bench_median(double *values, int n);
/* Multiply-adds in float32, GFLOP/s (two operations each), on that many threads. */
double bench_fma_peak(int threads);
/* Copying `bytes` from memory to memory, GB/s read and written together, on that many threads. */
double bench_copy(int threads, size_t bytes);

#endif
