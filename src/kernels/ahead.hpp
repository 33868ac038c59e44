#pragma once
// Asking for memory before it is needed.

#include "kernel_table.hpp"

#include <cstddef>
#include <cstdint>

namespace simdattn::kernels {

/// Floats in a line of the caches that are asked for.
inline constexpr int line_floats = 16;

/// Asks for a row; Locality as of the builtin.
template <int Locality>
[[gnu::always_inline]] inline void ask_for(const float* row, int elements) {
  for (int i = 0; i < elements; i += line_floats)
    __builtin_prefetch(row + i, 0, Locality);
}

/// Rows that will be needed, asked for in order and a few elements at a time, spread over what is
/// computed meanwhile: memory is busy all the time, and no burst fills its queues.
struct RowsAhead {
  const float* next = nullptr; ///< element that comes next; nullptr: nothing is asked for
  std::int64_t skip = 0; ///< elements to the next row, from the end of one or from where link leads
  int dim = 0;
  int left = 0;                    ///< elements of the row that are still to come
  const std::byte* link = nullptr; ///< pointer to the next row in an array of QueryRow, if any
  const std::byte* end = nullptr;  ///< where these pointers end

  [[gnu::always_inline]] static RowsAhead of(const float* row, std::int64_t stride, int dim) {
    return {row, stride - dim, dim, dim};
  }

  /// Of each of `count` rows, what one of its pointers leads to, `offset` elements on.
  template <class Pointer>
  [[gnu::always_inline]] static RowsAhead of_each(const QueryRow* rows, int count,
                                                  Pointer QueryRow::*pointer, std::int64_t offset,
                                                  int dim) {
    const auto* link = reinterpret_cast<const std::byte*>(&(rows->*pointer));
    RowsAhead ahead{nullptr, offset, dim, 0, link, link + count * sizeof(QueryRow)};
    ahead.next_row();
    return ahead;
  }

  template <int Elements>
  [[gnu::always_inline]] void ask() {
    ask_for<2>(next, Elements);
    next += Elements;
    left -= Elements;
    if (left > 0) return;
    next_row();
  }

private:
  [[gnu::always_inline]] void next_row() {
    if (link == nullptr) {
      next += skip;
    } else if (link != end) {
      __builtin_memcpy(&next, link, sizeof(next));
      next += skip;
      link += sizeof(QueryRow);
    } else {
      next -= dim; // the last row again, which costs nothing
    }
    left += dim;
  }
};

/// Rows in memory, one after another.
struct RowsAt {
  const float* first;
  std::int64_t stride;

  [[gnu::always_inline]] const float* row(std::int64_t number) const {
    return first + number * stride;
  }
  [[gnu::always_inline]] RowsAt from(std::int64_t number) const { return {row(number), stride}; }
};

/// Rows that come, to be asked for while others are used; `Twice`: and again when half as far.
template <bool Twice>
struct ComingRows {
  RowsAt rows;

  [[gnu::always_inline]] ComingRows from(std::int64_t number) const { return {rows.from(number)}; }
};
template <>
struct ComingRows<true> {
  RowsAt rows;
  RowsAt again;

  [[gnu::always_inline]] ComingRows from(std::int64_t number) const {
    return {rows.from(number), again.from(number)};
  }
};

/// How many rows ahead of those in use rows are asked for, where they are used once.
inline constexpr int ask_distance = 24;

/// What is to be asked for while number `using_row` of `count` rows is used; `next` are read after
/// them.
template <bool Twice>
[[gnu::always_inline]] inline ComingRows<Twice> coming_rows(RowsAt rows, int count, RowsAt next,
                                                            int using_row) {
  const auto at = [&](int coming) {
    return coming < count ? rows.from(coming) : next.from(coming - count);
  };
  if constexpr (Twice)
    return {at(using_row + ask_distance), at(using_row + ask_distance / 2)};
  else
    return {at(using_row + ask_distance)};
}

} // namespace simdattn::kernels
