#pragma once
// Which keys the rows of a panel see: the interval of each row, and what lies outside of it made
// absent.

#include "kernel_table.hpp"
#include "kernels/unroll.hpp"

#include <cfloat>
#include <cstdint>

namespace simdattn::kernels {

template <class T>
[[gnu::always_inline]] constexpr T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
[[gnu::always_inline]] constexpr T larger(T a, T b) {
  return a < b ? b : a;
}

/// Up to panel_rows rows of a block, side by side in the lanes of `vectors` vectors.
template <class Isa>
struct Panel {
  int first_row; ///< within the block
  int row_count; ///< rows; the lanes after them repeat the last one
  int vectors;
  std::int64_t some_first, some_end; ///< keys that some row sees lie in here
  std::int64_t all_first,
      all_end; ///< keys in here are seen by every row; empty when all_first >= all_end
};

/// Cuts a block into panels, the widest first, and returns how many there are. The last two share
/// their rows rather than leave one vector to the last: a register tile of one vector loads a
/// number for each multiply-add.
template <class Isa>
int make_panels(const AttentionBlock& block, Panel<Isa>* panels) {
  constexpr int lanes = Isa::lanes, widest = Isa::tiles.panel_rows / lanes;
  int count = 0;
  for (int row = 0; row < block.row_count; row += panels[count++].row_count) {
    Panel<Isa>& panel = panels[count];
    const int left = block.row_count - row, vectors = (left + lanes - 1) / lanes;
    panel.first_row = row;
    panel.vectors = vectors == widest + 1 && widest > 2 ? widest - 1 : smaller(widest, vectors);
    panel.row_count = smaller(panel.vectors * lanes, left);
    panel.some_first = panel.all_end = block.key_count;
    panel.some_end = panel.all_first = 0;
    for (int r = row; r < row + panel.row_count; ++r) {
      const QueryRow &limits = block.rows[r], &before = block.rows[larger(r - 1, row)];
      if (r > row && limits.first_key == before.first_key && limits.end_key == before.end_key)
        continue;
      if (limits.first_key < limits.end_key) {
        panel.some_first = smaller(panel.some_first, limits.first_key);
        panel.some_end = larger(panel.some_end, limits.end_key);
      }
      panel.all_first = larger(panel.all_first, limits.first_key);
      panel.all_end = smaller(panel.all_end, limits.end_key);
    }
  }
  return count;
}

/// Each lane's interval relative to some first key, as floats: they compare like scores. Exact for
/// what matters, since limits are clamped to the few keys of one block.
template <class Isa, int Vectors>
struct LaneLimits {
  alignas(64) float first[Vectors * Isa::lanes];
  alignas(64) float end[Vectors * Isa::lanes];

  LaneLimits(const QueryRow* rows, int row_count, std::int64_t first_key, int keys) {
    for (int lane = 0; lane < Vectors * Isa::lanes; ++lane) {
      const QueryRow& row = rows[smaller(lane, row_count - 1)];
      first[lane] = relative(row.first_key - first_key, keys);
      end[lane] = relative(row.end_key - first_key, keys);
    }
  }

  /// Which lanes of vector v do not see key j.
  [[gnu::always_inline]] auto hides(int v, int j) const {
    const auto key = Isa::broadcast(static_cast<float>(j));
    return Isa::either(Isa::less(key, Isa::load(first + v * Isa::lanes)),
                       Isa::not_less(key, Isa::load(end + v * Isa::lanes)));
  }

private:
  static float relative(std::int64_t key, int keys) {
    return static_cast<float>(smaller<std::int64_t>(larger<std::int64_t>(key, 0), keys));
  }
};

/// Keys [0, all_first) and [all_end, keys) of a run, which some row of the panel does not see:
/// body(j) for each.
template <class Isa, class Body>
[[gnu::always_inline]] inline void for_partial_keys(const Panel<Isa>& panel, std::int64_t first_key,
                                                    int keys, Body&& body) {
  const int begin = static_cast<int>(
      smaller<std::int64_t>(larger<std::int64_t>(panel.all_first - first_key, 0), keys));
  const int end = static_cast<int>(
      smaller<std::int64_t>(larger<std::int64_t>(panel.all_end - first_key, begin), keys));
  for (int j = 0; j < begin; ++j)
    body(j);
  for (int j = end; j < keys; ++j)
    body(j);
}

/// scores = −inf where the row does not see the key.
template <class Isa, int Vectors>
void hide_scores(const LaneLimits<Isa, Vectors>& limits, const Panel<Isa>& panel,
                 std::int64_t first_key, int keys, float* scores) {
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  for_partial_keys(panel, first_key, keys, [&](int j) {
    unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
      float* score = scores + j * width + v * lanes;
      Isa::store(score, Isa::select(limits.hides(v, j), Isa::broadcast(-__builtin_inff()),
                                    Isa::load(score)));
    });
  });
}

} // namespace simdattn::kernels
