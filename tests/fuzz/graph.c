/* Target: a graph file, as bytes (FUZZ_MODEL 0) or as a saved model with its weights (1). No op runs; importing infers
 * shapes and keeps constants, a model reads its weights. */
#include <string.h>

#include "target.h"

void target_try(tfsdk_runtime *rt, const char *path, const unsigned char *data, size_t n) {
  if (FUZZ_MODEL) {
    tfsdk_model *m = NULL;
    char folder[512];
    size_t k = (size_t)(strrchr(path, '/') - path);
    memcpy(folder, path, k);
    folder[k] = 0;
    target_settle(tfsdk_model_load(rt, folder, NULL, &m));
    tfsdk_model_release(m);
  } else {
    tfsdk_graph *g = NULL;
    tfsdk_import_options o = {.struct_size = sizeof o, .content = data, .content_bytes = n};
    tfsdk_status *s = tfsdk_graph_create(rt, &g);
    if (s == NULL && n > 0) s = tfsdk_graph_import(g, "fuzz", &o);
    target_settle(s);
    tfsdk_graph_release(g);
  }
}
