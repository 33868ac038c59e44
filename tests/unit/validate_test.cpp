// Bad arguments of the fused call: each gives an error that names the argument, what it was and
// what it must be, and touches no output.

#include "support/status.hpp"
#include "support/test_problem.hpp"
#include "validate.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace simdattn::test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max() / 2;

struct Call {
  AttentionTensors tensors;
  AttentionOptions options;
  Context context;
};

// One way to spoil a good call, and what the message must say.
struct BadCall {
  const char* name;
  void (*spoil)(Call&);
  std::vector<std::string> message;
};

void PrintTo(const BadCall& bad, std::ostream* stream) { *stream << bad.name; }

AttentionCase good_case() {
  AttentionCase c;
  c.batch = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.queries = 3;
  c.keys = 5;
  c.dim = 6;
  c.value_dim = 7;
  return c;
}

class BadCalls : public ::testing::TestWithParam<BadCall> {};

TEST_P(BadCalls, are_errors_that_say_why_and_touch_nothing) {
  TestProblem problem(good_case());
  problem.fill(1);
  Call call{problem.tensors(), {}, {}};
  GetParam().spoil(call);
  const Status status = scaled_dot_product_attention(call.tensors, call.options, call.context);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  for (const std::string& part : GetParam().message)
    EXPECT_THAT(status.message(), HasSubstr(part));
  std::size_t bytes = 12345;
  EXPECT_THAT(workspace_size(call.tensors, call.options, call.context, &bytes),
              IsError(StatusCode::invalid_argument, std::string(status.message())));
  EXPECT_EQ(bytes, 12345u);
  for (const TestTensor* output : {&problem.output, &problem.lse, &problem.weights})
    for_each_index(output->shape(), [&](auto b, auto h, auto i, auto d) {
      ASSERT_TRUE(is_untouched(output->at(b, h, i, d)));
    });
}

const BadCall bad_tensors[] = {
    {"no_query", [](Call& c) { c.tensors.query = {}; }, {"query: type is none; it must be f32"}},
    {"query_without_data",
     [](Call& c) { c.tensors.query.data = nullptr; },
     {"query: data is nullptr", "must point"}},
    {"key_without_data", [](Call& c) { c.tensors.key.data = nullptr; }, {"key: data is nullptr"}},
    {"value_without_data",
     [](Call& c) { c.tensors.value.data = nullptr; },
     {"value: data is nullptr"}},
    {"output_without_data",
     [](Call& c) { c.tensors.output.data = nullptr; },
     {"output: data is nullptr"}},
    {"key_of_16_bits",
     [](Call& c) { c.tensors.key.type = DataType::bf16; },
     {"key: type is bf16; it must be f32"}},
    {"value_of_bool",
     [](Call& c) { c.tensors.value.type = DataType::boolean; },
     {"value: type is boolean", "f32"}},
    {"lse_of_16_bits",
     [](Call& c) { c.tensors.lse.type = DataType::f16; },
     {"lse: type is f16; it must be f32"}},
    {"weights_of_integers",
     [](Call& c) { c.tensors.weights.type = DataType::i64; },
     {"weights: type is i64", "f32"}},
    {"mask_of_integers",
     [](Call& c) {
       static const std::int64_t number = 0;
       c.tensors.mask = bhsd(&number, 1, 1, 1, 1);
     },
     {"mask: type is i64; it must be boolean, f32, f16 or bf16"}},
    {"an_unknown_type",
     [](Call& c) { c.tensors.query.type = DataType{99}; },
     {"query: type is unknown"}},
    {"a_negative_size",
     [](Call& c) { c.tensors.key.size[2] = -5; },
     {"key: size[2] (seq) is -5; it must be 0 or more"}},
    {"a_negative_stride",
     [](Call& c) { c.tensors.value.stride[1] = -1; },
     {"value: stride[1] (heads) is -1", "0 or more"}},
    {"a_negative_output_stride",
     [](Call& c) { c.tensors.output.stride[3] = -1; },
     {"output: stride[3] (dim) is -1"}},
    {"an_output_of_stride_0",
     [](Call& c) { c.tensors.output.stride[1] = 0; },
     {"output: stride[1] (heads) is 0"}},
    {"an_lse_of_stride_0",
     [](Call& c) { c.tensors.lse.stride[2] = 0; },
     {"lse: stride[2] (seq) is 0"}},
    {"weights_of_stride_0",
     [](Call& c) { c.tensors.weights.stride[3] = 0; },
     {"weights: stride[3] (dim) is 0"}},
    {"a_stride_that_overflows",
     [](Call& c) { c.tensors.key.stride[0] = huge * 2; },
     {"key: sizes [2, 2, 5, 6]", "overflow"}},
    {"bytes_that_overflow",
     [](Call& c) { c.tensors.query.stride[0] = huge; },
     {"query: sizes", "overflow", "64 bits"}},
    {"an_unaligned_pointer",
     [](Call& c) { c.tensors.query.data = static_cast<const char*>(c.tensors.query.data) + 2; },
     {"query: data is 0x", "multiple of 4"}},
};

