/* Kernels of the pretend accelerator give what the CPU gives; what it lacks runs there, with
 * copies. */
#include "tiny_test.h"

typedef struct call {
  const char *op;
  uint32_t n_in;
  struct {
    uint32_t rank;
    int64_t dim[5];
  } in[3];
  uint32_t n_attr;
  tfsdk_attrval attr[4];
} call;

#define S(...)                                                                                     \
  {                                                                                                \
    sizeof((int64_t[]){__VA_ARGS__}) / 8, { __VA_ARGS__ }                                          \
  }
#define SCALAR                                                                                     \
  {                                                                                                \
    0, { 0 }                                                                                       \
  }
#define MAX_OUT 4

/* Runs the call on the host, then on the device with inputs that are there, then with inputs that
 * are not. */
static void compare_outputs(tfsdk_runtime *rt, const call *c, tfsdk_tensor **in, uint32_t n_in,
                            uint32_t n_out, const char *where) {
  tfsdk_tensor *want[MAX_OUT], *got[MAX_OUT], *there[8];
  run_on(rt, "cpu:0", c->op, in, n_in, c->attr, c->n_attr, want, n_out);
  for (uint32_t i = 0; i < n_in; i++) there[i] = to(in[i], "tiny:0");
  for (int mixed = 0; mixed < 2; mixed++) {
    run_on(rt, "tiny:0", c->op, mixed ? in : there, n_in, c->attr, c->n_attr, got, n_out);
    for (uint32_t o = 0; o < n_out; o++) {
      if (tfsdk_tensor_bytes(got[o]) > 0)
        cr_expect(strcmp(tfsdk_tensor_device(got[o]), where) == 0, "%s gives a result on %s", c->op,
                  tfsdk_tensor_device(got[o]));
      expect_close(got[o], want[o], 1e-5);
    }
    drop(got, n_out);
  }
  drop(there, n_in);
  drop(want, n_out);
}

static void compare(tfsdk_runtime *rt, const call *c, const char *where) {
  tfsdk_tensor *in[3];
  for (uint32_t i = 0; i < c->n_in; i++) in[i] = noise(rt, c->in[i].rank, c->in[i].dim, i + 1);
  compare_outputs(rt, c, in, c->n_in, 1, where);
  drop(in, c->n_in);
}

Test(kernel, element_by_element_with_broadcasting) {
  static const call cases[] = {
      {"AddV2", 2, {S(3, 4), S(3, 4)}, 0, {{0}}},
      {"AddV2", 2, {S(2, 3, 4), S(4)}, 0, {{0}}},
      {"AddV2", 2, {SCALAR, S(2, 2)}, 0, {{0}}},
      {"AddV2", 2, {S(3, 1), S(1, 5)}, 0, {{0}}},
      {"AddV2", 2, {SCALAR, SCALAR}, 0, {{0}}},
      {"AddV2", 2, {S(0, 3), S(1, 3)}, 0, {{0}}},
      {"Mul", 2, {S(2, 1, 4), S(5, 1)}, 0, {{0}}},
      {"Mul", 2, {S(7, 2), S(7, 2)}, 0, {{0}}},
      {"Relu", 1, {S(5, 7)}, 0, {{0}}},
      {"Relu", 1, {S(0)}, 0, {{0}}},
      {"ReluGrad", 2, {S(5, 7), S(5, 7)}, 0, {{0}}},
      {"BiasAdd", 2, {S(2, 3, 4), S(4)}, 0, {{0}}},
  };
  tfsdk_runtime *rt = tiny_runtime();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) compare(rt, &cases[i], "tiny:0");
  end_runtime(rt);
}

Test(kernel, relu_keeps_nan) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), NAN, -1, INFINITY),
               *y = run1_on(rt, "tiny:0", "Relu", &x, 1);
  const float *p = data_of(y);
  cr_expect(isnan(p[0]) && p[1] == 0 && isinf(p[2]));
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(y);
  end_runtime(rt);
}

