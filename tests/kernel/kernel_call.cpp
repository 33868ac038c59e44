#include "kernel_call.hpp"

#include "reference/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>

namespace simdattn::test {
namespace {

Shape matrix(std::int64_t rows, std::int64_t columns) { return {1, 1, rows, columns}; }

// Keys [interval) of one head, as a view.
TensorView keys_of(const TestTensor& tensor, const Interval& interval) {
  TensorView view = tensor.view();
  view.data = static_cast<const float*>(view.data) + interval.first * view.stride[2];
  view.size[2] = interval.end - interval.first;
  return view;
}

} // namespace

std::ostream& operator<<(std::ostream& stream, const KernelCase& c) {
  return stream << "rows=" << c.rows << " keys=" << c.keys << " dim=" << c.dim
                << " value_dim=" << c.value_dim << " key_block=" << c.key_block
                << " layouts=" << name_of(c.query_layout) << "," << name_of(c.key_layout)
                << " gather=" << c.gather << " segments=" << c.segment_ends.size() + 1;
}

KernelCall::KernelCall(const KernelCase& c, const TileSizes& tiles)
    : intervals(static_cast<std::size_t>(c.rows), Interval{0, c.keys}),
      output(matrix(c.rows, c.value_dim), c.query_layout), lse(matrix(c.rows, 1), c.query_layout),
      weights(matrix(c.rows, c.keys), c.query_layout), key(matrix(c.keys, c.dim), c.key_layout),
      value(matrix(c.keys, c.value_dim), c.key_layout), description_(c), tiles_(tiles),
      query_(matrix(c.rows, c.dim), c.query_layout) {
  std::mt19937_64 random(static_cast<std::uint64_t>(c.rows + 1000 * c.keys));
  query_.fill_normal(random);
  key.fill_normal(random);
  value.fill_normal(random);
}

std::vector<KeySegment> KernelCall::segments() const {
  std::vector<std::int64_t> ends = description_.segment_ends;
  ends.push_back(description_.keys);
  std::vector<KeySegment> segments;
  std::int64_t first = 0;
  const bool gather = description_.gather || key.view().stride[3] != 1;
  for (const std::int64_t end : ends) {
    const TensorView keys = keys_of(key, {first, end}), values = keys_of(value, {first, end});
    segments.push_back({keys.data, values.data, end - first, keys.stride[2], keys.stride[3],
                        values.stride[2], values.stride[3], gather, gather});
    first = end;
  }
  return segments;
}

KernelScratch KernelCall::scratch() {
  const std::size_t lanes = static_cast<std::size_t>(tiles_.lanes),
                    rows = static_cast<std::size_t>(description_.rows);
  const std::size_t padded_rows = (rows + lanes - 1) / lanes * lanes;
  const std::size_t panel_rows = static_cast<std::size_t>(tiles_.panel_rows);
  const std::size_t dim = static_cast<std::size_t>(description_.dim);
  const std::size_t value_dim = static_cast<std::size_t>(description_.value_dim);
  const std::size_t keys = static_cast<std::size_t>(description_.key_block);
  scratch_.clear();
  const auto take = [&](std::size_t floats) {
    constexpr std::size_t alignment = 64;
    const std::size_t bytes = (floats * sizeof(float) + alignment - 1) / alignment * alignment;
    GuardedBuffer& buffer = scratch_.emplace_back(bytes, Placement::back);
    std::memset(buffer.data(), 0xff, bytes); // NaN
    return reinterpret_cast<float*>(buffer.data());
  };
  KernelScratch scratch{};
  scratch.query = take(dim * padded_rows);
  scratch.output = take(value_dim * padded_rows);
  scratch.scores = take(keys * std::min(panel_rows, padded_rows));
  scratch.row_max = take(padded_rows);
  scratch.row_sum = take(padded_rows);
  scratch.tile_max = take(4 * panel_rows);
  scratch.key = take(keys * dim);
  scratch.value = take(keys * value_dim);
  return scratch;
}

AttentionBlock KernelCall::block(const TestTensor& source) {
  output.reset();
  lse.reset();
  weights.reset();
  rows_.clear();
  for (int r = 0; r < description_.rows; ++r) {
    const auto at = [r](auto&& view) {
      return static_cast<float*>(view.data) + r * view.stride[2];
    };
    const TensorView query = source.view();
    QueryRow row{};
    row.query = static_cast<const float*>(query.data) + r * query.stride[2];
    row.output = at(output.mutable_view());
    row.lse = want_lse ? at(lse.mutable_view()) : nullptr;
    row.weights = want_weights ? at(weights.mutable_view()) : nullptr;
    row.first_key = intervals[static_cast<std::size_t>(r)].first;
    row.end_key = intervals[static_cast<std::size_t>(r)].end;
    rows_.push_back(row);
  }
  segments_ = segments();
  AttentionBlock block{};
  block.rows = rows_.data();
  block.row_count = description_.rows;
  block.query_dim_stride = source.view().stride[3];
  block.output_dim_stride = output.view().stride[3];
  block.weights_stride = weights.view().stride[3];
  block.segments = segments_.data();
  block.segment_count = static_cast<int>(segments_.size());
  block.key_count = description_.keys;
  block.end_key = description_.keys;
  block.stage = ScoreStage::masked;
  block.dim = description_.dim;
  block.value_dim = description_.value_dim;
  block.scale = description_.scale;
  block.key_block = description_.key_block;
  block.scratch = scratch();
  return block;
}

KernelCall::Expected KernelCall::expected() const {
  Expected all;
  const auto keys = static_cast<std::size_t>(description_.keys);
  AttentionOptions options;
  options.scale = description_.scale;
  for (std::size_t r = 0; r < intervals.size(); ++r) {
    AttentionTensors tensors;
    tensors.query =
        keys_of(query_, {static_cast<std::int64_t>(r), static_cast<std::int64_t>(r) + 1});
    tensors.key = keys_of(key, intervals[r]);
    tensors.value = keys_of(value, intervals[r]);
    const reference::Expected row = reference::attention(tensors, options);
    all.output.insert(all.output.end(), row.output.begin(), row.output.end());
    all.lse.push_back(row.lse.front());
    const auto first = static_cast<std::ptrdiff_t>(r * keys) + intervals[r].first;
    all.weights.resize((r + 1) * keys, 0.0);
    all.scores.resize((r + 1) * keys, -std::numeric_limits<double>::infinity());
    std::copy(row.weights.begin(), row.weights.end(), all.weights.begin() + first);
    std::copy(row.scores.begin(), row.scores.end(), all.scores.begin() + first);
    const reference::Tolerance tolerance = reference::tolerance(tensors, options);
    all.output_tolerance = std::max(all.output_tolerance, tolerance.output);
    all.weights_tolerance = std::max(all.weights_tolerance, tolerance.weights);
    all.scores_tolerance = std::max(all.scores_tolerance, tolerance.scores);
    all.lse_tolerance = std::max(all.lse_tolerance, tolerance.lse(row.lse.front()));
  }
  return all;
}

} // namespace simdattn::test