const BadCall bad_shapes[] = {
    {"another_dim_of_key",
     [](Call& c) { c.tensors.key.size[3] = 5; },
     {"key: size[3] (dim) is 5; it must be 6, as in query"}},
    {"another_batch_of_key",
     [](Call& c) { c.tensors.key.size[0] = 1; },
     {"key: size[0] (batch) is 1; it must be 2"}},
    {"another_batch_of_value",
     [](Call& c) { c.tensors.value.size[0] = 1; },
     {"value: size[0] (batch) is 1; it must be 2"}},
    {"another_length_of_value",
     [](Call& c) { c.tensors.value.size[2] = 4; },
     {"value: size[2] (seq) is 4; it must be 5, as in key"}},
    {"other_heads_of_value",
     [](Call& c) { c.tensors.value.size[1] = 1; },
     {"value: size[1] (heads) is 1; it must be 2, as in key"}},
    {"heads_that_do_not_divide",
     [](Call& c) {
       c.tensors.key.size[1] = c.tensors.value.size[1] = 3;
       c.tensors.key.stride[1] = c.tensors.value.stride[1] = 0;
     },
     {"key: size[1] (heads) is 3", "divide the 4 heads of query"}},
    {"no_kv_heads",
     [](Call& c) { c.tensors.key.size[1] = c.tensors.value.size[1] = 0; },
     {"key: size[1] (heads) is 0", "4 heads"}},
    {"no_dim",
     [](Call& c) { c.tensors.query.size[3] = c.tensors.key.size[3] = 0; },
     {"query: size[3] (dim) is 0; it must be in 1"}},
    {"a_dim_beyond_the_most",
     [](Call& c) {
       c.tensors.query.size[3] = c.tensors.key.size[3] = max_dim + 1;
       c.tensors.query.stride[3] = c.tensors.key.stride[3] = 0;
     },
     {"query: size[3] (dim) is " + std::to_string(max_dim + 1), std::to_string(max_dim)}},
    {"another_dim_of_output",
     [](Call& c) { c.tensors.output.size[3] = 6; },
     {"output: size[3] (dim) is 6; it must be 7, as in value"}},
    {"another_length_of_output",
     [](Call& c) { c.tensors.output.size[2] = 2; },
     {"output: size[2] (seq) is 2; it must be 3, as in query"}},
    {"other_heads_of_output",
     [](Call& c) { c.tensors.output.size[1] = 2; },
     {"output: size[1] (heads) is 2; it must be 4, as in query"}},
    {"another_batch_of_output",
     [](Call& c) { c.tensors.output.size[0] = 1; },
     {"output: size[0] (batch) is 1; it must be 2"}},
    {"a_wide_lse",
     [](Call& c) {
       c.tensors.lse.size[3] = 2;
       c.tensors.lse.stride[3] = 1;
     },
     {"lse: size[3] (dim) is 2; it must be 1"}},
    {"a_short_lse",
     [](Call& c) { c.tensors.lse.size[2] = 2; },
     {"lse: size[2] (seq) is 2; it must be 3"}},
    {"narrow_weights",
     [](Call& c) { c.tensors.weights.size[3] = 4; },
     {"weights: size[3] (dim) is 4; it must be 5"}},
};

const BadCall bad_options[] = {
    {"an_infinite_scale",
     [](Call& c) { c.options.scale = std::numeric_limits<float>::infinity(); },
     {"options.scale is inf; it must be finite"}},
    {"a_scale_of_nan",
     [](Call& c) { c.options.scale = std::numeric_limits<float>::quiet_NaN(); },
     {"options.scale is", "nan"}},
    {"an_unknown_causal_kind",
     [](Call& c) { c.options.causal = Causal{9}; },
     {"options.causal is 9; it must be", "top_left"}},
    {"a_negative_thread_count",
     [](Call& c) { c.context.threads = -1; },
     {"context.threads is -1; it must be 0 or more"}},
    {"an_output_that_is_the_query",
     [](Call& c) { c.tensors.output.data = const_cast<void*>(c.tensors.query.data); },
     {"output: data is 0x", "where query starts"}},
    {"weights_that_are_the_output",
     [](Call& c) { c.tensors.weights.data = c.tensors.output.data; },
     {"output: data is 0x", "where weights starts"}},
    {"an_lse_that_is_the_value",
     [](Call& c) { c.tensors.lse.data = const_cast<void*>(c.tensors.value.data); },
     {"lse: data is 0x", "where value starts"}},
};

std::string bad_call_name(const ::testing::TestParamInfo<BadCall>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Tensors, BadCalls, ::testing::ValuesIn(bad_tensors), bad_call_name);
INSTANTIATE_TEST_SUITE_P(Shapes, BadCalls, ::testing::ValuesIn(bad_shapes), bad_call_name);
INSTANTIATE_TEST_SUITE_P(Options, BadCalls, ::testing::ValuesIn(bad_options), bad_call_name);

} // namespace
} // namespace simdattn::test