Test(kernel, matrix_products_with_transposes) {
  tfsdk_runtime *rt = tiny_runtime();
  for (int ta = 0; ta < 2; ta++)
    for (int tb = 0; tb < 2; tb++)
      for (int64_t k = 0; k < 8; k += 7) {
        call c = {"MatMul",
                  2,
                  {{2, {ta ? k : 3, ta ? 3 : k}}, {2, {tb ? 5 : k, tb ? k : 5}}},
                  2,
                  {tfsdk_a_bool("transpose_a", ta), tfsdk_a_bool("transpose_b", tb)}};
        compare(rt, &c, "tiny:0");
      }
  end_runtime(rt);
}

Test(kernel, convolutions_of_every_padding_stride_dilation_and_layout) {
  static const char *const padding[2] = {"SAME", "VALID"};
  tfsdk_runtime *rt = tiny_runtime();
  for (int64_t stride = 1; stride < 3; stride++)
    for (int64_t dilation = 1; dilation < 3; dilation++)
      for (int p = 0; p < 2; p++) {
        if (stride > 1 && dilation > 1) continue;
        const int64_t strides[4] = {1, stride, stride, 1},
                      dilations[4] = {1, dilation, dilation, 1};
        call c = {"Conv2D",
                  2,
                  {S(2, 7, 6, 4), S(3, 2, 4, 6)},
                  3,
                  {tfsdk_a_ints("strides", strides, 4), tfsdk_a_ints("dilations", dilations, 4),
                   tfsdk_a_string("padding", padding[p])}};
        compare(rt, &c, "tiny:0");
      }
  const int64_t ones[4] = {1, 1, 1, 1};
  call first = {"Conv2D",
                2,
                {S(2, 4, 5, 5), S(3, 3, 4, 6)},
                3,
                {tfsdk_a_ints("strides", ones, 4), tfsdk_a_string("data_format", "NCHW"),
                 tfsdk_a_string("padding", "SAME")}};
  compare(rt, &first, "tiny:0");
  call grouped = {"Conv2D",
                  2,
                  {S(1, 5, 5, 4), S(3, 3, 2, 6)},
                  2,
                  {tfsdk_a_ints("strides", ones, 4), tfsdk_a_string("padding", "SAME")}};
  compare(rt, &grouped, "tiny:0");
  call empty = {"Conv2D",
                2,
                {S(0, 5, 5, 4), S(3, 3, 4, 6)},
                2,
                {tfsdk_a_ints("strides", ones, 4), tfsdk_a_string("padding", "SAME")}};
  compare(rt, &empty, "tiny:0");
  end_runtime(rt);
}

/* The axes are a host argument: they are brought there even when a script has put them onto the
 * device. */
Test(kernel, sums_over_axes_that_are_given_in_host_memory) {
  static const struct {
    int n;
    int32_t axis[3];
    int keep;
  } cases[] = {{1, {0}, 0},       {1, {-1}, 1},      {2, {0, 2}, 0},
               {3, {0, 1, 2}, 1}, {3, {2, 1, 0}, 0}, {0, {0}, 0}};
  tfsdk_runtime *rt = tiny_runtime();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    call c = {"Sum", 2, {{0}}, 1, {tfsdk_a_bool("keep_dims", cases[i].keep)}};
    tfsdk_tensor *in[2] = {noise(rt, 3, DIMS(3, 4, 5), 1)};
    OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(cases[i].n), cases[i].axis,
                           (size_t)cases[i].n * 4, &in[1]));
    compare_outputs(rt, &c, in, 2, 1, "tiny:0");
    drop(in, 2);
  }
  end_runtime(rt);
}

/* Its workspace is the device's memory and is given back. */
Test(kernel, workspaces_are_counted) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_memory_info m;
  const int32_t axis = 1;
  tfsdk_tensor *in[2] = {noise(rt, 2, DIMS(100, 2), 1)};
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(1), &axis, 4, &in[1]));
  tfsdk_tensor *y = run1_on(rt, "tiny:0", "Sum", in, 2);
  tfsdk_runtime_memory(rt, "tiny:0", &m);
  cr_expect_eq(m.in_use, 400);
  cr_expect_eq(m.peak, 800 + 400 + 800, "input, result, 100 doubles; not %llu",
               (unsigned long long)m.peak);
  tfsdk_tensor_release(y);
  drop(in, 2);
  end_runtime(rt);
}

/* ------------------------------------------------------------------------------------- fallback */

