#include "options.hpp"

#include "support/random.hpp"

#include <algorithm>
#include <cmath>

namespace simdattn::bench {
namespace {

constexpr unsigned models = prefill | decode;

/// A mask [1, heads, Lq, Lkv] of numbers from N(0, 1).
Buffer& add_numbers(OptionCall& call, std::int64_t heads) {
  const Shape& shape = call.shape();
  Buffer& mask = call.numbers(heads * shape.queries * shape.keys);
  std::mt19937 random(2);
  fill_normal(mask, random);
  call.tensors.mask = bhsd<const float>(mask.data(), 1, heads, shape.queries, shape.keys);
  return mask;
}

/// A boolean mask [1, heads, Lq, Lkv]; attend(i) says what element i is.
template <class Attend>
void add_booleans(OptionCall& call, std::int64_t heads, std::int64_t queries, Attend attend) {
  const std::int64_t count = heads * queries * call.shape().keys;
  bool* mask = call.booleans(count);
  for (std::int64_t i = 0; i < count; ++i)
    mask[i] = attend(i);
  call.tensors.mask = bhsd<const bool>(mask, 1, heads, queries, call.shape().keys);
}

/// Replaces one of the plain call's tensors by a copy, each number times `factor`.
void scale(OptionCall& call, TensorView& tensor, float factor) {
  const std::int64_t count = tensor.size[0] * tensor.size[1] * tensor.size[2] * tensor.size[3];
  const auto* source = static_cast<const float*>(tensor.data);
  Buffer& copy = call.numbers(count);
  std::transform(source, source + count, copy.data(),
                 [=](float number) { return number * factor; });
  tensor.data = copy.data();
}

void scale_data(OptionCall& call, float query, float key, float value) {
  scale(call, call.tensors.query, query);
  scale(call, call.tensors.key, key);
  scale(call, call.tensors.value, value);
}

// Key 0 has a score of about 95, all others about 0: e^-95 is a denormal number.
void let_weights_turn_denormal(OptionCall& call) {
  const std::int64_t dim = call.shape().dim;
  scale_data(call, 1.0f, 1.0f, 1.0f);
  const float size = std::sqrt(95.0f * std::sqrt(static_cast<float>(dim)));
  const auto set_first = [&](const TensorView& view, float (*number)(std::int64_t, float)) {
    auto* data = static_cast<float*>(const_cast<void*>(view.data));
    for (std::int64_t row = 0; row < view.size[1] * view.size[2]; ++row)
      data[row * dim] = number(row % view.size[2], size);
  };
  set_first(call.tensors.query, [](std::int64_t, float number) { return number; });
  set_first(call.tensors.key, [](std::int64_t j, float number) { return j == 0 ? number : 0.0f; });
}

void use_bshd(TensorView& view) {
  view = bshd(static_cast<const float*>(view.data), view.size[0], view.size[2], view.size[1],
              view.size[3]);
}

constexpr Option options[] = {
    {"plain", ~0u, "plain", 0, [](OptionCall&) {}},
    {"causal", prefill | long_prefill, "plain", 0,
     [](OptionCall& call) { call.options.causal = Causal::bottom_right; }},
    {"window_128", long_prefill, "plain", 0.03,
     [](OptionCall& call) {
       call.options.window_left = 127;
       call.options.window_right = 0;
     }},
    {"kv_lengths_half", models, "plain", 0.6,
     [](OptionCall& call) {
       std::int64_t* lengths = call.integers(call.shape().batch);
       std::fill_n(lengths, call.shape().batch, call.shape().keys / 2);
       call.tensors.kv_lengths = per_batch<const std::int64_t>(lengths, call.shape().batch);
     }},
    {"boolean_mask_half", models, "plain", 0.6,
     [](OptionCall& call) {
       const std::int64_t keys = call.shape().keys;
       add_booleans(call, 1, 1, [=](std::int64_t j) { return j < keys / 2; });
     }},
    {"boolean_mask", models, "plain", 1.15,
     [](OptionCall& call) {
       add_booleans(call, 1, call.shape().queries, [](std::int64_t) { return true; });
     }},
    {"boolean_mask_per_head", models, "plain", 1.15,
     [](OptionCall& call) {
       add_booleans(call, call.shape().heads, call.shape().queries,
                    [](std::int64_t) { return true; });
     }},
    // Some excluded key in every block of every row.
    {"boolean_mask_scattered", models, "plain", 1.15,
     [](OptionCall& call) {
       std::mt19937 random(1);
       add_booleans(call, 1, call.shape().queries, [&](std::int64_t) { return random() % 8 != 0; });
     }},
    {"additive_mask", models, "plain", 1.15, [](OptionCall& call) { add_numbers(call, 1); }},
    {"additive_mask_per_head", models, "plain", 1.15,
     [](OptionCall& call) { add_numbers(call, call.shape().heads); }},
    // What it costs that NaN in an excluded key must not reach the output.
    {"additive_mask_excluding", models, "additive_mask", 1.03,
     [](OptionCall& call) {
       Buffer& mask = add_numbers(call, 1);
       for (std::size_t i = 0; i < mask.count(); i += 61)
         mask.data()[i] = -INFINITY;
     }},
    {"alibi", models, "plain", 1.05,
     [](OptionCall& call) {
       Buffer& slopes = call.numbers(call.shape().heads);
       for (std::int64_t h = 0; h < call.shape().heads; ++h)
         slopes.data()[h] =
             std::exp2(-8.0f * static_cast<float>(h + 1) / static_cast<float>(call.shape().heads));
       call.tensors.alibi_slopes = per_head<const float>(slopes.data(), 1, call.shape().heads);
     }},
    {"softcap", models, "plain", 1.35, [](OptionCall& call) { call.options.softcap = 30.0f; }},
    {"bshd_query_output", many_heads, "plain", 1.03,
     [](OptionCall& call) {
       use_bshd(call.tensors.query);
       const Shape& shape = call.shape();
       call.tensors.output = bshd(static_cast<float*>(call.tensors.output.data), shape.batch,
                                  shape.queries, shape.heads, shape.value_dim);
     }},
    {"bshd_key_value", many_heads, "plain", 1.15,
     [](OptionCall& call) {
       use_bshd(call.tensors.key);
       use_bshd(call.tensors.value);
     }},
    {"data_scores_400", models, "plain", 1.05,
     [](OptionCall& call) { scale_data(call, 100.0f, 1.0f, 1.0f); }},
    {"data_scores_far_values_tiny", models, "plain", 1.05,
     [](OptionCall& call) { scale_data(call, 20.0f, 20.0f, 1e-30f); }},
    {"data_denormal_products", models, "plain", 1.05,
     [](OptionCall& call) { scale_data(call, 10.0f, 1.0f, 1e-30f); }},
    {"data_denormal_weights", models, "plain", 1.05, let_weights_turn_denormal},
    {"data_equal_scores", models, "plain", 1.05,
     [](OptionCall& call) { scale_data(call, 0.0f, 1.0f, 1.0f); }},
};

} // namespace

OptionCall::OptionCall(BenchProblem& plain)
    : tensors(plain.tensors()), options(plain.options()), plain_(plain) {}

Buffer& OptionCall::numbers(std::int64_t count) { return numbers_.emplace_back(count); }

bool* OptionCall::booleans(std::int64_t count) {
  return booleans_.emplace_back(new bool[static_cast<std::size_t>(count)]).get();
}

std::int64_t* OptionCall::integers(std::int64_t count) {
  return integers_.emplace_back(new std::int64_t[static_cast<std::size_t>(count)]).get();
}

const std::vector<Option>& all_options() {
  static const std::vector<Option> list(std::begin(options), std::end(options));
  return list;
}

} // namespace simdattn::bench
