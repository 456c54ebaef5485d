/* Datasets: slices, batches, order, repetition, generators. Names TRN_xx are cases of users'
 * reports. */
#include "dataset_support.h"

/* ------------------------------------------------------------------------------------------ slices
 */

Test(dataset, slices_of_tensors) {
  tfsdk_runtime *rt = new_runtime();
  const char *names[2] = {"image", "label"};
  tfsdk_tensor *in[2] = {FLOATS(rt, 3, DIMS(2, 1, 2), 1, 2, 3, 4),
                         int64s(rt, 1, DIMS(2), DIMS(7, 8))},
               *out[2];
  tfsdk_dataset *d;
  int32_t end;
  OK(tfsdk_dataset_from_tensors(rt, names, in, 2, &d));
  cr_expect_eq(tfsdk_dataset_components(d), 2);
  cr_expect_str_eq(tfsdk_dataset_name(d, 0), "image");
  cr_expect_str_eq(tfsdk_dataset_name(d, 1), "label");
  cr_expect_str_eq(tfsdk_dataset_name(d, 2), "");
  tfsdk_iterator *it = iterate(d);
  tfsdk_dataset_release(d); /* the iterator holds it, and it holds the tensors */
  tfsdk_tensor_release(in[0]);
  tfsdk_tensor_release(in[1]);
  for (int i = 0; i < 2; i++) {
    OK(tfsdk_iterator_next(it, out, &end));
    cr_assert_eq(end, 0);
    cr_expect_eq(tfsdk_tensor_rank(out[0]), 2);
    cr_expect_eq(tfsdk_tensor_dims(out[0])[0], 1);
    cr_expect_eq(tfsdk_tensor_dims(out[0])[1], 2);
    cr_expect_eq(data_of(out[0])[1], i == 0 ? 2 : 4);
    cr_expect_eq(tfsdk_tensor_rank(out[1]), 0);
    cr_expect_eq(*(const int64_t *)data_of(out[1]), 7 + i);
    tfsdk_tensor_release(out[0]);
    tfsdk_tensor_release(out[1]);
  }
  for (int i = 0; i < 2; i++) { /* the end stays the end */
    OK(tfsdk_iterator_next(it, out, &end));
    cr_expect_eq(end, 1);
    cr_expect_null(out[0]);
    cr_expect_null(out[1]);
  }
  tfsdk_iterator_release(it);
  tfsdk_runtime_release(rt);
}

Test(dataset, slices_that_do_not_go_together) {
  tfsdk_runtime *rt = new_runtime();
  const char *names[2] = {"x", "y"}, *twice[2] = {"x", "x"};
  tfsdk_tensor *in[2] = {FLOATS(rt, 1, DIMS(3), 1, 2, 3), FLOATS(rt, 1, DIMS(2), 1, 2)};
  tfsdk_tensor *scalar = FLOATS(rt, 0, NULL, 1);
  tfsdk_dataset *d;
  FAILS(tfsdk_dataset_from_tensors(rt, names, in, 2, &d), TFSDK_INVALID_ARGUMENT,
        "component 'y' has 2 rows, component 'x' has 3");
  FAILS(tfsdk_dataset_from_tensors(rt, NULL, in, 2, &d), TFSDK_INVALID_ARGUMENT,
        "component 1 has 2 rows, component 0 has 3");
  FAILS(tfsdk_dataset_from_tensors(rt, names, &scalar, 1, &d), TFSDK_INVALID_ARGUMENT,
        "'x' is a scalar");
  FAILS(tfsdk_dataset_from_tensors(rt, twice, in, 2, &d), TFSDK_INVALID_ARGUMENT,
        "both called 'x'");
  FAILS(tfsdk_dataset_from_tensors(rt, NULL, in, 0, &d), TFSDK_INVALID_ARGUMENT,
        "at least one component");
  tfsdk_tensor_release(in[0]);
  tfsdk_tensor_release(in[1]);
  tfsdk_tensor_release(scalar);
  tfsdk_runtime_release(rt);
}