Test(kernel, what_the_device_lacks_runs_on_the_host) {
  static const call cases[] = {
      {"Sub", 2, {S(3, 4), S(4)}, 0, {{0}}},
      {"Sigmoid", 1, {S(3, 4)}, 0, {{0}}},
      {"BiasAdd", 2, {S(2, 3, 4), S(3)}, 1, {{0}}}, /* the kernel's `supports` says no */
  };
  tfsdk_runtime *rt = tiny_runtime();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    call c = cases[i];
    if (c.n_attr) c.attr[0] = tfsdk_a_string("data_format", "NCHW");
    compare(rt, &c, "cpu:0");
    cr_expect_eq(times_logged(c.op), 1, "%s", logged); /* told once, not at each call */
  }
  cr_expect(strstr(logged, "tiny:0 has no kernel for Sigmoid of these types; it runs on cpu:0"),
            "%s", logged);
  end_runtime(rt);
}

Test(kernel, other_types_run_on_the_host) {
  tfsdk_runtime *rt = tiny_runtime();
  const double x[2] = {1.5, -2};
  tfsdk_tensor *in[2], *y;
  tfsdk_view v;
  OK(tfsdk_tensor_create(rt, TFSDK_FLOAT64, 1, DIMS(2), x, 16, &in[0]));
  in[1] = to(in[0], "tiny:1");
  y = run1_on(rt, "tiny:0", "AddV2", in, 2);
  expect_on(y, "cpu:0");
  OK(tfsdk_tensor_view(y, &v));
  cr_expect(((const double *)v.data)[0] == 3 && ((const double *)v.data)[1] == -4);
  tfsdk_tensor_release(y);
  drop(in, 2);
  end_runtime(rt);
}

Test(kernel, inputs_of_the_other_ordinal_are_copied) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(2), 1, 2), *in[2] = {to(x, "tiny:0"), to(x, "tiny:1")}, *y;
  y = run1_on(rt, "tiny:1", "Mul", in, 2);
  expect_on(y, "tiny:1");
  EXPECT_FLOATS(y, 0, 1, 4);
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(y);
  drop(in, 2);
  end_runtime(rt);
}

/* Another shape of the same data needs no kernel and no copy, on any device. */
Test(kernel, views_stay_where_they_are) {
  tfsdk_runtime *rt = tiny_runtime();
  const int32_t shape[2] = {3, -1}, zero = 0;
  tfsdk_tensor *x = noise(rt, 2, DIMS(2, 3), 1), *in[2] = {to(x, "tiny:0")}, *y, *target;
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(2), shape, 8, &target));
  in[1] = to(target, "tiny:0"); /* the shape rule looks at its value */
  y = run1_on(rt, "tiny:0", "Reshape", in, 2);
  expect_on(y, "tiny:0");
  cr_expect(tfsdk_tensor_dims(y)[0] == 3 && tfsdk_tensor_dims(y)[1] == 2);
  expect_floats(y, 6, data_of(x), 0);
  tfsdk_tensor_release(y);
  tfsdk_tensor_release(in[1]);
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 0, NULL, &zero, 4, &in[1]));
  y = run1_on(rt, "cpu:0", "ExpandDims", in, 2); /* even in another device's scope */
  expect_on(y, "tiny:0");
  expect_floats(y, 6, data_of(x), 0);
  tfsdk_tensor *all[5] = {x, target, y, in[0], in[1]};
  drop(all, 5);
  end_runtime(rt);
}

/* Shapes, sizes and ranks are told without a copy, in host memory. */
Test(kernel, shapes_of_device_tensors_need_no_data) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *x = noise(rt, 2, DIMS(20, 30), 1), *there = to(x, "tiny:0");
  tfsdk_tensor_release(x);
  uint64_t host = in_use(rt, "cpu:0");
  tfsdk_tensor *shape = run1_on(rt, "tiny:0", "Shape", &there, 1),
               *size = run1_on(rt, "tiny:0", "Size", &there, 1);
  tfsdk_view v;
  expect_on(shape, "cpu:0");
  OK(tfsdk_tensor_view(shape, &v));
  cr_expect(((const int32_t *)v.data)[0] == 20 && ((const int32_t *)v.data)[1] == 30);
  OK(tfsdk_tensor_view(size, &v));
  cr_expect_eq(*(const int32_t *)v.data, 600);
  cr_expect_eq(in_use(rt, "cpu:0"), host + 12);
  tfsdk_tensor *all[3] = {there, shape, size};
  drop(all, 3);
  end_runtime(rt);
}

