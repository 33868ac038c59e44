// Draws cases: sizes round the edges of tiles, and every option on its own and with the others.

#include "differential/case.hpp"

#include <algorithm>
#include <cfloat>
#include <limits>

namespace simdattn::differential {
namespace {

// Of a case, in multiplications of one product: keeps the oracle, which is in double, quick.
constexpr std::int64_t largest_cost = 400'000;

// Tiles are made of these, whatever the instruction set.
constexpr std::int64_t edges[] = {4, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024};

std::int64_t draw_size(Random& random, std::int64_t most) {
  const std::int64_t kind = random.below(10);
  if (kind < 5) return random.between(1, std::min<std::int64_t>(most, 9));
  if (kind == 9) return random.between(1, most);
  std::int64_t size = most + 1;
  while (size > most)
    size = random.pick(edges) + random.between(-1, 1);
  return size;
}

std::int64_t cost_of(const Case& c) {
  return c.batch * c.heads() * c.queries * (c.past + c.keys) * (c.dim + c.value_dim);
}

// Halves what comes first until the case is cheap enough.
void make_cheap(Case& c) {
  std::int64_t* const sizes[] = {&c.batch,     &c.kv_heads, &c.group, &c.dim,
                                 &c.value_dim, &c.queries,  &c.keys,  &c.past};
  for (std::int64_t* size : sizes)
    while (*size > 1 && cost_of(c) > largest_cost)
      *size = (*size + 1) / 2;
}

void draw_sizes(Random& random, Case& c) {
  constexpr std::int64_t groups[] = {1, 1, 1, 2, 3, 4, 5, 7, 12};
  c.batch = random.pick({1, 1, 2, 3});
  c.kv_heads = random.pick({1, 1, 2, 3});
  c.group = random.pick(groups);
  const std::int64_t kind = random.below(20);
  c.queries = kind < 4 ? random.between(1, 8) : draw_size(random, kind == 4 ? 600 : 130);
  c.keys = draw_size(random, kind < 4 ? 1600 : kind == 4 ? 60 : 200);
  c.dim = draw_size(random, random.chance(5) ? 260 : 80);
  c.value_dim = random.chance(60) ? c.dim : draw_size(random, 80);
  if (random.chance(15)) c.past = draw_size(random, kind < 4 ? 600 : 100);
  make_cheap(c);
  if (random.chance(3)) {
    std::int64_t* const sizes[] = {&c.batch, &c.group, &c.queries, &c.keys, &c.value_dim};
    *random.pick(sizes) = 0;
  }
}

// Cuts `tokens` into sequences, some of them perhaps empty: N + 1 starts.
std::vector<std::int64_t> draw_starts(Random& random, std::int64_t sequences, std::int64_t tokens) {
  std::vector<std::int64_t> starts{0, tokens};
  while (static_cast<std::int64_t>(starts.size()) < sequences + 1)
    starts.push_back(random.between(0, tokens));
  std::sort(starts.begin(), starts.end());
  return starts;
}

template <class Make>
ListPlan draw_list(const Case& c, Make&& make) {
  std::vector<std::int64_t> list;
  for (std::int64_t entry = 0; entry < c.batch; ++entry)
    list.push_back(make(entry));
  return list;
}

std::int64_t draw_length(Random& random, std::int64_t most) {
  const std::int64_t kind = random.below(6);
  if (kind == 0) return most;
  return kind == 1 ? 0 : random.between(0, most);
}

void draw_places(Random& random, Case& c) {
  if (random.chance(15)) {
    c.past = 0;
    c.batch = random.between(1, 4);
    c.query_starts = draw_starts(random, c.batch, c.queries);
    c.kv_starts = draw_starts(random, c.batch, c.keys);
  }
  AttentionOptions& options = c.options;
  options.causal =
      random.pick({Causal::none, Causal::none, Causal::top_left, Causal::bottom_right});
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
  const auto draw_window = [&] {
    return random.chance(5) ? random.pick({far, std::int64_t{1} << 33})
                            : draw_size(random, 130) - 1;
  };
  if (random.chance(20)) options.window_left = draw_window();
  if (random.chance(20)) options.window_right = draw_window();
  if (random.chance(20))
    c.kv_lengths = draw_list(c, [&](auto n) { return draw_length(random, c.key_count(n)); });
  if (random.chance(15))
    c.query_lengths = draw_list(c, [&](auto n) { return draw_length(random, c.query_count(n)); });
  if (random.chance(20) && options.causal != Causal::bottom_right)
    c.query_offsets = draw_list(c, [&](auto n) {
      return random.chance(5) ? random.between(-100'000, 100'000)
                              : random.between(-9, c.key_count(n) + 9);
    });
}

TensorPlan draw_tensor(Random& random, const Sizes& size, Use use = Use::input) {
  return {size, draw_strides(random, size, use)};
}

// Some axes have size 1, and so repeat.
TensorPlan draw_broadcast(Random& random, Sizes size) {
  for (std::int64_t& axis : size)
    if (random.chance(40)) axis = 1;
  return draw_tensor(random, size);
}

void draw_scores(Random& random, Case& c) {
  constexpr float scales[] = {0.0f, -0.3f, 0.5f, 1.0f, -1.0f, 4.0f};
  constexpr float query_sizes[] = {1, 1, 1, 1, 0, 0.01f, 5, 20};
  constexpr float caps[] = {0.5f, 3, 30, 50};
  if (random.chance(40)) c.options.scale = random.pick(scales);
  c.query_size = random.pick(query_sizes);
  if (random.chance(15)) c.options.softcap = random.pick(caps);
  c.modified = random.chance(10);
  const Sizes per_head{c.batch, c.heads(), 1, 1};
  if (random.chance(15)) c.slopes = draw_broadcast(random, per_head);
  if (random.chance(15)) c.sinks = draw_broadcast(random, per_head);
  c.slope_size = random.pick({1.0f, 0.1f, -0.01f, 0.0f});
  c.sink_size = random.pick({1.0f, 10.0f, 60.0f});
}

void draw_mask(Random& random, Case& c) {
  if (!random.chance(35)) return;
  constexpr float mask_sizes[] = {1, 1, 1, 0, 10, 1e4f, -1e9f, -FLT_MAX / 2, -FLT_MAX};
  constexpr int percents[] = {0, 10, 50, 50, 90, 100};
  c.mask_type = random.pick({DataType::boolean, DataType::boolean, DataType::f32, DataType::f32,
                             DataType::f16, DataType::bf16});
  c.mask = draw_broadcast(random, {c.batch_axis(), c.heads(), c.queries, c.columns()});
  c.mask_percent = random.pick(percents);
  c.mask_in_runs = random.chance(50);
  c.mask_size = random.pick(mask_sizes);
  // Scores that would take the lowest float below itself.
  if (c.mask_size == -FLT_MAX && random.chance(50)) c.query_size = 1e32f;
}

void draw_tensors(Random& random, Case& c) {
  const std::int64_t batch = c.batch_axis();
  c.query = draw_tensor(random, {batch, c.heads(), c.queries, c.dim});
  c.key = draw_tensor(random, {batch, c.kv_heads, c.keys, c.dim});
  c.value = draw_tensor(random, {batch, c.kv_heads, c.keys, c.value_dim});
  if (c.past > 0) {
    c.past_key = draw_tensor(random, {batch, c.kv_heads, c.past, c.dim});
    c.past_value = draw_tensor(random, {batch, c.kv_heads, c.past, c.value_dim});
  }
  if (random.chance(10))
    c.stage = random.pick({ScoreStage::raw, ScoreStage::capped, ScoreStage::masked});
  const auto draw_output = [&](std::int64_t columns) {
    return draw_tensor(random, {batch, c.heads(), c.queries, columns}, Use::output);
  };
  if (c.stage || random.chance(40)) c.weights = draw_output(c.columns());
  if (c.stage) return;
  c.output = draw_output(c.value_dim);
  if (random.chance(50)) c.lse = draw_output(1);
}

void draw_context(Random& random, Case& c) {
  c.threads = random.chance(85) ? 1 : static_cast<int>(random.between(2, 3));
  c.own_pool = random.chance(10);
  if (random.chance(50)) c.workspace_misalignment = static_cast<std::size_t>(random.below(64));
}

} // namespace

Case draw_case(Random& random) {
  Case c;
  draw_sizes(random, c);
  draw_places(random, c);
  draw_scores(random, c);
  draw_mask(random, c);
  draw_tensors(random, c);
  draw_context(random, c);
  if (random.chance(30)) c.poison = random.chance(70) ? Poison::unseen : Poison::anywhere;
  return c;
}

} // namespace simdattn::differential
