#include "differential/case.hpp"

#include <algorithm>
#include <sstream>

namespace simdattn::differential {
namespace {

std::int64_t length_of(const std::vector<std::int64_t>& starts, std::int64_t index) {
  const auto n = static_cast<std::size_t>(index);
  return starts[n + 1] - starts[n];
}

void print(std::ostream& text, const char* name, const TensorPlan& plan) {
  if (plan.strides) text << "\n  " << name << ' ' << text_of(plan.size, *plan.strides);
}

void print(std::ostream& text, const char* name, const ListPlan& plan) {
  if (!plan) return;
  text << "\n  " << name;
  for (const std::int64_t number : *plan)
    text << ' ' << number;
}

const char* name_of_mask(DataType type) {
  constexpr const char* names[] = {"no mask", "f32 mask", "f16 mask", "bf16 mask", "boolean mask"};
  return names[static_cast<int>(type)];
}

void print_tensors(std::ostream& text, const Case& c) {
  print(text, "query", c.query);
  print(text, "key", c.key);
  print(text, "value", c.value);
  print(text, "past_key", c.past_key);
  print(text, "past_value", c.past_value);
  print(text, name_of_mask(c.mask_type), c.mask);
  print(text, "alibi_slopes", c.slopes);
  print(text, "sinks", c.sinks);
  print(text, "output", c.output);
  print(text, "lse", c.lse);
  print(text, "weights", c.weights);
  print(text, "query_starts", c.query_starts);
  print(text, "kv_starts", c.kv_starts);
  print(text, "query_lengths", c.query_lengths);
  print(text, "kv_lengths", c.kv_lengths);
  print(text, "query_offsets", c.query_offsets);
}

const char* name_of(Causal causal) {
  constexpr const char* names[] = {"none", "top_left", "bottom_right"};
  return names[static_cast<int>(causal)];
}

const char* name_of(Poison poison) {
  constexpr const char* names[] = {"nowhere", "where no query sees it", "anywhere"};
  return names[static_cast<int>(poison)];
}

const char* name_of(const std::optional<ScoreStage>& stage) {
  constexpr const char* names[] = {"raw scores", "capped scores", "masked scores"};
  return stage ? names[static_cast<int>(*stage)] : "attention";
}

void print_options(std::ostream& text, const Case& c) {
  const AttentionOptions& options = c.options;
  text << "\n  scale ";
  if (options.scale)
    text << *options.scale;
  else
    text << "default";
  text << ", causal " << name_of(options.causal) << ", window " << options.window_left << ' '
       << options.window_right << ", softcap " << options.softcap
       << (c.modified ? ", modifier" : "") << ", query size " << c.query_size;
  if (c.mask.strides)
    text << ", mask excludes " << c.mask_percent << " %" << (c.mask_in_runs ? " in runs" : "")
         << ", size " << c.mask_size;
  text << ", NaN and infinities " << name_of(c.poison);
  text << "\n  threads " << c.threads << (c.own_pool ? " of the caller's" : "") << ", workspace ";
  if (c.workspace_misalignment)
    text << "misaligned by " << *c.workspace_misalignment;
  else
    text << "none";
}

} // namespace

std::int64_t Case::query_count(std::int64_t entry) const {
  return ragged() ? length_of(*query_starts, entry) : queries;
}

std::int64_t Case::key_count(std::int64_t entry) const {
  return ragged() ? length_of(*kv_starts, entry) : past + keys;
}

std::int64_t Case::columns() const {
  if (!ragged()) return past + keys;
  std::int64_t longest = 0;
  for (std::int64_t entry = 0; entry < batch; ++entry)
    longest = std::max(longest, key_count(entry));
  return longest;
}

std::string text_of(const Case& c) {
  std::ostringstream text;
  text << name_of(c.stage) << ", " << (c.ragged() ? "sequences " : "batch ") << c.batch
       << ", heads " << c.heads() << "/" << c.kv_heads << ", queries " << c.queries << ", keys "
       << c.past << "+" << c.keys << ", dim " << c.dim << "/" << c.value_dim;
  print_options(text, c);
  print_tensors(text, c);
  return text.str();
}

} // namespace simdattn::differential