Test(kernel, strings_pass_through_a_device_scope) {
  tfsdk_runtime *rt = tiny_runtime();
  const int32_t axis = 0;
  uint64_t n;
  tfsdk_view v;
  tfsdk_tensor *in[3], *y = NULL;
  OK(tfsdk_tensor_create_strings(rt, 1, DIMS(1), (const char *const[]){"left"}, NULL, &in[0]));
  OK(tfsdk_tensor_create_strings(rt, 1, DIMS(1), (const char *const[]){"right"}, NULL, &in[1]));
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 0, NULL, &axis, 4, &in[2]));
  y = run1_on(rt, "tiny:0", "ConcatV2", in, 3);
  OK(tfsdk_tensor_view(y, &v));
  const char *text = tfsdk_view_string(&v, 1, &n);
  cr_expect(n == 5 && memcmp(text, "right", 5) == 0);
  tfsdk_tensor_release(y);
  drop(in, 3);
  end_runtime(rt);
}

/* An op that passes its inputs on: each stays what it is, wherever it is. */
Test(kernel, lists_of_any_types_are_passed_on) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_tensor *in[3] = {FLOATS(rt, 1, DIMS(2), 1, 2), NULL, NULL}, *out[3];
  tfsdk_view v;
  uint64_t n;
  in[1] = to(in[0], "tiny:1");
  OK(tfsdk_tensor_create_strings(rt, 0, NULL, (const char *const[]){"text"}, NULL, &in[2]));
  run_on(rt, "tiny:0", "IdentityN", in, 3, NULL, 0, out, 3);
  EXPECT_FLOATS(out[0], 0, 1, 2);
  EXPECT_FLOATS(out[1], 0, 1, 2);
  OK(tfsdk_tensor_view(out[2], &v));
  cr_expect(memcmp(tfsdk_view_string(&v, 0, &n), "text", 4) == 0);
  drop(in, 3);
  drop(out, 3);
  end_runtime(rt);
}

/* Several outputs, one of them of a size that only the kernel knows. */
Test(kernel, results_of_unknown_size_come_back) {
  tfsdk_runtime *rt = tiny_runtime();
  const float x[6] = {3, 1, 3, 3, 2, 1};
  tfsdk_tensor *t = floats(rt, 1, DIMS(6), x), *there = to(t, "tiny:0"), *out[2];
  tfsdk_view v;
  run_on(rt, "tiny:0", "Unique", &there, 1, NULL, 0, out, 2);
  EXPECT_FLOATS(out[0], 0, 3, 1, 2); /* in the order of first appearance */
  OK(tfsdk_tensor_view(out[1], &v));
  cr_expect(memcmp(v.data, (const int32_t[]){0, 1, 0, 0, 2, 1}, 24) == 0);
  tfsdk_tensor_release(t);
  tfsdk_tensor_release(there);
  drop(out, 2);
  end_runtime(rt);
}

/* The same seed gives the same numbers whatever device is asked for. */
Test(kernel, random_numbers_do_not_depend_on_the_device) {
  tfsdk_runtime *rt[2] = {tiny_runtime(), tiny_runtime()};
  tfsdk_tensor *shape, *out[2];
  const int32_t n = 100;
  tfsdk_attrval attr[3] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32), tfsdk_a_int("seed", 1),
                           tfsdk_a_int("seed2", 2)};
  for (int i = 0; i < 2; i++) {
    OK(tfsdk_tensor_create(rt[i], TFSDK_INT32, 1, DIMS(1), &n, 4, &shape));
    run_on(rt[i], i ? "tiny:0" : "cpu:0", "RandomStandardNormal", &shape, 1, attr, 3, &out[i], 1);
    tfsdk_tensor_release(shape);
  }
  expect_close(out[1], out[0], 0);
  drop(out, 2);
  end_runtime(rt[0]);
  end_runtime(rt[1]);
}
