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

/// body(lane, row, key) for the lanes of a panel, of which key_step keys share the vectors: the row
/// of each lane, and which of the keys it is for.
template <class Isa, int Vectors, class Body>
[[gnu::always_inline]] inline void for_lanes(const QueryRow* rows, int row_count, int key_step,
                                             Body&& body) {
  const int lanes = Vectors * Isa::lanes / key_step;
  for (int key = 0, lane = 0; key < key_step; ++key) {
    for (int r = 0; r < lanes; ++r, ++lane)
      body(lane, rows[smaller(r, row_count - 1)], key);
  }
}

/// Each lane's interval relative to some first key, as floats: they compare like scores. Exact for
/// what matters, since limits are clamped to the few keys of one block.
template <class Isa, int Vectors>
struct LaneLimits {
  alignas(64) float first[Vectors * Isa::lanes];
  alignas(64) float end[Vectors * Isa::lanes];
  int key_step; ///< keys that share the vectors

  LaneLimits(const QueryRow* rows, int row_count, std::int64_t first_key, int keys,
             int keys_abreast = 1)
      : key_step(keys_abreast) {
    for_lanes<Isa, Vectors>(rows, row_count, key_step, [&](int lane, const QueryRow& row, int key) {
      first[lane] = relative(row.first_key - first_key - key, keys);
      end[lane] = relative(row.end_key - first_key - key, keys);
    });
  }

  /// Which lanes of vector v do not see the j-th of the keys, or of the runs of keys that share
  /// the vectors.
  [[gnu::always_inline]] auto hides(int v, int j) const {
    const auto key = Isa::broadcast(static_cast<float>(j * key_step));
    return Isa::either(Isa::less(key, Isa::load(first + v * Isa::lanes)),
                       Isa::not_less(key, Isa::load(end + v * Isa::lanes)));
  }

private:
  static float relative(std::int64_t key, int keys) {
    return static_cast<float>(smaller<std::int64_t>(larger<std::int64_t>(key, 0), keys));
  }
};

/// The least number of keys not below `keys` that tiles of Tile keys make up.
template <int Tile>
[[gnu::always_inline]] constexpr int whole_tiles(int keys) {
  return (keys + Tile - 1) / Tile * Tile;
}

/// What the vectors of a panel see of a run of keys, by the intervals of their rows.
template <class Isa, int Vectors>
struct VisibleKeys {
  int count; ///< keys in the run
  /// Every row sees keys [all_first, all_end): whole tiles of the product, and it may be none.
  int all_first;
  int all_end;
  int end[Vectors]; ///< vector v and those before it see no key from here on

  /// Every row sees all.
  explicit VisibleKeys(int keys) : count(keys), all_first(0), all_end(keys) {
    for (int& each : end)
      each = keys;
  }

  VisibleKeys(const AttentionBlock& block, const Panel<Isa>& panel, std::int64_t first_key,
              int keys)
      : VisibleKeys(keys) {
    if (first_key < panel.all_first || first_key + keys > panel.all_end)
      leave_out(block.rows + panel.first_row, panel, first_key);
  }

  /// Whether some vector sees fewer keys than others.
  bool narrows() const { return end[0] != end[Vectors - 1]; }

  /// Whether some row does not see some of the keys.
  bool in_part() const { return all_first != 0 || all_end != count; }

private:
  void leave_out(const QueryRow* rows, const Panel<Isa>& panel, std::int64_t first_key) {
    constexpr int tile = Isa::score_keys(Vectors);
    const auto in_run = [&](std::int64_t key) {
      return static_cast<int>(
          smaller<std::int64_t>(larger<std::int64_t>(key - first_key, 0), count));
    };
    all_first = smaller(whole_tiles<tile>(in_run(panel.all_first)), count);
    all_end = in_run(panel.all_end);
    if (all_end != count) all_end = larger(all_end / tile * tile, all_first);
    std::int64_t seen = 0;
    for (int r = 0, v = 0; v < Vectors; ++v) {
      for (const int next = smaller(r + Isa::lanes, panel.row_count); r < next; ++r)
        seen = larger(seen, rows[r].end_key);
      end[v] = in_run(seen);
    }
  }
};

/// scores = −inf where the row does not see the key, but for keys [all_first, all_end), which every
/// row sees, of `count` of them; or of runs of keys that share the vectors. tile_max is raised to
/// the maximum of the others' scores.
template <class Isa, int Vectors>
void hide_scores(const LaneLimits<Isa, Vectors>& limits, int all_first, int all_end, int count,
                 float* scores, float* tile_max) {
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  typename Isa::Vector largest[Vectors];
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    largest[v] = Isa::load(tile_max + v * lanes);
  });
  const auto hide = [&](int j, int end) {
    for (; j < end; ++j) {
      unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
        float* score = scores + j * width + v * lanes;
        const auto seen =
            Isa::select(limits.hides(v, j), Isa::broadcast(-__builtin_inff()), Isa::load(score));
        Isa::store(score, seen);
        largest[v] = Isa::max(largest[v], seen);
      });
    }
  };
  hide(0, all_first);
  hide(all_end, count);
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    Isa::store(tile_max + v * lanes, largest[v]);
  });
}

} // namespace simdattn::kernels
