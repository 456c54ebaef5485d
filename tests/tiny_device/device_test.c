/* Devices by name, copies, and memory with its limit. */
#include "tiny_test.h"
#include <pthread.h>
#include <signal.h>
#include <tfsdk/shape.h>

/* ------------------------------------------------------------------------------ finding devices */

Test(device, is_found_on_the_search_path_when_it_is_named) {
  tfsdk_runtime *rt = tiny_runtime();
  OK(tfsdk_device_check(rt, "tiny:0"));
  OK(tfsdk_device_check(rt, "tiny:1"));
  OK(tfsdk_device_check(rt, "tiny"));           /* the first */
  OK(tfsdk_device_check(rt, "/device:TINY:1")); /* TensorFlow's way of writing */
  end_runtime(rt);
}

Test(device, is_found_through_the_environment) {
  tfsdk_runtime *rt = NULL;
  setenv("TFSDK_PLUGIN_PATH", TINY_FOLDER, 1);
  OK(tfsdk_runtime_create(NULL, &rt));
  OK(tfsdk_device_check(rt, "tiny:1"));
  tfsdk_runtime_release(rt);
  unsetenv("TFSDK_PLUGIN_PATH");
}

Test(device, is_there_once_its_plugin_was_loaded) {
  tfsdk_runtime *rt = new_runtime();
  FAILS(tfsdk_device_check(rt, "tiny:0"), TFSDK_NOT_FOUND,
        "there is no device 'tiny:0'; the devices are: cpu:0");
  OK(tfsdk_plugin_load(rt, TINY_FILE));
  OK(tfsdk_device_check(rt, "tiny:0"));
  tfsdk_runtime_release(rt);
}

/* The error lists what there is, even of plugins that nobody has opened yet. */
Test(device, unknown_names_list_the_devices) {
  tfsdk_runtime *rt = tiny_runtime();
  FAILS(tfsdk_device_check(rt, "tinny:0"), TFSDK_NOT_FOUND,
        "there is no device 'tinny:0'; the devices are: cpu:0, tiny:0, tiny:1");
  FAILS(tfsdk_device_check(rt, "tiny:2"), TFSDK_NOT_FOUND,
        "there is no device 'tiny:2'; the devices are: cpu:0, tiny:0, tiny:1");
  FAILS(tfsdk_device_check(rt, "tiny:x"), TFSDK_INVALID_ARGUMENT, "'tiny:x' is not a device name");
  FAILS(tfsdk_ctx_push_device(tfsdk_eager_ctx(rt), "tiny:2"), TFSDK_NOT_FOUND, "tiny:0, tiny:1");
  end_runtime(rt);
}

static int note_device(void *user, const tfsdk_device_report *r) {
  char *text = user;
  snprintf(text + strlen(text), 200 - strlen(text), "%s=%s=%llu ", r->name, r->model,
           (unsigned long long)r->memory.limit >> 20);
  return 0;
}

Test(device, all_are_listed_with_model_and_limit) {
  tfsdk_runtime *rt = runtime_with((tfsdk_runtime_options){.memory_limit = 512 << 20});
  char text[200] = "";
  OK(tfsdk_device_each(rt, note_device, text));
  cr_expect(strncmp(text, "cpu:0=", 6) == 0 && strstr(text, "=512 "), "%s", text);
  cr_expect(strstr(text, "tiny:0=pretend accelerator=256 tiny:1=pretend accelerator=256 "), "%s",
            text);
  end_runtime(rt);
}

Test(device, options_declare_which_and_how_many) {
  tfsdk_runtime *rt = runtime_with((tfsdk_runtime_options){.devices = "cpu*2,tiny"});
  OK(tfsdk_device_check(rt, "cpu:1"));
  FAILS(tfsdk_device_check(rt, "cpu:2"), TFSDK_NOT_FOUND, "the devices are: cpu:0, cpu:1, tiny:0");
  FAILS(tfsdk_device_check(rt, "tiny:1"), TFSDK_NOT_FOUND, "the devices are: cpu:0, cpu:1, tiny:0");
  end_runtime(rt);
  rt = runtime_with((tfsdk_runtime_options){.devices = "cpu"});
  FAILS(tfsdk_device_check(rt, "tiny:0"), TFSDK_NOT_FOUND, "the devices are: cpu:0");
  end_runtime(rt);
}

/* --------------------------------------------------------------------------------------- copies */

