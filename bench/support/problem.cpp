#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>

namespace simdattn::bench {
namespace {

template <class T>
auto view(T* data, const Shape& shape, std::int64_t heads, std::int64_t seq, std::int64_t dim) {
  return shape.layout == Layout::bshd ? bshd(data, shape.batch, seq, heads, dim)
                                      : bhsd(data, shape.batch, heads, seq, dim);
}

void fill(Buffer& buffer, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::generate_n(buffer.data(), buffer.count(), [&] { return normal(random); });
}

} // namespace

BenchProblem::BenchProblem(const Shape& shape)
    : shape_(shape), query_(shape.batch * shape.heads * shape.queries * shape.dim),
      key_(shape.batch * shape.kv_heads * shape.keys * shape.dim),
      value_(shape.batch * shape.kv_heads * shape.keys * shape.value_dim),
      output_(shape.batch * shape.heads * shape.queries * shape.value_dim) {
  std::mt19937 random(1);
  for (Buffer* buffer : {&query_, &key_, &value_})
    fill(*buffer, random);
}

AttentionTensors BenchProblem::tensors() noexcept {
  AttentionTensors tensors;
  const Buffer &query = query_, &key = key_, &value = value_;
  tensors.query = view(query.data(), shape_, shape_.heads, shape_.queries, shape_.dim);
  tensors.key = view(key.data(), shape_, shape_.kv_heads, shape_.keys, shape_.dim);
  tensors.value = view(value.data(), shape_, shape_.kv_heads, shape_.keys, shape_.value_dim);
  tensors.output = view(output_.data(), shape_, shape_.heads, shape_.queries, shape_.value_dim);
  return tensors;
}

AttentionOptions BenchProblem::options() const noexcept {
  AttentionOptions options;
  options.causal = shape_.causal;
  return options;
}

Status BenchProblem::check_output() {
  if (expected_.empty()) {
    std::vector<float> actual(output_.data(), output_.data() + output_.count());
    if (Status status = scaled_dot_product_attention(tensors(), options()); !status.ok())
      return status;
    expected_.assign(output_.data(), output_.data() + output_.count());
    std::copy(actual.begin(), actual.end(), output_.data());
  }
  // Far above any rounding of N(0, 1) data, far below any mistake.
  constexpr float tolerance = 2e-5f;
  for (std::size_t i = 0; i < expected_.size(); ++i) {
    const float actual = output_.data()[i];
    if (!(std::abs(actual - expected_[i]) <= tolerance)) {
      return Status::error(StatusCode::invalid_argument,
                           "output element %zu is %g, and the library has %g", i,
                           static_cast<double>(actual), static_cast<double>(expected_[i]));
    }
  }
  return {};
}

BenchProblem& problem_of(const Shape& shape) {
  static std::map<std::string, BenchProblem> problems;
  return problems.try_emplace(shape.name, shape).first->second;
}

} // namespace simdattn::bench
