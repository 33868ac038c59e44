#include "score_options.hpp"

#include "error.hpp"
#include "npy_file.hpp"

#include <cmath>

namespace simdattn::command {
namespace {

Array load_if_given(const char* option, const std::string& path, const NpyKind& kind) {
  return path.empty() ? Array{} : load_npy(option, path, kind);
}

TensorView view_if_there(const Array& array) {
  return array.data.empty() ? TensorView{} : tensor_view(array);
}

/// [heads] or [batch, heads] as [batch, heads, 1, 1].
TensorView per_head_view(const Array& array) {
  if (array.data.empty()) return {};
  TensorView view = per_head(values(array), 1, array.shape.back());
  view.stride[1] = array.stride.back();
  if (array.shape.size() == 2) {
    view.size[0] = array.shape[0];
    view.stride[0] = array.stride[0];
  }
  return view;
}

/// A mask's rank counts from its last axis: [Lkv], [Lq, Lkv], [heads, Lq, Lkv] and so on.
TensorView mask_view(const Array& array) {
  if (array.data.empty()) return {};
  TensorView view{array.data.data(), array.type, {1, 1, 1, 1}, {0, 0, 0, 0}};
  const std::size_t missing = 4 - array.shape.size();
  for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
    view.size[missing + axis] = array.shape[axis];
    view.stride[missing + axis] = array.stride[axis];
  }
  return view;
}

} // namespace

void add_score_options(CLI::App& app, ScoreOptions& options) {
  app.add_option("--mask", options.mask,
                 ".npy file, bool (true: attend) or float32 (added to the scores): [..., query seq, "
                 "key seq], axes counted from the last, each of its size or 1");
  app.add_option("--window", options.window,
                 "LEFT,RIGHT: keys before and after its own position that a query sees; -1: all")
      ->delimiter(',')
      ->expected(2);
  app.add_option("--kv-lengths", options.kv_lengths,
                 "N,N,...: for each batch entry, the keys from this number on are hidden")
      ->delimiter(',');
  app.add_option("--softcap", options.softcap, "c: scores become c * tanh(score / c)");
  app.add_option("--alibi", options.alibi,
                 ".npy file, float32: ALiBi slopes, [heads] or [batch, heads]");
  app.add_option("--sinks", options.sinks,
                 ".npy file, float32: attention sinks, [heads] or [batch, heads]");
  CLI::Option* past_key = app.add_option("--past-key", options.past_key,
                                         ".npy file: keys that come before those of --key");
  CLI::Option* past_value = app.add_option("--past-value", options.past_value,
                                           ".npy file: values that come before those of --value");
  past_key->needs(past_value);
  past_value->needs(past_key);
}

ScoreInputs load_score_inputs(const ScoreOptions& options, std::size_t query_rank) {
  const NpyKind past{false, query_rank, query_rank};
  ScoreInputs inputs;
  inputs.mask = load_if_given("--mask", options.mask, {true, 1, 4});
  inputs.alibi = load_if_given("--alibi", options.alibi, {false, 1, 2});
  inputs.sinks = load_if_given("--sinks", options.sinks, {false, 1, 2});
  inputs.past_key = load_if_given("--past-key", options.past_key, past);
  inputs.past_value = load_if_given("--past-value", options.past_value, past);
  inputs.kv_lengths = options.kv_lengths;
  return inputs;
}

void set_score_inputs(const ScoreInputs& inputs, AttentionTensors& tensors) {
  tensors.mask = mask_view(inputs.mask);
  tensors.alibi_slopes = per_head_view(inputs.alibi);
  tensors.sinks = per_head_view(inputs.sinks);
  tensors.past_key = view_if_there(inputs.past_key);
  tensors.past_value = view_if_there(inputs.past_value);
  if (!inputs.kv_lengths.empty()) {
    tensors.kv_lengths =
        per_batch(inputs.kv_lengths.data(), static_cast<std::int64_t>(inputs.kv_lengths.size()));
  }
}

void set_score_options(const ScoreOptions& options, AttentionOptions& attention) {
  if (!options.window.empty()) {
    if (options.window[0] < -1 || options.window[1] < -1) {
      throw InputError("--window: must be two numbers of -1 (no bound) or more");
    }
    attention.window_left = options.window[0];
    attention.window_right = options.window[1];
  }
  if (options.softcap) {
    if (!std::isfinite(*options.softcap) || *options.softcap <= 0) {
      throw InputError("--softcap: must be a finite number above 0 that a float32 can hold");
    }
    attention.softcap = *options.softcap;
  }
}

} // namespace simdattn::command
