#include "measure.hpp"

#include <algorithm>
#include <chrono>

namespace simdattn::command {
namespace {

// How many (query, key) pairs of one head are visible.
double visible_pairs(std::int64_t queries, std::int64_t keys, Causal causal) {
  if (causal == Causal::none) return static_cast<double>(queries) * static_cast<double>(keys);
  const std::int64_t offset = causal == Causal::bottom_right ? keys - queries : 0;
  double pairs = 0;
  for (std::int64_t i = 0; i < queries; ++i) {
    pairs += static_cast<double>(std::clamp<std::int64_t>(i + offset + 1, 0, keys));
  }
  return pairs;
}

} // namespace

Timing measure(const std::function<void()>& call, int count, double budget_seconds,
               const std::function<void(double)>& after) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    call();
    times.push_back(seconds_since(start));
    if (after) after(times.back());
  } while (static_cast<int>(times.size()) < count && seconds_since(begin) < budget_seconds);
  return {median(times), static_cast<int>(times.size())};
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

double attention_flops(const AttentionTensors& tensors, const AttentionOptions& options) {
  const double heads = static_cast<double>(tensors.query.size[0] * tensors.query.size[1]);
  const double dims = static_cast<double>(tensors.query.size[3] + tensors.value.size[3]);
  return 2 * heads * dims *
         visible_pairs(tensors.query.size[2], tensors.key.size[2], options.causal);
}

} // namespace simdattn::command
