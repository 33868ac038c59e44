#pragma once
// What a caller may ask for beside the plain call, and what that may cost.

#include "support/buffer.hpp"
#include "support/problem.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace simdattn::bench {

/// Shapes by what is asked of them.
enum ShapeKind : unsigned { prefill = 1, long_prefill = 2, decode = 4, many_heads = 8 };

struct OptionShape {
  Shape shape;
  ShapeKind kind;
};
inline constexpr OptionShape option_shapes[] = {
    {{"prefill_1024_64", 1, 4, 4, 1024, 1024, 64, 64}, prefill},
    {{"prefill_1024_128", 1, 4, 4, 1024, 1024, 128, 128}, prefill},
    {{"prefill_8192_64", 1, 1, 1, 8192, 8192, 64, 64}, long_prefill},
    {{"decode_4096_128", 1, 8, 2, 1, 4096, 128, 128}, decode},
    {{"heads_32_512_128", 1, 32, 32, 512, 512, 128, 128}, many_heads},
};

/// A call that an option changes: the plain call at first, and the memory of what is added to it.
class OptionCall {
public:
  explicit OptionCall(BenchProblem& plain);

  const Shape& shape() const noexcept { return plain_.shape(); }
  /// Memory of any content, kept as long as the call.
  Buffer& numbers(std::int64_t count);
  bool* booleans(std::int64_t count);
  std::int64_t* integers(std::int64_t count);

  AttentionTensors tensors;
  AttentionOptions options;

private:
  const BenchProblem& plain_;
  std::deque<Buffer> numbers_;
  std::vector<std::unique_ptr<bool[]>> booleans_;
  std::vector<std::unique_ptr<std::int64_t[]>> integers_;
};

struct Option {
  const char* name;
  unsigned shapes;  ///< kinds that it is measured on
  const char* base; ///< the option whose time it is compared with
  double most;      ///< how many times that time it may take; 0: no limit is set
  void (*apply)(OptionCall& call);
};

/// Every option, "plain" first.
const std::vector<Option>& all_options();

} // namespace simdattn::bench
