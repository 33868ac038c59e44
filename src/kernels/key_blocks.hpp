#pragma once
// The keys of a block, cut into pieces that stay in cache, and what is asked for ahead of them.

#include "kernels/ahead.hpp"
#include "kernels/panel.hpp"

#include <cstdint>

namespace simdattn::kernels {

/// Copies `count` rows of `dim` elements side by side. Rows kilobytes apart fall on the same few
/// cache sets, and every panel would miss them again; elements that are not neighbours can't be
/// read by the register tiles at all.
template <class Isa>
void gather_rows(const float* source, std::int64_t row_stride, std::int64_t dim_stride, int count,
                 int dim, float* target) {
  for (int row = 0; row < count; ++row, source += row_stride, target += dim) {
    int d = 0;
    if (dim_stride == 1) {
      for (; d + Isa::lanes <= dim; d += Isa::lanes)
        Isa::store(target + d, Isa::load(source + d));
    }
    for (; d < dim; ++d)
      target[d] = source[d * dim_stride];
  }
}

/// What a kernel reads of each key block.
enum class Reads { keys, values, both };

/// Calls body(KeyBlock) for the keys in [first, end), in order, cut at multiples of key_block
/// within each segment, so that where a sum is cut depends on the key alone.
template <class Isa, Reads reads, class Body>
void for_key_blocks(const AttentionBlock& block, std::int64_t first, std::int64_t end,
                    Body&& body) {
  std::int64_t base = 0;
  for (const KeySegment* segment = block.segments; segment != block.segments + block.segment_count;
       ++segment) {
    const std::int64_t from =
        larger<std::int64_t>(first - base, 0) / block.key_block * block.key_block;
    const std::int64_t stop = smaller(end - base, segment->key_count);
    for (std::int64_t start = from; start < stop; start += block.key_block) {
      KeyBlock keys{};
      keys.segment = static_cast<int>(segment - block.segments);
      keys.first = base + start;
      keys.count = static_cast<int>(smaller<std::int64_t>(block.key_block, stop - start));
      if constexpr (reads != Reads::values) {
        keys.key = static_cast<const float*>(segment->key) + start * segment->key_row_stride;
        keys.key_stride = segment->key_row_stride;
        if (segment->gather_key) {
          float* copy = static_cast<float*>(block.scratch.key);
          gather_rows<Isa>(keys.key, keys.key_stride, segment->key_dim_stride, keys.count,
                           block.dim, copy);
          keys.key = copy;
          keys.key_stride = block.dim;
        }
      }
      if constexpr (reads != Reads::keys) {
        keys.value = static_cast<const float*>(segment->value) + start * segment->value_row_stride;
        keys.value_stride = segment->value_row_stride;
        if (segment->gather_value) {
          float* copy = static_cast<float*>(block.scratch.value);
          gather_rows<Isa>(keys.value, keys.value_stride, segment->value_dim_stride, keys.count,
                           block.value_dim, copy);
          keys.value = copy;
          keys.value_stride = block.value_dim;
        }
      }
      body(keys);
    }
    base += segment->key_count;
  }
}

/// With fewer keys there is no time to ask for rows meanwhile.
inline constexpr int keys_worth_asking = 32;

/// Whether these are the last keys of a panel that is not the first, in a block that is finished
/// with them: such a panel asks for what is needed next.
template <class Isa>
[[gnu::always_inline]] inline bool ends_block(const AttentionBlock& block, const Panel<Isa>& panel,
                                              const KeyBlock& keys) {
  return panel.first_row != 0 && keys.count >= keys_worth_asking &&
         keys.first + keys.count == smaller(panel.some_end, block.end_key) &&
         block.partials == nullptr;
}

/// What a panel asks for while it makes scores: the values of these keys, if it is the first of its
/// block, which asks for all; or at last where the block's output goes.
template <class Isa>
[[gnu::always_inline]] inline RowsAhead
values_ahead(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys) {
  if (ends_block(block, panel, keys)) {
    return RowsAhead::of_each(block.rows, block.row_count, &QueryRow::output, 0, block.value_dim);
  }
  if (panel.first_row != 0 || keys.value == nullptr || block.segments[keys.segment].gather_value)
    return {};
  return RowsAhead::of(keys.value, keys.value_stride, block.value_dim);
}

/// What a panel asks for while it sums values: the keys that come next, if it is the first; or at
/// last the queries of the next block.
template <class Isa>
[[gnu::always_inline]] inline RowsAhead keys_ahead(const AttentionBlock& block,
                                                   const Panel<Isa>& panel, const KeyBlock& keys) {
  if (block.next_query != 0 && ends_block(block, panel, keys)) {
    return RowsAhead::of_each(block.rows, block.row_count, &QueryRow::query, block.next_query,
                              block.dim);
  }
  if (panel.first_row != 0 || block.segments[keys.segment].gather_key) return {};
  return RowsAhead::of(keys.key + keys.count * keys.key_stride, keys.key_stride, block.dim);
}

} // namespace simdattn::kernels
