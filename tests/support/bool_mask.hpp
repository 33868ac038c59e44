#pragma once
// Masks of both kinds.

#include "guarded_buffer.hpp"
#include "simdattn/tensor.hpp"
#include "test_tensor.hpp"

#include <gtest/gtest.h>

namespace simdattn::test {

/// The bool mask that excludes the keys that an additive mask excludes, those with −inf. It lies in
/// memory as that does, between guard pages of its own.
class BoolMask {
public:
  explicit BoolMask(const TestTensor& additive, Placement placement = Placement::back);

  TensorView view() const noexcept { return view_; }

private:
  TensorView view_;
  GuardedBuffer elements_;
};

/// Calls body(view) for an additive mask, then for the bool mask that excludes the same keys.
template <class Body>
void with_masks_of_both_kinds(const TestTensor& additive, Body&& body) {
  {
    SCOPED_TRACE("additive mask");
    body(additive.view());
  }
  SCOPED_TRACE("bool mask");
  const BoolMask boolean(additive);
  body(boolean.view());
}

} // namespace simdattn::test
