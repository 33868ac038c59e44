#pragma once
// Random numbers that are the same on every machine and with every standard library.

#include <cstddef>
#include <cstdint>

namespace simdattn::differential {

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
class Random {
public:
  /// The stream of case `index` of `seed`.
  Random(std::uint64_t seed, std::uint64_t index) noexcept : state_(seed) {
    state_ = next() ^ index;
  }

  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, bound); 0 when bound is not above 0.
  std::int64_t below(std::int64_t bound) noexcept {
    return bound > 0 ? static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound)) : 0;
  }
  /// In [least, most].
  std::int64_t between(std::int64_t least, std::int64_t most) noexcept {
    return least + below(most - least + 1);
  }
  bool chance(int percent) noexcept { return below(100) < percent; }
  template <class T, std::size_t Count>
  T pick(const T (&choices)[Count]) noexcept {
    return choices[below(static_cast<std::int64_t>(Count))];
  }
  /// In [0, 1).
  float uniform() noexcept { return static_cast<float>(next() >> 40) * 0x1p-24f; }
  /// Close to N(0, 1), and in [−3, 3].
  float normal() noexcept { return 2 * (uniform() + uniform() + uniform()) - 3; }

private:
  std::uint64_t state_;
};

} // namespace simdattn::differential
