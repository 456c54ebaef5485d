/* Target: a file of records, read to its end. FUZZ_ZLIB: one that begins as a zlib stream is read as one. */
#include "target.h"

void target_try(tfsdk_runtime *rt, const char *path, const unsigned char *data, size_t n) {
  tfsdk_dataset *d = NULL;
  tfsdk_iterator *it = NULL;
  tfsdk_tensor *out[64];
  int32_t end = 0;
  tfsdk_attrval zlib = tfsdk_a_string("compression_type", "ZLIB");
  size_t n_options = FUZZ_ZLIB && n > 0 && data[0] == 0x78;
  tfsdk_status *s = tfsdk_dataset_from_file(rt, path, FUZZ_READER, &zlib, n_options, &d);
  uint32_t width = s == NULL ? tfsdk_dataset_components(d) : 0;
  if (s == NULL && width <= 64) s = tfsdk_iterator_create(d, &it);
  for (long k = 0; it != NULL && s == NULL && k < 100000; k++) {
    s = tfsdk_iterator_next(it, out, &end);
    if (s != NULL || end) break;
    for (uint32_t i = 0; i < width; i++) {
      tfsdk_view view;
      volatile unsigned char sum = 0;
      target_settle(tfsdk_tensor_view(out[i], &view));
      for (uint64_t b = 0; b < view.byte_size; b += 61)
        sum = (unsigned char)(sum + ((const unsigned char *)view.data)[b]);
      tfsdk_tensor_release(out[i]);
    }
  }
  target_settle(s);
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
}
