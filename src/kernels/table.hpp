#pragma once
// One table out of one trait.

#include "kernels/fused.hpp"
#include "kernels/staged.hpp"

namespace simdattn::kernels {

/// KernelTable::exp2.
template <class Isa>
void exp2_values(const float* x, float* y, std::int64_t count) {
  constexpr int lanes = Isa::lanes;
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    Isa::store(y + i, exp2<Isa>(Isa::load(x + i)));
  if (i == count) return;
  alignas(64) float rest[lanes] = {};
  for (std::int64_t k = i; k < count; ++k)
    rest[k - i] = x[k];
  Isa::store(rest, exp2<Isa>(Isa::load(rest)));
  for (std::int64_t k = i; k < count; ++k)
    y[k] = rest[k - i];
}

template <class Isa>
consteval KernelTable make_table(const char* name, CpuFeatures required) {
  KernelTable table{};
  table.name = name;
  table.required = required;
  table.tiles = Isa::tiles;
  table.fused = fused<Isa>;
  table.merge = merge<Isa>;
  table.scores = scores<Isa>;
  table.softmax = softmax<Isa>;
  table.weighted_sum = weighted_sum<Isa>;
  table.exp2 = exp2_values<Isa>;
  return table;
}

} // namespace simdattn::kernels
