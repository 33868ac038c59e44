#include "differential/strided_memory.hpp"

#include <sstream>
#include <utility>

namespace simdattn::differential {
namespace {

constexpr int bhsd_order[] = {0, 1, 2, 3}; // outermost first
constexpr int bshd_order[] = {0, 2, 1, 3};

} // namespace

Strides draw_strides(Random& random, const Sizes& size, Use use) {
  std::array<int, 4> order{};
  const int style = static_cast<int>(random.below(10));
  std::copy_n(style < 6 ? bhsd_order : bshd_order, 4, order.begin());
  if (style == 9)
    for (std::int64_t axis = 3; axis > 0; --axis)
      std::swap(order[static_cast<std::size_t>(axis)],
                order[static_cast<std::size_t>(random.below(axis + 1))]);
  const bool gaps = random.chance(30), repeats = use == Use::input && random.chance(10);
  Strides strides;
  std::int64_t step = random.chance(10) ? random.between(2, 3) : 1;
  for (int place = 3; place >= 0; --place) {
    const auto axis = static_cast<std::size_t>(order[static_cast<std::size_t>(place)]);
    if (repeats && random.chance(40)) continue; // stride 0
    strides.stride[axis] = size[axis] == 1 && random.chance(10) ? random.below(9) : step;
    step *= std::max<std::int64_t>(size[axis], 1);
    if (gaps) step += random.below(6);
  }
  strides.margin = random.chance(50) ? 0 : random.between(1, 64);
  return strides;
}

std::string text_of(const Sizes& size, const Strides& strides) {
  std::ostringstream text;
  const char* separator = "";
  for (const std::int64_t n : size)
    text << std::exchange(separator, "x") << n;
  separator = " by ";
  for (const std::int64_t n : strides.stride)
    text << std::exchange(separator, ",") << n;
  return text.str();
}

} // namespace simdattn::differential
