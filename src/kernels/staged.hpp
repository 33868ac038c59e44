#pragma once
// The steps of the formula one by one, out of the same tiles as the fused call.

#include "kernels/fused.hpp"

namespace simdattn::kernels {

/// body(first, count) for runs of at most key_block keys.
template <class Isa, class Body>
void for_columns(const AttentionBlock& block, Body&& body) {
  for (std::int64_t first = 0; first < block.key_count; first += block.key_block) {
    body(first, static_cast<int>(smaller<std::int64_t>(block.key_block, block.key_count - first)));
  }
}

/// KernelTable::scores.
template <class Isa>
void scores(const AttentionBlock& block) {
  const KernelScratch& scratch = block.scratch;
  float* ones = scratch.tile_max + Isa::tiles.panel_rows;
  fill<Isa>(ones, Isa::tiles.panel_rows, 1.0f);
  Panels<Isa>(block).each([&](const Panel<Isa>& panel, auto vectors) {
    load_queries<Isa, vectors>(block, panel, block.scale);
    const QueryRow* rows = block.rows + panel.first_row;
    for_key_blocks<Isa, Reads::keys>(block, 0, block.key_count, [&](const KeyBlock& keys) {
      const MaskEffect mask = load_mask<Isa, vectors>(block, panel, keys);
      make_scores(block, panel, keys,
                  VisibleKeys<Isa, vectors>(block, panel, keys.first, keys.count), mask,
                  block.stage);
      const auto row_at = [&](int r) {
        return rows[r].weights + keys.first * block.weights_stride;
      };
      store_transposed<Isa, vectors>(scratch.scores, keys.count, ones, row_at, panel.row_count,
                                     block.weights_stride);
    });
  });
}

/// Rows of scores or weights, [first, first + count) of each, transposed into scratch.
template <class Isa, int Vectors>
void load_columns(const AttentionBlock& block, const Panel<Isa>& panel, std::int64_t first,
                  int count) {
  const QueryRow* rows = block.rows + panel.first_row;
  const auto row_at = [&](int r) {
    return static_cast<const float*>(rows[r].query) + first * block.query_dim_stride;
  };
  load_transposed<Isa, Vectors, float>(
      row_at, panel.row_count, block.query_dim_stride, count,
      [](auto elements, auto) { return elements; }, block.scratch.scores);
}

/// score = log2(e) · (score − maximum) in scratch. Only a score of −inf stays −inf, which alone
/// means absent: finite ones are bounded below, those of a row whose maximum is infinite too.
template <class Isa, int Vectors>
void relative_scores(float* scores, int count, const float* row_max) {
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    const auto largest = finite_max<Isa>(Isa::load(row_max + v * lanes));
    for (int j = 0; j < count; ++j) {
      float* target = scores + j * width + v * lanes;
      const auto score = Isa::load(target);
      const auto relative = Isa::mul(Isa::sub(score, largest), Isa::broadcast(log2_e));
      const auto lowest = Isa::broadcast(-FLT_MAX);
      const auto bounded = Isa::select(Isa::less(relative, lowest), lowest, relative);
      Isa::store(target, Isa::select(Isa::less(score, lowest), score, bounded));
    }
  });
}

/// KernelTable::softmax: the maximum, then the sum, then the weights.
template <class Isa>
void softmax(const AttentionBlock& block) {
  const KernelScratch& scratch = block.scratch;
  float* zeros = scratch.tile_max + Isa::tiles.panel_rows;
  float* spare = zeros + Isa::tiles.panel_rows;
  Panels<Isa>(block).each([&](const Panel<Isa>& panel, auto vectors) {
    const QueryRow* rows = block.rows + panel.first_row;
    const int lanes = vectors * Isa::lanes;
    fill<Isa>(scratch.row_max, lanes, -__builtin_inff());
    for_columns<Isa>(block, [&](std::int64_t first, int count) {
      load_columns<Isa, vectors>(block, panel, first, count);
      find_max<Isa, vectors>(scratch.scores, count, scratch.tile_max);
      for (int v = 0; v < lanes; v += Isa::lanes) {
        Isa::store(scratch.row_max + v,
                   Isa::max(Isa::load(scratch.row_max + v), Isa::load(scratch.tile_max + v)));
      }
    });
    const auto load_relative = [&](std::int64_t first, int count) {
      load_columns<Isa, vectors>(block, panel, first, count);
      relative_scores<Isa, vectors>(scratch.scores, count, scratch.row_max);
    };
    fill<Isa>(zeros, lanes, 0.0f);
    fill<Isa>(scratch.row_sum, lanes, 0.0f);
    for_columns<Isa>(block, [&](std::int64_t first, int count) {
      load_relative(first, count);
      online_softmax<Isa, vectors, Units::powers_of_two>(scratch.scores, count, zeros, zeros,
                                                         scratch.row_sum, spare);
    });
    fill<Isa>(spare, lanes, 1.0f);
    for_columns<Isa>(block, [&](std::int64_t first, int count) {
      load_relative(first, count);
      final_softmax<Isa, vectors, Units::powers_of_two>(scratch.scores, count, zeros,
                                                        scratch.row_sum);
      const auto row_at = [&](int r) { return rows[r].weights + first * block.weights_stride; };
      store_transposed<Isa, vectors>(scratch.scores, count, spare, row_at, panel.row_count,
                                     block.weights_stride);
    });
  });
}

/// KernelTable::weighted_sum.
template <class Isa>
void weighted_sum(const AttentionBlock& block) {
  const KernelScratch& scratch = block.scratch;
  float* ones = scratch.tile_max + Isa::tiles.panel_rows;
  fill<Isa>(ones, Isa::tiles.panel_rows, 1.0f);
  Panels<Isa>(block).each([&](const Panel<Isa>& panel, auto vectors) {
    const QueryRow* rows = block.rows + panel.first_row;
    float* output = panel_of(scratch.output, panel, block.value_dim);
    fill<Isa>(output, block.value_dim * vectors * Isa::lanes, 0.0f);
    for_key_blocks<Isa, Reads::values>(block, 0, block.key_count, [&](const KeyBlock& keys) {
      load_columns<Isa, vectors>(block, panel, keys.first, keys.count);
      panel_output<Isa, vectors>(scratch.scores, keys, VisibleKeys<Isa, vectors>(keys.count),
                                 block.value_dim, ones, output, false, {}, [](int, int) {});
    });
    store_transposed<Isa, vectors>(
        output, block.value_dim, ones, [&](int r) { return static_cast<float*>(rows[r].output); },
        panel.row_count, block.output_dim_stride);
  });
}

} // namespace simdattn::kernels