Test(dataset, arguments_out_of_range) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_dataset *d = count_to(rt, 3), *out;
  FAILS(tfsdk_dataset_batch(d, 0, 0, &out), TFSDK_INVALID_ARGUMENT, "the size is 0");
  FAILS(tfsdk_dataset_shuffle(d, 0, 1, 1, &out), TFSDK_INVALID_ARGUMENT,
        "buffer holds 1 element or more; it is 0");
  FAILS(tfsdk_dataset_repeat(d, -2, &out), TFSDK_INVALID_ARGUMENT, "-2");
  FAILS(tfsdk_dataset_take(d, -2, &out), TFSDK_INVALID_ARGUMENT, "-2");
  FAILS(tfsdk_dataset_skip(d, -2, &out), TFSDK_INVALID_ARGUMENT, "-2");
  FAILS(tfsdk_dataset_prefetch(d, 0, &out), TFSDK_INVALID_ARGUMENT, "it is 0");
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

/* ----------------------------------------------------------------------------------------- batches
 */

Test(dataset, batches_keep_the_order_and_the_rest) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_dataset *d = count_to(rt, 10);
  BATCH(d, 4, 0);
  EXPECT_SIZES(d, 4, 4, 2);
  EXPECT_NUMBERS(d, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  tfsdk_dataset_release(d);
  d = count_to(rt, 10);
  BATCH(d, 4, 1);
  EXPECT_SIZES(d, 4, 4);
  tfsdk_dataset_release(d);
  d = count_to(rt, 8);
  BATCH(d, 4, 0);
  EXPECT_SIZES(d, 4, 4);
  BATCH(d, 2, 0); /* batches of batches */
  tfsdk_iterator *it = iterate(d);
  tfsdk_tensor *t = next(it);
  cr_expect_eq(tfsdk_tensor_rank(t), 2);
  cr_expect_eq(tfsdk_tensor_dims(t)[0], 2);
  cr_expect_eq(tfsdk_tensor_dims(t)[1], 4);
  tfsdk_tensor_release(t);
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
  d = count_to(rt, 3);
  BATCH(d, 1000000000000, 0); /* a size beyond all elements asks for no memory of its own */
  EXPECT_SIZES(d, 3);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

Test(dataset, batches_of_strings) {
  tfsdk_runtime *rt = new_runtime();
  const char *text[6] = {"a", "", "ccc", "dd", "e", "ffff"};
  tfsdk_tensor *in, *t;
  tfsdk_dataset *d;
  tfsdk_view v;
  uint64_t n;
  OK(tfsdk_tensor_create_strings(rt, 2, DIMS(3, 2), text, NULL, &in));
  OK(tfsdk_dataset_from_tensors(rt, NULL, &in, 1, &d));
  tfsdk_tensor_release(in);
  SKIP(d, 1);
  tfsdk_iterator *it = iterate(d);
  t = next(it);
  OK(tfsdk_tensor_view(t, &v));
  cr_expect_eq(v.n_elem, 2);
  cr_expect(memcmp(tfsdk_view_string(&v, 0, &n), "ccc", 3) == 0 && n == 3);
  cr_expect(memcmp(tfsdk_view_string(&v, 1, &n), "dd", 2) == 0 && n == 2);
  tfsdk_tensor_release(t);
  tfsdk_iterator_release(it);
  BATCH(d, 2, 0); /* of rows */
  BATCH(d, 1, 0); /* of tensors */
  it = iterate(d);
  t = next(it);
  OK(tfsdk_tensor_view(t, &v));
  cr_expect_eq(v.rank, 3);
  cr_expect_eq(v.n_elem, 4);
  for (int i = 0; i < 4; i++) {
    const char *s = tfsdk_view_string(&v, i, &n);
    cr_expect(n == strlen(text[i + 2]) && memcmp(s, text[i + 2], n) == 0, "string %d", i);
  }
  tfsdk_tensor_release(t);
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

/* Rows without bytes, and a dataset without rows. */
Test(dataset, empty_rows_and_no_rows) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_tensor *in = floats(rt, 2, DIMS(3, 0), NULL), *t;
  tfsdk_dataset *d;
  OK(tfsdk_dataset_from_tensors(rt, NULL, &in, 1, &d));
  tfsdk_tensor_release(in);
  BATCH(d, 2, 0);
  tfsdk_iterator *it = iterate(d);
  t = next(it);
  cr_expect_eq(tfsdk_tensor_dims(t)[0], 2);
  cr_expect_eq(tfsdk_tensor_dims(t)[1], 0);
  tfsdk_tensor_release(t);
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
  d = count_to(rt, 0);
  BATCH(d, 2, 0);
  it = iterate(d);
  cr_expect_null(next(it));
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

/* ---------------------------------------------------------------------------- more, fewer, none */

Test(dataset, take_and_skip) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_dataset *d = count_to(rt, 6);
  TAKE(d, 4);
  EXPECT_NUMBERS(d, 0, 1, 2, 3);
  SKIP(d, 1);
  EXPECT_NUMBERS(d, 1, 2, 3);
  REPEAT(d, 2);
  EXPECT_NUMBERS(d, 1, 2, 3, 1, 2, 3);
  TAKE(d, -1);
  EXPECT_NUMBERS(d, 1, 2, 3, 1, 2, 3);
  TAKE(d, 100);
  EXPECT_NUMBERS(d, 1, 2, 3, 1, 2, 3);
  SKIP(d, 0);
  EXPECT_NUMBERS(d, 1, 2, 3, 1, 2, 3);
  int64_t none[1];
  SKIP(d, 6);
  cr_expect_eq(drain(d, none, 1), 0);
  SKIP(d, -1);
  cr_expect_eq(drain(d, none, 1), 0);
  tfsdk_dataset_release(d);
  d = count_to(rt, 6);
  TAKE(d, 0);
  cr_expect_eq(drain(d, none, 1), 0);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

Test(dataset, repeat_without_end_and_of_nothing) {
  tfsdk_runtime *rt = new_runtime();
  int64_t none[1];
  tfsdk_dataset *d = count_to(rt, 3);
  REPEAT(d, -1);
  TAKE(d, 8);
  EXPECT_NUMBERS(d, 0, 1, 2, 0, 1, 2, 0, 1);
  tfsdk_dataset_release(d);
  d = count_to(rt, 3);
  REPEAT(d, 0);
  cr_expect_eq(drain(d, none, 1), 0);
  tfsdk_dataset_release(d);
  d = count_to(rt, 0);
  REPEAT(d, -1); /* ends rather than spins */
  cr_expect_eq(drain(d, none, 1), 0);
  tfsdk_dataset_release(d);
  d = count_to(rt, 3);
  BATCH(d, 4, 1); /* no whole batch: nothing to repeat either */
  REPEAT(d, -1);
  cr_expect_eq(drain(d, none, 1), 0);
  tfsdk_dataset_release(d);
  d = count_to(rt, 2);
  REPEAT(d, 2);
  REPEAT(d, 2);
  EXPECT_NUMBERS(d, 0, 1, 0, 1, 0, 1, 0, 1);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

/* ----------------------------------------------------------------------------------------- shuffle
 */

/* TRN-03: each epoch is a permutation; buffer 1 is the identity; row i never comes before output
 * position i - B + 1; the same seed gives the same order, other seeds and epochs others. */
Test(dataset, TRN_03_shuffle) {
  static const int64_t buffers[] = {1, 3, 5, 20, 100};
  tfsdk_runtime *rt = new_runtime();
  for (size_t b = 0; b < sizeof buffers / sizeof *buffers; b++) {
    int64_t got[3][40], again[40];
    for (int seed = 1; seed <= 2; seed++) {
      tfsdk_dataset *d = count_to(rt, 20);
      SHUFFLE(d, buffers[b], seed, 1);
      REPEAT(d, 2);
      cr_assert_eq(drain(d, got[seed], 40), 40);
      tfsdk_dataset_release(d);
      for (int epoch = 0; epoch < 2; epoch++) {
        bool seen[20] = {false};
        for (int p = 0; p < 20; p++) {
          int64_t row = got[seed][epoch * 20 + p];
          cr_assert(row >= 0 && row < 20 && !seen[row], "row %lld twice in an epoch",
                    (long long)row);
          seen[row] = true;
          cr_expect_geq(p, row - buffers[b] + 1, "row %lld at %d, buffer %lld", (long long)row, p,
                        (long long)buffers[b]);
          if (buffers[b] == 1) cr_expect_eq(row, p);
        }
      }
    }
    bool identity = buffers[b] == 1;
    cr_expect_eq(memcmp(got[1], got[2], 320) == 0, identity, "seeds 1 and 2, buffer %lld",
                 (long long)buffers[b]);
    cr_expect_eq(memcmp(got[1], got[1] + 20, 160) == 0, identity, "epochs 1 and 2");
    tfsdk_dataset *d = count_to(rt, 20);
    SHUFFLE(d, buffers[b], 1, 1);
    REPEAT(d, 2);
    cr_assert_eq(drain(d, again, 40), 40);
    cr_expect_arr_eq(again, got[1], 320, "the same seed, another dataset");
    tfsdk_dataset_release(d);
    d = count_to(rt, 20);
    SHUFFLE(d, buffers[b], 1, 0);
    REPEAT(d, 2);
    cr_assert_eq(drain(d, again, 40), 40);
    cr_expect_arr_eq(again, again + 20, 160, "without each_iteration all epochs are alike");
    tfsdk_dataset_release(d);
  }
  tfsdk_runtime_release(rt);
}

/* TRN-03: 10 rows in batches of 4, 2 epochs. */
Test(dataset, TRN_03_batch_and_repeat) {
  tfsdk_runtime *rt = new_runtime();
  for (int shuffled = 0; shuffled < 2; shuffled++) {
    for (int drop = 0; drop < 2; drop++) {
      tfsdk_dataset *d = count_to(rt, 10);
      if (shuffled) SHUFFLE(d, 10, 3, 1);
      REPEAT(d, 2);
      BATCH(d, 4, drop);
      EXPECT_SIZES(d, 4, 4, 4, 4, 4);
      tfsdk_dataset_release(d);
      d = count_to(rt, 10);
      if (shuffled) SHUFFLE(d, 10, 3, 1);
      BATCH(d, 4, drop);
      REPEAT(d, 2);
      if (drop)
        EXPECT_SIZES(d, 4, 4, 4, 4);
      else
        EXPECT_SIZES(d, 4, 4, 2, 4, 4, 2);
      tfsdk_dataset_release(d);
    }
  }
  tfsdk_runtime_release(rt);
}

/* A new iterator is a new pass: another order, and the same one for the same seed, whether or not
 * threads and unfinished iterators were in between. */
Test(dataset, shuffle_passes) {
  tfsdk_runtime *rt = new_runtime();
  int64_t plain[3][20], other[20];
  tfsdk_dataset *d = count_to(rt, 20);
  SHUFFLE(d, 20, 9, 1);
  for (int i = 0; i < 3; i++) cr_assert_eq(drain(d, plain[i], 20), 20);
  cr_expect_neq(memcmp(plain[0], plain[1], 160), 0);
  cr_expect_neq(memcmp(plain[1], plain[2], 160), 0);
  tfsdk_dataset_release(d);
  d = count_to(rt, 20);
  SHUFFLE(d, 20, 9, 1);
  REPEAT(d, 5);
  PREFETCH(d, 3);
  for (int i = 0; i < 3; i++) {
    tfsdk_iterator *it = iterate(d);
    for (int k = 0; k < 20; k++) {
      tfsdk_tensor *t = next(it);
      other[k] = *(const int64_t *)data_of(t);
      tfsdk_tensor_release(t);
    }
    tfsdk_iterator_release(it); /* with more elements waiting */
    cr_expect_arr_eq(other, plain[i], 160, "pass %d", i);
  }
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(rt);
}

/* Each of 5 rows is first in a fifth of the cases: binomial, 2000 draws, standard deviation 17.9;
 * 300 to 500 is more than five of them either way. */
Test(dataset, shuffle_is_uniform) {
  tfsdk_runtime *rt = new_runtime();
  int first[5] = {0}, last[5] = {0};
  int64_t got[5];
  for (int seed = 0; seed < 2000; seed++) {
    tfsdk_dataset *d = count_to(rt, 5);
    SHUFFLE(d, 5, seed, 1);
    cr_assert_eq(drain(d, got, 5), 5);
    first[got[0]]++;
    last[got[4]]++;
    tfsdk_dataset_release(d);
  }
  for (int i = 0; i < 5; i++) {
    cr_expect(first[i] > 300 && first[i] < 500, "row %d is first %d times", i, first[i]);
    cr_expect(last[i] > 300 && last[i] < 500, "row %d is last %d times", i, last[i]);
  }
  tfsdk_runtime_release(rt);
}

/* Without a seed the runtime's counts, if it has one; else it is one of chance. */
Test(dataset, shuffle_without_a_seed) {
  int64_t got[4][50];
  for (int i = 0; i < 4; i++) {
    tfsdk_runtime *rt = new_runtime();
    if (i < 2) tfsdk_runtime_set_seed(rt, 5);
    tfsdk_dataset *d = count_to(rt, 50);
    SHUFFLE(d, 50, -1, 1);
    cr_assert_eq(drain(d, got[i], 50), 50);
    tfsdk_dataset_release(d);
    tfsdk_runtime_release(rt);
  }
  cr_expect_arr_eq(got[0], got[1], sizeof got[0]);
  cr_expect_neq(memcmp(got[2], got[3], sizeof got[2]), 0);
  cr_expect_neq(memcmp(got[0], got[2], sizeof got[2]), 0);
}

/* -------------------------------------------------------------------------------------- generators
 */

Test(dataset, generator) {
  maker m = {.rt = new_runtime(), .n = 3, .fail_at = -1, .grow_at = -1};
  tfsdk_dataset *d = make_from(&m);
  cr_expect_str_eq(tfsdk_dataset_name(d, 0), "item");
  EXPECT_NUMBERS(d, 0, 1, 2);
  SHUFFLE(d, 1, 1, 1);
  REPEAT(d, 2);
  BATCH(d, 4, 0);
  EXPECT_NUMBERS(d, 0, 1, 2, 0, 1, 2);
  cr_expect_eq(m.starts, 3);
  cr_expect_eq(m.finishes, 3);
  cr_expect_eq(m.released, 0);
  tfsdk_dataset_release(d);
  cr_expect_eq(m.released, 1);
  tfsdk_runtime_release(m.rt);
}

Test(dataset, batch_of_unequal_shapes) {
  maker m = {.rt = new_runtime(), .n = 6, .fail_at = -1, .grow_at = 3};
  tfsdk_dataset *d = make_from(&m);
  tfsdk_tensor *t = NULL;
  int32_t end;
  BATCH(d, 2, 0);
  tfsdk_iterator *it = iterate(d);
  t = next(it);
  tfsdk_tensor_release(t);
  for (int i = 0; i < 2; i++) { /* an error stays */
    FAILS(
        tfsdk_iterator_next(it, &t, &end), TFSDK_INVALID_ARGUMENT,
        "component 'item' is int64 (1) in the first element of a batch and int64 (2) in element 1");
    cr_expect_null(t);
    cr_expect_eq(end, 0);
  }
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(m.rt);
}

static tfsdk_status *give_nothing(void *user, void *state, tfsdk_tensor **out, int32_t *out_end) {
  (void)user, (void)state, (void)out, (void)out_end;
  return NULL;
}

Test(dataset, generator_without_tensors) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_generator g = {.struct_size = sizeof g, .n = 1, .next = give_nothing};
  tfsdk_dataset *d;
  tfsdk_tensor *t;
  int32_t end;
  OK(tfsdk_dataset_from_generator(rt, &g, &d));
  tfsdk_iterator *it = iterate(d);
  FAILS(tfsdk_iterator_next(it, &t, &end), TFSDK_INVALID_ARGUMENT,
        "no tensor of this runtime for component 0");
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
  g.next = NULL;
  FAILS(tfsdk_dataset_from_generator(rt, &g, &d), TFSDK_INVALID_ARGUMENT, "next");
  tfsdk_runtime_release(rt);
}

/* --------------------------------------------------------------------------------------- memory */

/* Lets every allocation of a whole pipeline fail in turn: an error each time, and nothing is left.
 */
Test(dataset, failing_allocations) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_dataset *source = count_to(rt, 9);
  uint64_t held = blocks(rt);
  bool done = false;
  for (uint64_t n = 1; !done && n < 2000; n++) {
    tfsdk_dataset *step[6] = {source};
    tfsdk_iterator *it = NULL;
    int32_t end = 0, k = 0;
    tfsdk_runtime_fail_allocation(rt, n, 0);
    tfsdk_status *s = tfsdk_dataset_shuffle(source, 4, 1, 1, &step[++k]);
    if (s == NULL) s = tfsdk_dataset_batch(step[k], 2, 0, &step[k + 1]), k++;
    if (s == NULL) s = tfsdk_dataset_repeat(step[k], 2, &step[k + 1]), k++;
    if (s == NULL) s = tfsdk_dataset_batch(step[k], 2, 1, &step[k + 1]), k++;
    if (s == NULL) s = tfsdk_dataset_prefetch(step[k], 2, &step[k + 1]), k++;
    if (s == NULL) s = tfsdk_iterator_create(step[k], &it);
    while (s == NULL && !end) {
      tfsdk_tensor *t = NULL;
      s = tfsdk_iterator_next(it, &t, &end);
      tfsdk_tensor_release(t);
    }
    /* Batches of 2, 2, 2, 2 and 1 cannot be batched again: that error is the program's own. */
    done = s != NULL && tfsdk_status_code(s) == TFSDK_INVALID_ARGUMENT;
    cr_assert(s != NULL && (done || tfsdk_status_code(s) == TFSDK_RESOURCE_EXHAUSTED), "%s",
              tfsdk_status_text(s));
    tfsdk_runtime_fail_allocation(rt, 0, 0);
    tfsdk_status_release(s);
    tfsdk_iterator_release(it);
    for (int i = 1; i <= k; i++) tfsdk_dataset_release(step[i]);
    cr_assert_eq(blocks(rt), held, "%llu blocks are left when allocation %llu fails",
                 (unsigned long long)(blocks(rt) - held), (unsigned long long)n);
  }
  cr_expect(done);
  tfsdk_dataset_release(source);
  tfsdk_runtime_release(rt);
}

Test(dataset, named_tensors_are_released) {
  tfsdk_runtime *rt = new_runtime();
  uint64_t held = blocks(rt);
  tfsdk_named_tensor *list = malloc(2 * sizeof *list);
  for (int i = 0; i < 2; i++) {
    list[i].name = strdup("w");
    list[i].tensor = FLOATS(rt, 1, DIMS(1), 1);
  }
  tfsdk_named_tensors_release(list, 2);
  tfsdk_named_tensors_release(NULL, 0);
  cr_expect_eq(blocks(rt), held);
  tfsdk_runtime_release(rt);
}
