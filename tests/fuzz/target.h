/* What tries damaged files has two parts: a target gives one file to the library, a driver makes the files. Drivers are
 * libFuzzer (fuzzer.c) and a program of our own that needs no clang (runner.c). */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <tfsdk/tfsdk.h>

/* Does all that can be done with the file: nothing may crash, hang, leak or ask for absurd memory. */
void target_try(tfsdk_runtime *rt, const char *path, const unsigned char *data, size_t n);
/* Counts an answer and releases it; an error has to say something. */
void target_settle(tfsdk_status *s);
extern long target_accepted, target_refused;

/* The runtime, and a folder for the file with what lies beside it. */
typedef struct target_place {
  tfsdk_runtime *rt;
  char folder[64], path[512];
} target_place;
target_place *target_open(void);
void target_one(target_place *p, const unsigned char *data, size_t n);
/* Removes the folder. Returns the count of tensors that are still alive. */
unsigned long long target_close(target_place *p);

/* Sets the checksums of a damaged file right where its frame still stands, so that what lies behind them is tried,
 * too. */
void target_seal(unsigned char *data, size_t n);

#endif
