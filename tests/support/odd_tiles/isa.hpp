#pragma once
// An instruction set that no machine has: 5 lanes, tiles of 2 × 5 rows by 3 keys or dims, blocks of
// 20 rows and 7 keys. No size is a power of two or a multiple of another, so that a few dozen
// queries and keys cross every boundary.

#include "kernel_table.hpp"

#include <cstdint>
#include <cstring>

namespace simdattn {
namespace {

struct OddTiles {
  static constexpr TileSizes tiles{.lanes = 5,
                                   .panel_rows = 10,
                                   .score_keys = 3,
                                   .output_dims = 3,
                                   .row_block = 20,
                                   .key_block = 7,
                                   .key_block_large_dim = 5,
                                   .key_block_one_panel = 3,
                                   .key_block_apart = 2,
                                   .few_rows = 3};
  static constexpr int score_keys(int vectors) { return vectors == 2 ? 3 : 5; }
  static constexpr int output_dims(int vectors) { return vectors == 2 ? 3 : 5; }
  static constexpr int lanes = 5;

  template <class T>
  struct Lanes {
    T element[lanes];
  };
  using Vector = Lanes<float>;
  using Mask = Lanes<bool>;

  template <class Body>
  static auto each(Body body) -> Lanes<decltype(body(0))> {
    return {{body(0), body(1), body(2), body(3), body(4)}};
  }

  static Vector load(const float* p) {
    return each([&](int i) { return p[i]; });
  }
  static void store(float* p, Vector v) { std::memcpy(p, v.element, sizeof v.element); }
  static Vector broadcast(float x) {
    return each([&](int) { return x; });
  }
  static Vector kept(Vector v) { return v; }

  static Vector add(Vector a, Vector b) {
    return each([&](int i) { return a.element[i] + b.element[i]; });
  }
  static Vector sub(Vector a, Vector b) {
    return each([&](int i) { return a.element[i] - b.element[i]; });
  }
  static Vector mul(Vector a, Vector b) {
    return each([&](int i) { return a.element[i] * b.element[i]; });
  }
  static Vector fma(Vector a, Vector b, Vector c) {
    return each([&](int i) { return a.element[i] * b.element[i] + c.element[i]; });
  }
  static Vector max(Vector a, Vector b) {
    return each([&](int i) { return a.element[i] > b.element[i] ? a.element[i] : b.element[i]; });
  }
  static Vector div(Vector a, Vector b) {
    return each([&](int i) { return a.element[i] / b.element[i]; });
  }

  static Mask less(Vector a, Vector b) {
    return each([&](int i) { return a.element[i] < b.element[i]; });
  }
  static Mask not_less(Vector a, Vector b) {
    return each([&](int i) { return !(a.element[i] < b.element[i]); });
  }
  static Mask is_nan(Vector a) {
    return each([&](int i) { return a.element[i] != a.element[i]; });
  }
  static Mask either(Mask a, Mask b) {
    return each([&](int i) { return a.element[i] || b.element[i]; });
  }
  static Vector select(Mask mask, Vector a, Vector b) {
    return each([&](int i) { return mask.element[i] ? a.element[i] : b.element[i]; });
  }
  static Vector zero_where(Mask mask, Vector v) { return select(mask, broadcast(0.0f), v); }
  static Vector load_boolean(const unsigned char* p) {
    return each([&](int i) { return p[i] != 0 ? 0.0f : -__builtin_inff(); });
  }
  static bool any(Mask mask) {
    return mask.element[0] || mask.element[1] || mask.element[2] || mask.element[3] ||
           mask.element[4];
  }

  static constexpr int row_tile_sums = 8;
  // Elements of K and V in groups of 3, so that the rest of a group occurs too.
  static constexpr int lane_group = 3;
  static constexpr int unrolled_keys = 4;
  template <int Size>
  struct Group {
    float element[Size];
  };
  template <int Size>
  static Group<Size> load_group(const float* p) {
    Group<Size> group;
    std::memcpy(group.element, p, sizeof group.element);
    return group;
  }
  template <int I, int Size>
  static float lane(const Group<Size>& group) {
    return group.element[I];
  }
  static Vector multiply(float factor, Vector a) { return mul(broadcast(factor), a); }
  static Vector multiply_add(float factor, Vector a, Vector sum) {
    return fma(broadcast(factor), a, sum);
  }

  static Lanes<std::int32_t> split_exponent(Vector x, Vector& fraction) {
    const auto exponent = each([&](int i) {
      const float rounded = x.element[i] + 12582912.0f;
      fraction.element[i] = x.element[i] - (rounded - 12582912.0f);
      std::int32_t bits;
      std::memcpy(&bits, &rounded, sizeof bits);
      return bits;
    });
    return exponent;
  }
  static Vector scale_by_exponent(Vector x, Lanes<std::int32_t> exponent) {
    return each([&](int i) {
      const std::uint32_t bits = (static_cast<std::uint32_t>(exponent.element[i]) + 64u) << 23;
      float factor;
      std::memcpy(&factor, &bits, sizeof factor);
      return x.element[i] * factor;
    });
  }

  static void transpose(Vector (&v)[lanes]) {
    for (int r = 0; r < lanes; ++r)
      for (int c = r + 1; c < lanes; ++c) {
        const float swapped = v[r].element[c];
        v[r].element[c] = v[c].element[r];
        v[c].element[r] = swapped;
      }
  }
};

} // namespace
} // namespace simdattn
