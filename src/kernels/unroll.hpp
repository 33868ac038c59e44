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

/// Cuts [0, count) into tiles of `Tile`, and the rest into ever smaller powers of two:
/// body(Index<size>, first).
template <int Tile, class Body>
[[gnu::always_inline]] inline void for_tiles(int count, Body&& body, int first = 0) {
  for (; count - first >= Tile; first += Tile)
    body(Index<Tile>{}, first);
  if constexpr (Tile > 1) for_tiles<power_of_two_below(Tile)>(count, body, first);
}

} // namespace simdattn::kernels
