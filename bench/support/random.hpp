#pragma once

#include "buffer.hpp"

#include <algorithm>
#include <random>

namespace simdattn::bench {

/// Fills a buffer from N(0, 1).
inline void fill_normal(Buffer& buffer, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::generate_n(buffer.data(), buffer.count(), [&] { return normal(random); });
}

} // namespace simdattn::bench
