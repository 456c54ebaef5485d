/* store_internal.h - what store.c and read.c share. The lock is held by the callers. */
#ifndef TFSDK_BOARD_STORE_INTERNAL_H
#define TFSDK_BOARD_STORE_INTERNAL_H

#include "store.h"

/* Room for one more element of a list that has n, or NULL. */
void *store_grow(store *s, void *list, size_t n, size_t size);
char *store_copy(store *s, const char *from, size_t n);
/* Found or made; NULL: memory is out. */
run *store_add_run(store *s, const char *name, size_t n);
series *store_add_series(store *s, run *r, series_kind kind, const char *tag);
void store_add_point(store *s, series *x, int64_t step, double wall, double value);
void store_add_place(store *s, series *x, const place *p);
/* The run began anew at a step: what an earlier life wrote from there on goes. */
void store_restart(run *r, int64_t step);

#endif
