#include "task.hpp"

#include <algorithm>
#include <limits>

namespace simdattn {
namespace {

template <class T>
const T* element(const TensorView& view, std::int64_t batch, std::int64_t head, std::int64_t row) {
  if (view.data == nullptr) return nullptr;
  return static_cast<const T*>(view.data) + batch * view.stride[0] + head * view.stride[1] +
         row * view.stride[2];
}

template <class T>
T* element(const MutableTensorView& view, std::int64_t batch, std::int64_t head, std::int64_t row) {
  if (view.data == nullptr) return nullptr;
  return static_cast<T*>(view.data) + batch * view.stride[0] + head * view.stride[1] +
         row * view.stride[2];
}

/// One batch entry, or one sequence of a ragged batch.
struct Sequence {
  std::int64_t batch;       ///< index along the batch axis of the tensors,
  std::int64_t first_query; ///< and where the sequence begins along their seq axis
  std::int64_t first_key;
  std::int64_t query_count;
  std::int64_t key_count;    ///< keys in memory,
  std::int64_t query_length; ///< and what is used of each
  std::int64_t key_length;
  std::int64_t offset; ///< from a query's number to its position
};

Sequence sequence_at(const Problem& problem, std::int64_t index) {
  Sequence sequence{index, 0, 0, problem.query_count, problem.key_count, 0, 0, 0};
  if (problem.ragged()) {
    sequence.batch = 0;
    sequence.first_query = number_at(problem.query_starts, index, 0);
    sequence.first_key = number_at(problem.kv_starts, index, 0);
    sequence.query_count = number_at(problem.query_starts, index + 1, 0) - sequence.first_query;
    sequence.key_count = number_at(problem.kv_starts, index + 1, 0) - sequence.first_key;
  }
  sequence.query_length =
      std::min(sequence.query_count, number_at(problem.query_lengths, index, sequence.query_count));
  sequence.key_length =
      std::min(sequence.key_count, number_at(problem.kv_lengths, index, sequence.key_count));
  sequence.offset = problem.causal == Causal::bottom_right
                        ? sequence.key_length - sequence.query_length
                        : number_at(problem.query_offsets, index, 0);
  return sequence;
}

/// The keys that a query may see by lengths, causality and window: [first_key, end_key).
void set_visible(const Problem& problem, const Sequence& sequence, std::int64_t token,
                 QueryRow* row) {
  row->position = token + sequence.offset;
  row->first_key =
      problem.window_left < 0 ? 0 : std::max<std::int64_t>(0, row->position - problem.window_left);
  row->end_key = token < sequence.query_length ? sequence.key_length : 0;
  if (problem.causal != Causal::none) row->end_key = std::min(row->end_key, row->position + 1);
  if (problem.window_right >= 0)
    row->end_key = std::min(row->end_key, row->position + problem.window_right + 1);
  if (row->first_key >= row->end_key) row->first_key = row->end_key = 0;
}

std::int64_t mask_element_size(DataType type) {
  return type == DataType::f32 ? 4 : type == DataType::boolean ? 1 : 2;
}

/// A number for each head, such as a slope; 0 where there is none.
float for_head(const TensorView& view, std::int64_t index, std::int64_t head) {
  const float* number = element<float>(view, index, head, 0);
  return number == nullptr ? 0.0f : *number;
}

const float* query_at(const Problem& problem, const Sequence& sequence, std::int64_t head,
                      std::int64_t token) {
  return element<float>(problem.query, sequence.batch, head, sequence.first_query + token);
}

QueryRow make_row(const Problem& problem, const Sequence& sequence, std::int64_t index,
                  std::int64_t head, std::int64_t token) {
  const std::int64_t in_tensor = sequence.first_query + token;
  QueryRow row;
  row.query = query_at(problem, sequence, head, token);
  row.output = element<float>(problem.output, sequence.batch, head, in_tensor);
  row.lse = element<float>(problem.lse, sequence.batch, head, in_tensor);
  row.weights = element<float>(problem.weights, sequence.batch, head, in_tensor);
  row.mask = nullptr;
  if (problem.mask.data != nullptr) {
    const TensorView& mask = problem.mask;
    const std::int64_t offset =
        sequence.batch * mask.stride[0] + head * mask.stride[1] + in_tensor * mask.stride[2];
    row.mask = static_cast<const std::byte*>(mask.data) + offset * mask_element_size(mask.type);
  }
  row.slope = for_head(problem.alibi_slopes, index, head);
  row.sink = for_head(problem.sinks, index, head);
  set_visible(problem, sequence, token, &row);
  return row;
}

/// From a row to that of the next token of the same head.
struct TokenStep {
  std::int64_t query;
  std::int64_t output;
  std::int64_t lse;
  std::int64_t weights;
  std::int64_t mask; ///< in bytes
  bool sees_alike;   ///< every token sees the same keys

