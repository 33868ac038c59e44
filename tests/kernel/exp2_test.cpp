// The exponential of every table, at every float it can be given.

#include "dispatch.hpp"
#include "support/effort.hpp"
#include "support/guarded_buffer.hpp"
#include "support/implementations.hpp"
#include "support/test_tensor.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace simdattn::test {
namespace {

// Floats are taken in runs of this many neighbours, all of one binade.
constexpr std::uint32_t run = 4096;
constexpr std::uint32_t sign = 0x80000000u;
constexpr std::uint32_t next_to_0 = 0xb2800000u; // -2^-26: 2^x rounds to 1 from there on
constexpr std::uint32_t cutoff = 0xc27e0000u;    // -63.5
constexpr std::uint32_t minus_infinity = 0xff800000u;
constexpr std::uint32_t mantissa_bits = 23;

float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

class Exp2 : public ImplementationTest {
protected:
  using Run = std::array<float, run>;

  // 2^x of the run of floats whose first has these bits.
  void evaluate(std::uint32_t first, Run& y) const {
    Run x;
    for (std::uint32_t k = 0; k < run; ++k)
      x[k] = from_bits(first + k);
    implementation()->table->exp2(x.data(), y.data(), run);
  }

  // From one run that is tried to the next: all of them, but samples of them where that would take
  // minutes.
  std::uint32_t stride() const {
    const bool odd = implementation_name(implementation()) == std::string("odd");
    return run * static_cast<std::uint32_t>(effort(odd ? 61 : 1, 4093));
  }
};

// 2^(x + k·h) for the floats x + k·h of a run, as 2^x · 2^(k·h), in double.
class ExactRun {
public:
  // `step` is the distance h of two neighbours.
  void set_step(double step) {
    if (step == step_) return;
    step_ = step;
    for (std::uint32_t k = 0; k < run; ++k)
      power_[k] = std::exp2(step * k);
  }

  // The largest error of y, in units in the last place of the exact value's float.
  double largest_error(double first, const std::array<float, run>& y) const {
    const double factor = std::exp2(first);
    double largest = 0;
    for (std::uint32_t k = 0; k < run; ++k) {
      const double exact = factor * power_[k];
      constexpr std::uint64_t exponent_bits = 0x7ff0000000000000u;
      const double binade =
          std::bit_cast<double>(std::bit_cast<std::uint64_t>(exact) & exponent_bits);
      const double error = std::abs(static_cast<double>(y[k]) - exact) / binade;
      largest = error > largest || error != error ? error : largest;
    }
    return largest * 0x1p23;
  }

private:
  double step_ = 0;
  std::array<double, run> power_{};
};

// How many of a run are outside [least, most] or NaN. A loop that compilers vectorise.
std::uint32_t count_outside(const std::array<float, run>& y, float least, float most) {
  std::uint32_t outside = 0;
  for (const float value : y)
    outside += value >= least && value <= most ? 0u : 1u;
  return outside;
}

TEST_P(Exp2, is_1_or_the_float_below_of_every_float_next_to_0) {
  Run y;
  for (std::uint32_t first = sign; first < next_to_0; first += stride()) {
    evaluate(first, y);
    ASSERT_EQ(count_outside(y, 1 - 0x1p-24f, 1), 0u) << "in the run from " << from_bits(first);
  }
}

TEST_P(Exp2, is_within_2_ulp_of_every_other_float_above_minus_63_and_a_half) {
  ExactRun exact;
  Run y;
  double largest = 0;
  std::uint32_t worst = 0;
  for (std::uint32_t first = next_to_0; first < cutoff; first += stride()) {
    const int exponent = static_cast<int>((first & ~sign) >> mantissa_bits);
    exact.set_step(-std::ldexp(1.0, exponent - 150));
    evaluate(first, y);
    const double error = exact.largest_error(from_bits(first), y);
    if (!(error <= largest)) largest = error, worst = first;
  }
  EXPECT_LE(largest, 2.0) << "in the run from " << from_bits(worst);
  RecordProperty("largest_error_in_ulp", std::to_string(largest));
}

TEST_P(Exp2, is_exact_at_whole_numbers) {
  for (int n = 0; n <= 63; ++n) {
    const float x = static_cast<float>(-n);
    float y = 0;
    implementation()->table->exp2(&x, &y, 1);
    EXPECT_EQ(y, std::ldexp(1.0f, -n)) << n;
  }
}

TEST_P(Exp2, is_exactly_0_from_minus_63_and_a_half_down) {
  Run y;
  // 64 bits: the last step passes -inf, and where runs are sampled it may pass 2^32.
  for (std::uint64_t bits = cutoff; bits <= minus_infinity - run; bits += stride()) {
    const auto first = static_cast<std::uint32_t>(bits);
    evaluate(first, y);
    ASSERT_EQ(count_outside(y, 0, 0), 0u) << "in the run from " << from_bits(first);
  }
  evaluate(minus_infinity - run + 1, y);
  ASSERT_EQ(count_outside(y, 0, 0), 0u) << "in the run that ends at -inf";
}

TEST_P(Exp2, of_nan_is_nan_whatever_its_sign_and_payload) {
  Run y;
  for (const std::uint32_t infinity : {0x7f800000u, 0xff800000u})
    for (std::uint32_t offset = 1; offset < 0x800000u; offset += stride()) {
      const std::uint32_t first = infinity + std::min(offset, 0x800000u - run);
      evaluate(first, y);
      for (std::uint32_t k = 0; k < run; ++k)
        ASSERT_TRUE(std::isnan(y[k])) << std::hex << first + k;
    }
}

TEST_P(Exp2, reads_and_writes_as_many_as_it_is_told) {
  const int most = 3 * implementation()->table->tiles.lanes + 1;
  for (int count = 0; count <= most; ++count)
    for (const Placement placement : {Placement::front, Placement::back}) {
      const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
      const GuardedBuffer x(bytes, placement), y(bytes, placement);
      auto* input = reinterpret_cast<float*>(x.data());
      const auto* output = reinterpret_cast<float*>(y.data());
      for (int i = 0; i < count; ++i)
        input[i] = static_cast<float>(-i);
      implementation()->table->exp2(input, reinterpret_cast<float*>(y.data()), count);
      for (int i = 0; i < count; ++i)
        ASSERT_EQ(output[i], std::ldexp(1.0f, -i));
    }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Exp2);

} // namespace
} // namespace simdattn::test
