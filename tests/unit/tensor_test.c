/* Tensors: shapes that do not fit, conversions of 16-bit numbers, DLPack, printing. */
#include "support.h"

Test(tensor, NUM_13_shape_products_that_overflow) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_tensor *t = NULL;
  FAILS(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 6, DIMS(4096, 4096, 4096, 4096, 4096, 4096), NULL, 0,
                            &t),
        TFSDK_RESOURCE_EXHAUSTED, "4096");
  FAILS(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 2, DIMS(4294967296, 4294967296), NULL, 0, &t),
        TFSDK_RESOURCE_EXHAUSTED, "4294967296");
  FAILS(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 3, DIMS(1000000, 1000000, 1000000), NULL, 0, &t),
        TFSDK_RESOURCE_EXHAUSTED, "1000000");
  FAILS(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 1, DIMS(-3), NULL, 0, &t), TFSDK_INVALID_ARGUMENT,
        "negative");
  OK(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 2, DIMS(0, 9223372036854775806), NULL, 0, &t));
  cr_expect_eq(tfsdk_tensor_elements(t), 0);
  tfsdk_tensor_release(t);
  t = FLOATS(rt, 1, DIMS(6), 1, 2, 3, 4, 5, 6);
  tfsdk_tensor *r = NULL;
  FAILS(tfsdk_tensor_reshape(t, 2, DIMS(2, -3), &r), TFSDK_INVALID_ARGUMENT, "-3");
  FAILS(tfsdk_tensor_reshape(t, 2, DIMS(4, -1), &r), TFSDK_INVALID_ARGUMENT, "(4, ?)");
  OK(tfsdk_tensor_reshape(t, 2, DIMS(2, -1), &r));
  cr_expect_eq(tfsdk_tensor_dims(r)[1], 3);
  tfsdk_tensor_release(r);
  tfsdk_tensor_release(t);
  tfsdk_runtime_release(rt);
}

static float back_bf(float x) { return tfsdk_from_bfloat16(tfsdk_to_bfloat16(x)); }
static float back_half(float x) { return tfsdk_from_half(tfsdk_to_half(x)); }

Test(tensor, NUM_12_float16_and_bfloat16_conversion) {
  float nan_low;
  uint32_t bits = 0x7F800001u;
  memcpy(&nan_low, &bits, 4);
  cr_expect(back_bf(0.26914088f) == 0.26953125f);
  cr_expect(back_bf(1.00390625f) == 1.0f);
  cr_expect(back_bf(1.01171875f) == 1.015625f);
  cr_expect(back_bf(3.14f) == 3.140625f);
  cr_expect(isinf(back_bf(3.4e38f)));
  cr_expect(isnan(back_bf(nan_low)));
  cr_expect(back_bf(-0.0f) == 0.0f && signbit(back_bf(-0.0f)) != 0);
  cr_expect(back_half(65519.0f) == 65504.0f);
  cr_expect(isinf(back_half(65520.0f)));
  cr_expect(back_half(2049.0f) == 2048.0f);
  cr_expect(back_half(2051.0f) == 2052.0f);
  cr_expect(back_half(6e-8f) == 5.9604645e-8f);
  cr_expect(isnan(back_half(nan_low)));
}

/* Every float16 value survives the way to float32 and back: the conversion is exact (IEEE 754). */
Test(tensor, all_halves_round_trip) {
  for (uint32_t h = 0; h < 65536; h++) {
    float f = tfsdk_from_half((uint16_t)h);
    if (isnan(f))
      cr_assert(isnan(tfsdk_from_half(tfsdk_to_half(f))));
    else
      cr_assert(tfsdk_to_half(f) == h, "%04x gives %g, which gives %04x", h, (double)f,
                tfsdk_to_half(f));
  }
}

Test(tensor, dlpack_goes_out_and_comes_back_without_a_copy) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_tensor *t = FLOATS(rt, 2, DIMS(2, 3), 1, 2, 3, 4, 5, 6), *u = NULL;
  void *managed = NULL;
  OK(tfsdk_tensor_to_dlpack(t, &managed));
  const float *data = data_of(t);
  OK(tfsdk_tensor_from_dlpack(rt, managed, &u));
  tfsdk_tensor_release(t);
  cr_expect(data_of(u) == data);
  EXPECT_FLOATS(u, 0, 1, 2, 3, 4, 5, 6);
  tfsdk_tensor_release(u);
  tfsdk_runtime_release(rt);
}

static int released;
static void release_memory(void *user) { released += *(int *)user; }

Test(tensor, foreign_memory_is_released_once) {
  static float memory[4] = {1, 2, 3, 4};
  int one = 1;
  tfsdk_runtime *rt = new_runtime();
  tfsdk_tensor *t = NULL, *r = NULL;
  OK(tfsdk_tensor_import(rt, TFSDK_FLOAT32, 1, DIMS(4), memory, release_memory, &one, &t));
  OK(tfsdk_tensor_reshape(t, 2, DIMS(2, 2), &r));
  tfsdk_tensor_release(t);
  cr_expect_eq(released, 0);
  tfsdk_tensor_release(r);
  cr_expect_eq(released, 1);
  FAILS(tfsdk_tensor_import(rt, TFSDK_FLOAT32, 1, DIMS(1), (char *)memory + 1, NULL, NULL, &t),
        TFSDK_INVALID_ARGUMENT, "aligned");
  tfsdk_runtime_release(rt);
}

static void expect_text(tfsdk_tensor *t, const char *want) {
  char *text = NULL;
  OK(tfsdk_tensor_format(t, 1000, &text));
  cr_expect(strcmp(text, want) == 0, "printed:\n%s\nexpected:\n%s", text, want);
  free(text);
}

/* Torch's form, as design/lua.md asks: rows, then a line like [2x3 float32]. */
Test(tensor, prints_rows_and_a_last_line) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_tensor *t = FLOATS(rt, 2, DIMS(2, 3), 1, 2, 3, 4, 5, 6), *s = NULL;
  expect_text(t, "  1.0  2.0  3.0\n  4.0  5.0  6.0\n[2x3 float32]");
  tfsdk_tensor_release(t);
  const char *words[2] = {"a", "bc"};
  OK(tfsdk_tensor_create_strings(rt, 1, DIMS(2), words, NULL, &s));
  expect_text(s, "   \"a\"  \"bc\"\n[2 string]");
  tfsdk_tensor_release(s);
  OK(tfsdk_tensor_create(rt, TFSDK_INT64, 2, DIMS(0, 3), NULL, 0, &t));
  expect_text(t, "[0x3 int64]");
  tfsdk_tensor_release(t);
  tfsdk_runtime_release(rt);
}
