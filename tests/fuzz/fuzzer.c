/* Driver: libFuzzer. Half of the inputs get their checksums set right. */
#include <stdint.h>
#include <stdlib.h>

#include "target.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned int seed);

static target_place *place;
static void clean(void) { (void)target_close(place); }

/* The plugins are loaded here: libFuzzer counts the code that it knows of before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  place = target_open();
  atexit(clean);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  target_one(place, data, n);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned int seed) {
  n = LLVMFuzzerMutate(data, n, max);
  if (seed & 1) target_seal(data, n);
  return n;
}
