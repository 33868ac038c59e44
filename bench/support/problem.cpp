#include "problem.hpp"

#include "random.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>

namespace simdattn::bench {
namespace {

template <class T>
auto view(T* data, const Shape& shape, std::int64_t heads, std::int64_t seq, std::int64_t dim) {
  return shape.layout == Layout::bshd ? bshd(data, shape.batch, seq, heads, dim)
                                      : bhsd(data, shape.batch, heads, seq, dim);
}

/// So many numbers from N(0, 1); the same memory as long as someone else has it.
std::shared_ptr<const Buffer> shared_numbers(std::int64_t count) {
  static std::map<std::int64_t, std::weak_ptr<const Buffer>> known;
  if (const auto found = known[count].lock()) return found;
  const auto made = std::make_shared<Buffer>(count);
  std::mt19937 random(2);
  fill_normal(*made, random);
  known[count] = made;
  return made;
}

} // namespace

const Shape* shape_at(int index) {
  constexpr int named = std::size(shapes);
  if (index < 0 || index >= named + static_cast<int>(std::size(growth_shapes))) return nullptr;
  return index < named ? &shapes[index] : &growth_shapes[index - named];
}

AttentionTensors tensors_of(const Shape& shape, const TensorData& data) {
  AttentionTensors tensors;
  tensors.query = view(data.query, shape, shape.heads, shape.queries, shape.dim);
  tensors.key = view(data.key, shape, shape.kv_heads, shape.keys, shape.dim);
  tensors.value = view(data.value, shape, shape.kv_heads, shape.keys, shape.value_dim);
  tensors.output = view(data.output, shape, shape.heads, shape.queries, shape.value_dim);
  return tensors;
}

AttentionOptions options_of(const Shape& shape) {
  AttentionOptions options;
  options.causal = shape.causal;
  return options;
}

BenchProblem::BenchProblem(const Shape& shape)
    : shape_(shape), query_(shape.batch * shape.heads * shape.queries * shape.dim),
      output_(shape.batch * shape.heads * shape.queries * shape.value_dim),
      key_value_(shared_numbers(shape.batch * shape.kv_heads * shape.keys *
                                (shape.dim + shape.value_dim))) {
  std::mt19937 random(1);
  fill_normal(query_, random);
}

AttentionTensors BenchProblem::tensors() noexcept {
  const float* value =
      key_value_->data() + shape_.batch * shape_.kv_heads * shape_.keys * shape_.dim;
  return tensors_of(shape_, {query_.data(), key_value_->data(), value, output_.data()});
}

peak::Work BenchProblem::work(const char* isa, int threads) noexcept {
  peak::Work work{peak::attention_flops(tensors(), options()), isa, threads};
  if (few_queries(shape_)) {
    work.read_data = key_value_->data();
    work.read_bytes = key_value_->count() * sizeof(float);
  }
  return work;
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