Test(device, values_survive_every_way_between_host_and_ordinals) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *t[5] = {FLOATS(rt, 2, DIMS(2, 3), 1, -2, 3.5f, 0, 1e30f, -1e-30f)};
  static const char *const way[5] = {"cpu:0", "tiny:0", "tiny:1", "tiny:0", "cpu:0"};
  for (int i = 1; i < 5; i++) t[i] = to(t[i - 1], way[i]);
  for (int i = 0; i < 5; i++) {
    expect_on(t[i], way[i]);
    cr_expect_eq(tfsdk_tensor_dims(t[i])[1], 3);
    EXPECT_FLOATS(t[i], 0, 1, -2, 3.5f, 0, 1e30f,
                  -1e-30f); /* device tensors are read through a copy */
  }
  drop(t, 5);
  end_runtime(rt);
}

Test(device, every_fixed_size_type_travels) {
  tfsdk_runtime *rt = tiny_runtime();
  static const int32_t types[] = {TFSDK_FLOAT32, TFSDK_FLOAT64,   TFSDK_FLOAT16,   TFSDK_BFLOAT16,
                                  TFSDK_INT8,    TFSDK_INT16,     TFSDK_INT32,     TFSDK_INT64,
                                  TFSDK_UINT8,   TFSDK_UINT16,    TFSDK_UINT32,    TFSDK_UINT64,
                                  TFSDK_BOOL,    TFSDK_COMPLEX64, TFSDK_COMPLEX128};
  unsigned char bytes[7 * 16];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 37 % 251 & 1);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    size_t n = 7 * tfsdk_dtype_size(types[i]);
    tfsdk_tensor *t[3];
    tfsdk_view v;
    OK(tfsdk_tensor_create(rt, types[i], 1, DIMS(7), bytes, n, &t[0]));
    t[1] = to(t[0], "tiny:1");
    t[2] = to(t[1], "cpu");
    OK(tfsdk_tensor_view(t[2], &v));
    cr_expect_eq(v.dtype, types[i]);
    cr_expect(memcmp(v.data, bytes, n) == 0, "%s", tfsdk_dtype_name(types[i]));
    drop(t, 3);
  }
  end_runtime(rt);
}

Test(device, empty_tensors_need_no_memory) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *t = floats(rt, 2, DIMS(0, 4), NULL), *there = to(t, "tiny:0");
  tfsdk_view v;
  OK(tfsdk_tensor_view(there, &v));
  cr_expect(v.n_elem == 0 && v.dim[1] == 4);
  cr_expect_eq(in_use(rt, "tiny:0"), 0);
  tfsdk_tensor_release(t);
  tfsdk_tensor_release(there);
  end_runtime(rt);
}

Test(device, strings_stay_on_the_host) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *t, *out, *host;
  OK(tfsdk_tensor_create_strings(rt, 1, DIMS(2), (const char *const[]){"a", "bc"}, NULL, &t));
  FAILS(tfsdk_tensor_to_device(t, "tiny:0", &out), TFSDK_INVALID_ARGUMENT,
        "strings stay in host memory");
  OK(tfsdk_tensor_to_device(t, "cpu:0", &host));
  tfsdk_tensor_release(host);
  tfsdk_tensor_release(t);
  end_runtime(rt);
}

Test(device, a_tensor_that_is_there_is_not_copied) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *t = FLOATS(rt, 1, DIMS(2), 1, 2), *a = to(t, "tiny:0"), *b = to(a, "tiny:0");
  cr_expect_eq(a, b);
  cr_expect_neq(a, t);
  tfsdk_tensor *all[3] = {t, a, b};
  drop(all, 3);
  end_runtime(rt);
}

Test(device, reshaped_tensors_share_the_device_memory) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *t = FLOATS(rt, 1, DIMS(4), 1, 2, 3, 4), *a = to(t, "tiny:0"), *b;
  uint64_t before = in_use(rt, "tiny:0");
  OK(tfsdk_tensor_reshape(a, 2, DIMS(2, -1), &b));
  expect_on(b, "tiny:0");
  cr_expect_eq(in_use(rt, "tiny:0"), before);
  tfsdk_tensor_release(a);
  EXPECT_FLOATS(b, 0, 1, 2, 3, 4);
  tfsdk_tensor_release(b);
  tfsdk_tensor_release(t);
  end_runtime(rt);
}