  TokenStep(const Problem& problem, const Sequence& sequence)
      : query(stride(problem.query)), output(stride(problem.output)), lse(stride(problem.lse)),
        weights(stride(problem.weights)),
        mask(stride(problem.mask) * mask_element_size(problem.mask.type)),
        sees_alike(problem.causal == Causal::none && problem.window_left < 0 &&
                   problem.window_right < 0 && sequence.query_length == sequence.query_count) {}

private:
  template <class View>
  static std::int64_t stride(const View& view) {
    return view.data == nullptr ? 0 : view.stride[2];
  }
};

QueryRow next_token(const Problem& problem, const Sequence& sequence, const TokenStep& step,
                    QueryRow row) {
  row.query = static_cast<const float*>(row.query) + step.query;
  row.output = static_cast<float*>(row.output) + step.output;
  row.lse += step.lse;
  row.weights += step.weights;
  row.mask = static_cast<const std::byte*>(row.mask) + step.mask;
  if (step.sees_alike)
    ++row.position;
  else
    set_visible(problem, sequence, row.position - sequence.offset + 1, &row);
  return row;
}

/// `number`: of the head in its unit.
KernelScratch make_scratch(const ScratchLayout& layout, int number, std::byte* base) {
  const auto floats = [&](std::size_t offset) { return reinterpret_cast<float*>(base + offset); };
  const std::size_t head = static_cast<std::size_t>(number) * layout.head_bytes;
  KernelScratch scratch{};
  scratch.query = floats(head + layout.query);
  scratch.output = floats(head + layout.output);
  scratch.row_max = floats(head + layout.row_max);
  scratch.row_sum = floats(head + layout.row_sum);
  scratch.scores = floats(layout.scores);
  scratch.tile_max = floats(layout.tile_max);
  scratch.mask = floats(layout.mask);
  scratch.key = base + layout.key;
  scratch.value = base + layout.value;
  return scratch;
}

KeySegment make_segment(const TensorView& key, const TensorView& value, const Sequence& sequence,
                        std::int64_t kv_head, std::int64_t count, bool gather_key,
                        bool gather_value) {
  return {element<float>(key, sequence.batch, kv_head, sequence.first_key),
          element<float>(value, sequence.batch, kv_head, sequence.first_key),
          count,
          key.stride[2],
          key.stride[3],
          value.stride[2],
          value.stride[3],
          gather_key,
          gather_value};
}

ScoreSteps make_steps(const Problem& problem, std::int64_t index, std::int64_t kv_head,
                      std::int64_t first_row) {
  ScoreSteps steps{};
  steps.softcap = problem.softcap;
  steps.slopes = problem.alibi_slopes.data != nullptr;
  steps.modifier = problem.modifier;
  steps.mask = problem.mask.type;
  steps.mask_stride = problem.mask.stride[3];
  steps.sinks = problem.sinks.data != nullptr;
  steps.batch = index;
  steps.first_head = kv_head * problem.group;
  steps.group = problem.group;
  steps.first_row = first_row;
  return steps;
}

/// What differs from head to head of a unit: rows, segments, steps and scratch.
void set_head(const Problem& problem, const Plan& plan, const Sequence& sequence,
              std::int64_t index, std::int64_t kv_head, std::int64_t first_row, QueryRow* rows,
              KeySegment* segments, AttentionBlock* block) {
  const TokenStep step(problem, sequence);
  const std::int64_t group = problem.group;
  std::int64_t token = first_row / group, member = first_row % group;
  for (int r = 0; r < block->row_count; ++r) {
    if (r >= group) {
      rows[r] = next_token(problem, sequence, step, rows[r - group]);
      continue;
    }
    rows[r] = make_row(problem, sequence, index, kv_head * group + member, token);
    if (++member == group) {
      member = 0;
      ++token;
    }
  }
  block->rows = rows;
  block->segments = segments;
  if (problem.past_count > 0) {
    *segments++ = make_segment(problem.past_key, problem.past_value, sequence, kv_head,
                               problem.past_count, plan.gather_past_key, plan.gather_past_value);
  }
  *segments++ =
      make_segment(problem.key, problem.value, sequence, kv_head,
                   sequence.key_count - problem.past_count, plan.gather_key, plan.gather_value);
  block->segment_count = static_cast<int>(segments - block->segments);
  block->steps = make_steps(problem, index, kv_head, first_row);
}

/// Weights of a ragged batch have a column for each key of the longest sequence; those past a
/// shorter one's end hold what an excluded key has.
void fill_past_end(const Problem& problem, const AttentionBlock& block) {
  const float absent =
      problem.value.data == nullptr ? -std::numeric_limits<float>::infinity() : 0.0f;
  for (int r = 0; r < block.row_count; ++r) {
    for (std::int64_t key = block.key_count; key < problem.key_count; ++key) {
      block.rows[r].weights[key * problem.weights.stride[3]] = absent;
    }
  }
}

/// Where a unit begins.
struct Place {
  std::int64_t index; ///< of the batch entry, or sequence of a ragged batch
  std::int64_t first_head;
  std::int64_t first_row;
};

Place place_of(const Problem& problem, const Plan& plan, std::int64_t unit) {
  const std::int64_t heads = unit / plan.row_blocks;
  // Causal: later rows see more keys, and the longest tasks of a head go first.
  const std::int64_t position = unit % plan.row_blocks;
  const std::int64_t row_block =
      problem.causal == Causal::none ? position : plan.row_blocks - 1 - position;
  return {heads / plan.head_units, heads % plan.head_units * plan.heads,
          row_block * plan.row_block};
}

/// AttentionBlock::next_query, from a unit whose first query is at `query`. Workers that take tasks
/// in turns come to this unit next.
std::int64_t next_query(const Problem& problem, const Plan& plan, std::int64_t unit,
                        const float* query) {
  const std::int64_t next = unit + plan.workers;
  if (next >= plan.units || problem.query.stride[3] != 1) return 0;
  const Place place = place_of(problem, plan, next);
  const std::int64_t head = place.first_head * problem.group + place.first_row % problem.group;
  return query_at(problem, sequence_at(problem, place.index), head,
                  place.first_row / problem.group) -
         query;
}

} // namespace

Task::Task(const Problem& problem, const Plan& plan, const TileSizes& tiles, std::int64_t unit,
           std::byte* scratch)
    : problem_(problem) {
  const auto [index, first_head, first_row] = place_of(problem, plan, unit);
  const Sequence sequence = sequence_at(problem, index);
  const std::int64_t packed_rows = sequence.query_count * problem.group;
  const std::int64_t row_count = std::min<std::int64_t>(plan.row_block, packed_rows - first_row);
  if (row_count <= 0) return;
  chunks = cut_keys(problem, tiles, packed_rows, sequence.key_count);
  block.row_count = static_cast<int>(row_count);
  block.query_dim_stride = problem.query.stride[3];
  block.output_dim_stride = problem.output.stride[3];
  block.weights_stride = problem.weights.stride[3];
  block.key_count = block.end_key = sequence.key_count;
  block.dim = problem.dim;
  block.value_dim = problem.value_dim;
  block.scale = problem.scale;
  block.key_block = keys_in_block(problem, tiles, plan, packed_rows);
  block.by_rows = few_rows(problem, tiles, packed_rows);
  block.from_memory = plan.from_memory;
  block.stage = problem.stage;
  const auto last_head =
      std::min(plan.heads - 1, static_cast<int>(problem.kv_heads - first_head - 1));
  auto* rows = reinterpret_cast<QueryRow*>(scratch + plan.layout.rows);
  for (int head = last_head; head >= 0; --head) { // each leads to the one after it
    AttentionBlock& target = head == 0 ? block : (others_[head - 1] = block);
    target.scratch = make_scratch(plan.layout, head, scratch);
    target.next_head = head == last_head ? nullptr : &others_[head];
    set_head(problem, plan, sequence, index, first_head + head, first_row,
             rows + head * plan.row_block, segments_[head], &target);
  }
  if (row_count > tiles.panel_rows && problem.query.data != nullptr)
    block.next_query = next_query(problem, plan, unit, static_cast<const float*>(rows->query));
}

void Task::finish() {
  if (problem_.ragged() && problem_.weights.data != nullptr) fill_past_end(problem_, block);
}

} // namespace simdattn
