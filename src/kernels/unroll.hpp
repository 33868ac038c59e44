#pragma once
// Loops whose trip count is a constant, unrolled by the language: the index is a constant
// expression, so that an array of vectors indexed by it lives in registers under any optimisation
// level.

#include <utility>

namespace simdattn::kernels {

/// A value that is part of its type.
template <auto Value>
struct Constant {
  static constexpr auto value = Value;
  [[gnu::always_inline]] constexpr operator decltype(Value)() const { return Value; }
};
template <int Value>
using Index = Constant<Value>;

/// body(Constant<flag>…), the body last.
template <class Body>
[[gnu::always_inline]] inline void with_flags(bool flag, Body&& body) {
  flag ? body(Constant<true>{}) : body(Constant<false>{});
}
template <class Body>
[[gnu::always_inline]] inline void with_flags(bool first, bool second, Body&& body) {
  with_flags(
      first, [&](auto one) __attribute__((always_inline)) {
        with_flags(
            second, [&](auto two) __attribute__((always_inline)) { body(one, two); });
      });
}

/// body(Index<0>), …, body(Index<Count - 1>).
template <int Count, class Body>
[[gnu::always_inline]] inline void unroll(Body&& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (body(Index<I>{}), ...);
  }
  (std::make_integer_sequence<int, Count>{});
}

consteval int power_of_two_below(int n) {
  int power = 1;
  while (power * 2 < n)
    power *= 2;
  return power;
}

/// Cuts [0, count) into a run of tiles of `Tile`, and the rest into tiles of ever smaller powers of
/// two: body(Index<size>, first, end), with end − first a multiple of size.
template <int Tile, class Body>
[[gnu::always_inline]] inline void for_runs(int count, Body&& body, int first = 0) {
  const int end = first + (count - first) / Tile * Tile;
  if (first < end) body(Index<Tile>{}, first, end);
  if constexpr (Tile > 1) for_runs<power_of_two_below(Tile)>(count, body, end);
}

/// The same tile by tile: body(Index<size>, first).
template <int Tile, class Body>
[[gnu::always_inline]] inline void for_tiles(int count, Body&& body) {
  for_runs<Tile>(
      count, [&](auto tile, int first, int end) __attribute__((always_inline)) {
        for (; first < end; first += tile)
          body(tile, first);
      });
}

} // namespace simdattn::kernels
