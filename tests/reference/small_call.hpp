#pragma once
// Calls small enough to work out by hand, for the oracle.

#include "reference/reference.hpp"

#include <cmath>
#include <cstdint>
#include <gmock/gmock.h>
#include <limits>
#include <vector>

namespace simdattn::test {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float lowest = -std::numeric_limits<float>::max();

struct SmallShape {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, dim = 1;
};

/// Dense [B, H, L, D] tensors, with query and key 0 and value j at key j of every head until told
/// otherwise. Then every score is 0, and an output is the mean of the numbers of the visible keys.
struct SmallCall {
  explicit SmallCall(const SmallShape& s)
      : shape(s), query(s.batch * s.heads * s.queries * s.dim),
        key(s.batch * s.kv_heads * s.keys * s.dim), value(s.batch * s.kv_heads * s.keys * s.dim) {
    for (std::size_t n = 0; n < value.size(); ++n)
      value[n] = static_cast<float>(static_cast<std::int64_t>(n) / s.dim % s.keys);
    tensors.query = bhsd<const float>(query.data(), s.batch, s.heads, s.queries, s.dim);
    tensors.key = bhsd<const float>(key.data(), s.batch, s.kv_heads, s.keys, s.dim);
    tensors.value = bhsd<const float>(value.data(), s.batch, s.kv_heads, s.keys, s.dim);
    options.scale = 1.0f;
  }
  SmallCall(const SmallCall&) = delete;

  reference::Expected attention() const { return reference::attention(tensors, options); }
  reference::Tolerance tolerance() const { return reference::tolerance(tensors, options); }
  std::vector<double> output() const { return attention().output; }

  SmallShape shape;
  std::vector<float> query, key, value;
  AttentionTensors tensors;
  AttentionOptions options;
};

/// A boolean mask's memory: std::vector<bool> has none.
struct Bools {
  Bools(std::initializer_list<bool> list) : values(list.begin(), list.end()) {}
  const bool* data() const { return reinterpret_cast<const bool*>(values.data()); }
  std::vector<unsigned char> values;
};

/// Within 1e-12 of each: the oracle is in double.
inline auto near_all(const std::vector<double>& expected) {
  return ::testing::Pointwise(::testing::NanSensitiveDoubleNear(1e-12), expected);
}

} // namespace simdattn::test