static void *travel(void *user) {
  tfsdk_runtime *rt = user;
  for (int i = 0; i < 200; i++) {
    tfsdk_tensor *t[3] = {noise(rt, 1, DIMS(i + 1), (uint64_t)i)};
    t[1] = to(t[0], i & 1 ? "tiny:1" : "tiny:0");
    t[2] = to(t[1], i & 2 ? "tiny:1" : "tiny:0");
    expect_close(t[2], t[0], 0);
    drop(t, 3);
  }
  return NULL;
}

Test(device, copies_may_come_from_several_threads) {
  tfsdk_runtime *rt = tiny_runtime();
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, travel, rt);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  cr_expect_eq(in_use(rt, "tiny:0") + in_use(rt, "tiny:1"), 0);
  end_runtime(rt);
}

/* ---------------------------------------------------------- the accelerator is a strict teacher */

#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
    !defined(__SANITIZE_THREAD__) /* they report it by themselves */
static volatile float seen;
static tfsdk_status *touch(void *state, tfsdk_run *r) {
  (void)state;
  seen = *(const float *)r->in[0].data; /* a device address */
  return r->api->forward(r, 0, 0);
}
static const tfsdk_arg arg[] = {{"x", "float32", "a tensor", 0, 0}};
static const tfsdk_opdef ops[] = {{TFSDK_OP_HEAD("test.Touch", "reads an element"), .in = arg,
                                   .n_in = 1, .out = arg, .n_out = 1, .infer = tfsdk_infer_same,
                                   .no_grad_reason = "a test"}};
static const tfsdk_kerneldef kernels[] = {
    {TFSDK_KERNEL_HEAD("test.Touch", "tiny", 100), .compute = touch}};
static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  TFSDK_TRY(r->op(r, ops));
  return r->kernel(r, kernels);
}
static const tfsdk_plugin manifest = {
    TFSDK_PLUGIN_HEAD(TFSDK_KIND_OP | TFSDK_KIND_KERNEL), .name = "touch", .version = "1",
    .summary = "reads device memory on the host", .enroll = enroll};
static const tfsdk_plugin *query(uint32_t major, uint32_t minor) {
  (void)major;
  (void)minor;
  return &manifest;
}

Test(device, touching_its_memory_on_the_host_crashes, .signal = SIGSEGV) {
  tfsdk_runtime *rt = tiny_runtime();
  OK(tfsdk_plugin_add_static(rt, query));
  tfsdk_tensor *x = FLOATS(rt, 0, NULL, 1);
  run1_on(rt, "tiny:0", "test.Touch", &x, 1);
}
#endif

/* --------------------------------------------------------------------------------------- memory */

Test(device, memory_is_counted_for_each_device) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_memory_info m;
  tfsdk_tensor *t = floats(rt, 1, DIMS(1000), NULL);
  uint64_t host = in_use(rt, "cpu:0");
  tfsdk_tensor *a = to(t, "tiny:0"), *b = to(t, "tiny:0"), *c = to(t, "tiny:1");
  cr_expect_eq(in_use(rt, "tiny:0"), 8000);
  cr_expect_eq(in_use(rt, "tiny:1"), 4000);
  cr_expect_eq(in_use(rt, "cpu:0"), host);
  tfsdk_tensor_release(a);
  tfsdk_runtime_memory(rt, "tiny:0", &m);
  cr_expect_eq(m.in_use, 4000);
  cr_expect_eq(m.peak, 8000);
  cr_expect_eq(m.limit, TINY_LIMIT);
  (void)data_of(b); /* the copy to look at is host memory */
  cr_expect_eq(in_use(rt, "tiny:0"), 4000);
  cr_expect_eq(in_use(rt, "cpu:0"), host + 4000);
  tfsdk_tensor *all[3] = {t, b, c};
  drop(all, 3);
  cr_expect_eq(in_use(rt, "tiny:0") + in_use(rt, "tiny:1") + in_use(rt, "cpu:0"), 0);
  end_runtime(rt);
}

#define QUARTER (int64_t)(TINY_LIMIT / 16) /* so many float32 fill a quarter of the device */

