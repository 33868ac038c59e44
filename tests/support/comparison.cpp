#include "comparison.hpp"

#include "reference/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

namespace simdattn::test {
namespace {

constexpr int reported_mismatches = 5;

std::string place(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) {
  std::ostringstream text;
  text << '[' << b << "][" << h << "][" << i << "][" << d << ']';
  return text.str();
}

} // namespace

bool fulfils(float actual, const Demand& demand) noexcept {
  if (is_untouched(actual)) return false;
  const auto agree = demand.tolerance == 0 ? reference::agrees : reference::output_agrees;
  return agree(actual, demand.value, demand.tolerance);
}

::testing::AssertionResult elements_fulfil(const TestTensor& actual,
                                           const std::function<Demand(std::size_t)>& demand_at) {
  std::size_t index = 0;
  int mismatches = 0;
  ::testing::AssertionResult failure = ::testing::AssertionFailure();
  failure.message();
  for_each_index(actual.shape(), [&](auto b, auto h, auto i, auto d) {
    const float value = actual.at(b, h, i, d);
    const Demand demand = demand_at(index++);
    if (fulfils(value, demand) || ++mismatches > reported_mismatches) return;
    failure << "\n  " << place(b, h, i, d) << " is ";
    if (is_untouched(value))
      failure << "unwritten";
    else
      failure << value;
    failure << ", must be " << demand.value << " within " << demand.tolerance << " (off by "
            << std::abs(value - demand.value) << ")";
  });
  if (mismatches == 0) return ::testing::AssertionSuccess();
  return failure << "\n  " << mismatches << " of " << index << " elements are wrong";
}

namespace {

// The number of elements in a row, to find an element's row by.
std::size_t row_length(const TestTensor& tensor) {
  return static_cast<std::size_t>(std::max<std::int64_t>(tensor.shape().dim, 1));
}

} // namespace

::testing::AssertionResult output_matches(const TestTensor& output,
                                          const reference::Expected& expected,
                                          const reference::Tolerance& tolerance) {
  return elements_fulfil(output, [&, dim = row_length(output)](std::size_t index) -> Demand {
    return {expected.output[index], tolerance.rows[index / dim].output};
  });
}

::testing::AssertionResult lse_matches(const TestTensor& lse, const reference::Expected& expected,
                                       const reference::Tolerance& tolerance) {
  return elements_fulfil(lse, [&](std::size_t index) -> Demand {
    const double value = expected.lse[index];
    return {value, std::isinf(value) ? 0 : tolerance.rows[index].lse(value)};
  });
}

::testing::AssertionResult weights_match(const TestTensor& weights,
                                         const reference::Expected& expected,
                                         const reference::Tolerance& tolerance) {
  return elements_fulfil(weights, [&, keys = row_length(weights)](std::size_t index) -> Demand {
    const double value = expected.weights[index];
    return {value, value == 0 ? 0 : tolerance.rows[index / keys].weights};
  });
}

::testing::AssertionResult scores_match(const TestTensor& scores,
                                        const reference::Expected& expected,
                                        const reference::Tolerance& tolerance) {
  return elements_fulfil(scores, [&, keys = row_length(scores)](std::size_t index) -> Demand {
    const double value = expected.scores[index];
    return {value, std::isinf(value) ? 0 : tolerance.rows[index / keys].scores};
  });
}

::testing::AssertionResult same_elements(const TestTensor& actual, const TestTensor& expected) {
  ::testing::AssertionResult result = ::testing::AssertionSuccess();
  for_each_index(actual.shape(), [&](auto b, auto h, auto i, auto d) {
    const float x = actual.at(b, h, i, d), y = expected.at(b, h, i, d);
    if (result && !same_bits(x, y))
      result = ::testing::AssertionFailure()
               << place(b, h, i, d) << " is " << x << ", must be the bits of " << y;
  });
  return result;
}

double largest_error(const TestTensor& actual, const std::vector<double>& expected) {
  std::size_t index = 0;
  double largest = 0;
  for_each_index(actual.shape(), [&](auto b, auto h, auto i, auto d) {
    const double error = std::abs(actual.at(b, h, i, d) - expected[index++]);
    largest = error <= largest ? largest : error;
  });
  return largest;
}

} // namespace simdattn::test
