/* The random number generator of tfsdk/philox.h against its published known answers. */
#include <criterion/criterion.h>
#include <math.h>
#include <tfsdk/philox.h>

static void expect_block(const uint32_t key[2], const uint32_t counter[4], const uint32_t want[4]) {
  uint32_t got[4];
  tfsdk_philox128(key, counter, got);
  for (int i = 0; i < 4; i++)
    cr_expect_eq(got[i], want[i], "word %d: got %08x, want %08x", i, got[i], want[i]);
}

/* Random123 (Salmon et al., SC 2011), file kat_vectors, philox4x32 with 10 rounds: zeros, ones,
 * digits of pi. */
Test(philox, known_answers) {
  const uint32_t zeros[4] = {0, 0, 0, 0};
  const uint32_t ones[4] = {0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu};
  const uint32_t pi[4] = {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u};
  const uint32_t pi_key[2] = {0xa4093822u, 0x299f31d0u};
  const uint32_t want_zeros[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  const uint32_t want_ones[4] = {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu};
  const uint32_t want_pi[4] = {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u};
  expect_block(zeros, zeros, want_zeros);
  expect_block(ones, ones, want_ones);
  expect_block(pi_key, pi, want_pi);
}

/* The short form has the counter in the lower half. */
Test(philox, counter_of_64_bits) {
  const uint32_t key[2] = {3, 4}, wide[4] = {0x89abcdefu, 0x01234567u, 0, 0};
  uint32_t a[4], b[4];
  tfsdk_philox(key, 0x0123456789abcdefu, a);
  tfsdk_philox128(key, wide, b);
  for (int i = 0; i < 4; i++) cr_expect_eq(a[i], b[i]);
}

/* Counters and keys that differ in one bit give blocks that differ in about half of theirs: 64 of
 * 128, standard deviation 5.7; 24 to 104 is seven of them either way. */
Test(philox, every_bit_matters) {
  const uint32_t key[2] = {0x12345678u, 0x9abcdef0u};
  uint32_t base[4], other[4];
  tfsdk_philox(key, 77, base);
  for (int bit = 0; bit < 128; bit++) {
    uint32_t k[2] = {key[0], key[1]};
    uint64_t counter = 77;
    int flips = 0;
    if (bit < 64)
      counter ^= (uint64_t)1 << bit;
    else
      k[(bit - 64) / 32] ^= 1u << (bit % 32);
    tfsdk_philox(k, counter, other);
    for (int i = 0; i < 4; i++) flips += __builtin_popcount(base[i] ^ other[i]);
    cr_expect(flips >= 24 && flips <= 104, "bit %d changes %d of 128 bits", bit, flips);
  }
}

/* Uniform numbers lie in [0, 1), at both ends of the range of bits. */
Test(philox, uniform_bounds) {
  cr_expect_eq(tfsdk_uniform_float(0), 0.0f);
  cr_expect_lt(tfsdk_uniform_float(0xffffffffu), 1.0f);
  cr_expect_eq(tfsdk_uniform_float(0xffffffffu), 1.0f - ldexpf(1, -24));
  cr_expect_eq(tfsdk_uniform_double(0, 0), 0.0);
  cr_expect_eq(tfsdk_uniform_double(0xffffffffu, 0xffffffffu), 1.0 - ldexp(1, -53));
}

/* A uniform distribution has mean 1/2 and variance 1/12: of 2^20 draws, six standard errors. */
Test(philox, uniform_moments) {
  const uint32_t key[2] = {1, 2};
  const int64_t n = 1 << 20;
  double sum = 0, squares = 0, mean, variance;
  for (int64_t b = 0; b < n / 4; b++) {
    uint32_t w[4];
    tfsdk_philox(key, (uint64_t)b, w);
    for (int i = 0; i < 4; i++) {
      double u = (double)tfsdk_uniform_float(w[i]);
      sum += u;
      squares += u * u;
    }
  }
  mean = sum / (double)n;
  variance = squares / (double)n - mean * mean;
  cr_expect_float_eq(mean, 0.5, 6 * sqrt(1.0 / 12 / (double)n));
  cr_expect_float_eq(variance, 1.0 / 12, 6 * sqrt(1.0 / 180 / (double)n));
}