Test(device, running_out_is_an_error_and_not_the_end) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *t = floats(rt, 1, DIMS(QUARTER), NULL), *there[4], *more = NULL;
  for (int i = 0; i < 4; i++) there[i] = to(t, "tiny:0");
  FAILS(tfsdk_tensor_to_device(t, "tiny:0", &more), TFSDK_RESOURCE_EXHAUSTED,
        "a tensor of shape (16777216) and type float32: tiny:0 cannot give 67108864 bytes: "
        "268435456 are in use of a limit of 268435456");
  cr_expect_eq(in_use(rt, "tiny:0"), TINY_LIMIT);
  more = to(t, "tiny:1"); /* the other has memory of its own */
  tfsdk_tensor_release(more);
  tfsdk_tensor_release(there[1]);
  there[1] = to(t, "tiny:0"); /* into the gap */
  drop(there, 4);
  tfsdk_tensor_release(t);
  cr_expect_eq(in_use(rt, "tiny:0"), 0);
  end_runtime(rt);
}

Test(device, an_op_that_runs_out_says_so_and_leaves_nothing) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *t = floats(rt, 1, DIMS(QUARTER), NULL), *there[3], *out = NULL;
  for (int i = 0; i < 3; i++) there[i] = to(t, "tiny:0");
  OK(tfsdk_ctx_push_device(tfsdk_eager_ctx(rt), "tiny:0"));
  FAILS(tfsdk_eager_run(rt, "AddV2", (tfsdk_tensor *[]){there[0], t}, 2, NULL, 0, &out, 1),
        TFSDK_RESOURCE_EXHAUSTED, "AddV2");
  cr_expect_eq(in_use(rt, "tiny:0"), 3 * TINY_LIMIT / 4);
  OK(tfsdk_eager_run(rt, "Relu", there, 1, NULL, 0, &out, 1));
  expect_on(out, "tiny:0");
  tfsdk_tensor_release(out);
  drop(there, 3);
  tfsdk_tensor_release(t);
  end_runtime(rt);
}

/* Slabs of many sizes, given back in another order than they were taken: no byte is lost. */
Test(device, memory_can_be_used_again_whatever_the_order) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *t[64] = {NULL}, *all;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 64; i++) {
      int k = (i * 29 + round * 7) % 64;
      tfsdk_tensor_release(t[k]);
      tfsdk_tensor *host = noise(rt, 1, DIMS(1 + (k * 977 + round * 131) % 9000), (uint64_t)k);
      t[k] = to(host, "tiny:1");
      expect_close(t[k], host, 0);
      tfsdk_tensor_release(host);
    }
  }
  drop(t, 64);
  t[0] = floats(rt, 1, DIMS(4 * QUARTER), NULL);
  all = to(t[0], "tiny:1"); /* the whole of it */
  tfsdk_tensor_release(all);
  tfsdk_tensor_release(t[0]);
  end_runtime(rt);
}

typedef struct hoard {
  tfsdk_tensor *t;
  int calls;
} hoard;
static void let_go(void *user) {
  hoard *h = user;
  h->calls++;
  tfsdk_tensor_release(h->t);
  h->t = NULL;
}

Test(device, the_reclaim_hook_is_asked_before_giving_up) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *t = floats(rt, 1, DIMS(3 * QUARTER), NULL), *there,
               *too_big = floats(rt, 1, DIMS(5 * QUARTER), NULL), *out = NULL;
  hoard h = {to(t, "tiny:0"), 0};
  tfsdk_runtime_set_reclaim(rt, let_go, &h);
  there = to(t, "tiny:0");
  cr_expect_eq(h.calls, 1);
  FAILS(tfsdk_tensor_to_device(too_big, "tiny:0", &out), TFSDK_RESOURCE_EXHAUSTED,
        "tiny:0 cannot give");
  cr_expect_eq(h.calls, 1, "no hook helps where the limit is too low");
  tfsdk_tensor *all[3] = {t, there, too_big};
  drop(all, 3);
  end_runtime(rt);
}

Test(device, runtimes_have_devices_of_their_own) {
  tfsdk_runtime *a = tiny_runtime(), *b = tiny_runtime();
  tfsdk_tensor *x = FLOATS(a, 1, DIMS(2), 1, 2), *y = FLOATS(b, 1, DIMS(2), 3, 4);
  tfsdk_tensor *tx = to(x, "tiny:0"), *ty = to(y, "tiny:0");
  EXPECT_FLOATS(tx, 0, 1, 2);
  EXPECT_FLOATS(ty, 0, 3, 4);
  cr_expect_eq(in_use(a, "tiny:0"), 8);
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(tx);
  end_runtime(a);
  EXPECT_FLOATS(ty, 0, 3, 4);
  tfsdk_tensor_release(y);
  tfsdk_tensor_release(ty);
  end_runtime(b);
}
