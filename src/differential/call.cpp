#include "differential/call.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace simdattn::differential {
namespace {

template <class T>
StridedMemory<T> memory_of(const TensorPlan& plan) {
  return plan.strides ? StridedMemory<T>(plan.size, *plan.strides) : StridedMemory<T>();
}

TensorView view_of(const ListPlan& list) {
  return list ? per_batch(list->data(), static_cast<std::int64_t>(list->size())) : TensorView{};
}

// Rounded towards 0, but at least as large as the least normal number or 0.
void narrow(float x, Float16& narrow) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  const std::uint32_t least = 113u << 23, most = (142u << 23) + 0x7fe000u;
  const std::uint32_t kept = size < least ? 0 : (std::min(size, most) - (112u << 23)) >> 13;
  narrow.bits = static_cast<std::uint16_t>(sign | (std::isnan(x)   ? 0x7e00u
                                                   : std::isinf(x) ? 0x7c00u
                                                                   : kept));
}
// Rounded towards 0.
void narrow(float x, BFloat16& narrow) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  narrow.bits = static_cast<std::uint16_t>(std::isnan(x) ? 0x7fc0u : bits >> 16);
}

template <class T>
StridedMemory<T> narrowed(const StridedMemory<float>& wide) {
  StridedMemory<T> result(wide.size(), wide.strides());
  for_each_index(wide.size(), [&](auto b, auto h, auto i, auto j) {
    narrow(wide.at(b, h, i, j), result.at(b, h, i, j));
  });
  return result;
}

// Which keys of one row of a mask are excluded: single ones, or runs and whole rows.
class Excluder {
public:
  Excluder(Random& random, const Case& c)
      : random_(random), percent_(c.mask_percent), in_runs_(c.mask_in_runs) {}

  void begin_row() {
    excluded_ = random_.chance(percent_);
    whole_row_ = in_runs_ && random_.chance(20);
  }
  bool operator()() {
    if (!in_runs_) return random_.chance(percent_);
    if (!whole_row_ && random_.chance(5)) excluded_ = random_.chance(percent_);
    return excluded_;
  }

private:
  Random& random_;
  int percent_;
  bool in_runs_, excluded_ = false, whole_row_ = false;
};

} // namespace

Call::Call(const Case& description, Random& random)
    : output(memory_of<float>(description.output)), lse(memory_of<float>(description.lse)),
      weights(memory_of<float>(description.weights)), case_(description),
      query_(memory_of<float>(case_.query)), key_(memory_of<float>(case_.key)),
      value_(memory_of<float>(case_.value)), past_key_(memory_of<float>(case_.past_key)),
      past_value_(memory_of<float>(case_.past_value)), slopes_(memory_of<float>(case_.slopes)),
      sinks_(memory_of<float>(case_.sinks)) {
  if (case_.mask_type == DataType::boolean) boolean_mask_ = memory_of<bool>(case_.mask);
  if (case_.adds_mask()) additive_mask_ = memory_of<float>(case_.mask);
  fill(random);
  fill_mask(random);
  if (case_.poison == Poison::unseen) poison_unseen(random);
  if (case_.poison == Poison::anywhere) poison_anywhere(random);
  if (case_.mask_type == DataType::f16) f16_mask_ = narrowed<Float16>(additive_mask_);
  if (case_.mask_type == DataType::bf16) bf16_mask_ = narrowed<BFloat16>(additive_mask_);
}

void Call::fill(Random& random) {
  query_.fill([&] { return case_.query_size * random.normal(); });
  for (StridedMemory<float>* tensor : {&key_, &value_, &past_key_, &past_value_})
    tensor->fill([&] { return random.normal(); });
  slopes_.fill([&] { return case_.slope_size * random.uniform(); });
  sinks_.fill([&] { return random.chance(5) ? -INFINITY : case_.sink_size * random.normal(); });
}

void Call::fill_mask(Random& random) {
  Excluder excluded(random, case_);
  const auto finite = [&] {
    if (case_.mask_size >= 0) return case_.mask_size * random.normal();
    return random.chance(50) ? case_.mask_size : random.normal();
  };
  for_each_index(case_.mask.size, [&](auto b, auto h, auto i, auto j) {
    if (j == 0) excluded.begin_row();
    const bool excludes = excluded();
    if (boolean_mask_.present()) boolean_mask_.at(b, h, i, j) = !excludes;
    if (additive_mask_.present()) additive_mask_.at(b, h, i, j) = excludes ? -INFINITY : finite();
  });
}

// s becomes 3/4 s plus a number that tells the place, so that a wrong place shows.
void Call::modify(void* user, const ScoreTile& tile) {
  auto& call = *static_cast<Call*>(user);
  const Case& c = call.case_;
  if (tile.batch < 0 || tile.batch >= c.batch || tile.head < 0 || tile.head >= c.heads() ||
      tile.first_row < 0 || tile.first_row + tile.row_count > c.query_count(tile.batch) ||
      tile.first_key < 0 || tile.first_key + tile.key_count > c.key_count(tile.batch)) {
    call.misplaced_ = true;
    return;
  }
  for (std::int64_t r = 0; r < tile.row_count; ++r)
    for (std::int64_t k = 0; k < tile.key_count; ++k) {
      const std::int64_t place =
          tile.batch * 5 + tile.head * 3 + (tile.first_row + r) * 7 + (tile.first_key + k) * 11;
      float& score = tile.scores[r * tile.row_stride + k * tile.key_stride];
      score = 0.75f * score + static_cast<float>(place % 16) * 0.0625f;
    }
}

AttentionOptions Call::options() noexcept {
  AttentionOptions options = case_.options;
  if (case_.modified) options.modifier = {&Call::modify, this};
  return options;
}

TensorView Call::mask() const noexcept {
  switch (case_.mask_type) {
  case DataType::boolean:
    return boolean_mask_.input();
  case DataType::f16:
    return f16_mask_.input();
  case DataType::bf16:
    return bf16_mask_.input();
  default:
    return additive_mask_.input();
  }
}

AttentionTensors Call::tensors() noexcept {
  AttentionTensors tensors;
  tensors.query = query_.input();
  tensors.key = key_.input();
  tensors.value = value_.input();
  tensors.past_key = past_key_.input();
  tensors.past_value = past_value_.input();
  tensors.mask = mask();
  tensors.alibi_slopes = slopes_.input();
  tensors.sinks = sinks_.input();
  tensors.query_starts = view_of(case_.query_starts);
  tensors.kv_starts = view_of(case_.kv_starts);
  tensors.query_lengths = view_of(case_.query_lengths);
  tensors.kv_lengths = view_of(case_.kv_lengths);
  tensors.query_offsets = view_of(case_.query_offsets);
  tensors.output = output.output();
  tensors.lse = lse.output();
  tensors.weights = weights.output();
  return tensors;
}

} // namespace simdattn::differential
