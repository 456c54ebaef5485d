/* Models of files: running a signature, what is said of a wrong call, and memory that runs out anywhere. */
#include "support.h"

static const char v1[] = TEST_DATA "/saved_model/saved_model_v1";

static int count_ends(void *user, const tfsdk_import_fact *f) {
  int *n = user;
  n[strcmp(f->kind, "output") == 0]++;
  cr_expect_str_eq(f->signature, "serving_default");
  cr_expect_str_eq(f->key, strcmp(f->kind, "output") == 0 ? "probabilities" : "image");
  return 0;
}

Test(model, a_saved_model_of_tensorflow_runs_by_its_signature) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_model *m = NULL;
  tfsdk_tensor *x = NULL, *y = NULL, *want = NULL;
  tfsdk_view a, b;
  int ends[2] = {0, 0};
  const char *in[] = {"image"}, *out[] = {"probabilities"}, *wrong[] = {"imgae"};
  const char *keys[] = {"saved_model_v1/in/image", "saved_model_v1/out/probabilities"};
  OK(tfsdk_model_load(rt, v1, NULL, &m));
  tfsdk_model_each(m, count_ends, ends);
  cr_expect(ends[0] == 1 && ends[1] == 1);
  tfsdk_tensor *io[2];
  OK(tfsdk_file_read(rt, TEST_DATA "/saved_model/graphs.safetensors", NULL, keys, 2, 0, io));
  x = io[0];
  want = io[1];
  OK(tfsdk_model_run(m, NULL, in, &x, 1, out, 1, &y));
  OK(tfsdk_tensor_view(y, &a));
  OK(tfsdk_tensor_view(want, &b));
  cr_assert_eq(a.n_elem, b.n_elem);
  for (int64_t i = 0; i < a.n_elem; i++)
    cr_expect_float_eq(((float *)a.data)[i], ((float *)b.data)[i], 1e-6);
  tfsdk_tensor_release(y);
  FAILS(tfsdk_model_run(m, NULL, wrong, &x, 1, out, 1, &y), TFSDK_INVALID_ARGUMENT, "'image'");
  FAILS(tfsdk_model_run(m, NULL, in, &x, 1, wrong, 1, &y), TFSDK_NOT_FOUND, "'probabilities'");
  FAILS(tfsdk_model_run(m, "serve", in, &x, 1, out, 1, &y), TFSDK_NOT_FOUND, "'serving_default'");
  FAILS(tfsdk_model_run(m, NULL, in, &x, 0, out, 1, &y), TFSDK_INVALID_ARGUMENT, "'image'");
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(want);
  tfsdk_model_release(m);
  FAILS(tfsdk_model_load(rt, TEST_DATA "/saved_model/none", NULL, &m), TFSDK_NOT_FOUND, "none");
  FAILS(tfsdk_model_load(rt, TEST_DATA "/saved_model/graphs.safetensors", NULL, &m),
        TFSDK_INVALID_ARGUMENT, "graphs.safetensors");
  tfsdk_memory_info info;
  tfsdk_runtime_memory(rt, "cpu:0", &info);
  cr_expect_eq(info.live_tensors, 0);
  tfsdk_runtime_release(rt);
}

Test(model, memory_that_runs_out_anywhere_is_an_error_and_leaks_nothing) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_model *m = NULL;
  tfsdk_memory_info before, after;
  OK(tfsdk_model_load(rt, v1, NULL, &m)); /* plugins are there now */
  tfsdk_model_release(m);
  tfsdk_runtime_memory(rt, "cpu:0", &before);
  int failures = 0;
  for (uint64_t n = 1;; n += 1 + n / 40) {
    m = NULL;
    tfsdk_runtime_fail_allocation(rt, n, 0);
    tfsdk_status *s = tfsdk_model_load(rt, v1, NULL, &m);
    tfsdk_runtime_fail_allocation(rt, 0, 0);
    cr_expect((s == NULL) == (m != NULL));
    failures += s != NULL;
    if (s != NULL)
      cr_expect_eq(tfsdk_status_code(s), TFSDK_RESOURCE_EXHAUSTED, "%s", tfsdk_status_text(s));
    bool done = s == NULL;
    tfsdk_status_release(s);
    tfsdk_model_release(m);
    tfsdk_runtime_memory(rt, "cpu:0", &after);
    cr_assert_eq(after.live_tensors, before.live_tensors, "allocation %llu", (unsigned long long)n);
    cr_assert_eq(after.live_blocks, before.live_blocks, "allocation %llu leaves blocks",
                 (unsigned long long)n);
    if (done && n > 200) break;
    cr_assert(n < 1000000);
  }
  cr_expect_gt(failures, 50);
  tfsdk_runtime_release(rt);
}
