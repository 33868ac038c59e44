// `simdattn run` with what hides keys and changes scores.

#include "support.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <iomanip>

namespace simdattn::test {
namespace {

using testing::HasSubstr;

class ScoreOptions : public EachImplementation {
protected:
  void SetUp() override {
    EachImplementation::SetUp();
    if (!IsSkipped()) write_inputs({2, 4, 7, 16}, {2, 2, 9, 16}, {2, 2, 9, 5});
  }

  Finished verified(const char* options) const {
    return run(std::string(inputs) + "--output o.npy --weights w.npy --lse l.npy --verify " +
               options);
  }

  float weight(std::size_t batch, std::size_t head, std::size_t query, std::size_t key) const {
    const NpyTensor weights = read_npy(path("w.npy"));
    const auto keys = static_cast<std::size_t>(weights.shape[3]);
    return weights.elements[((batch * 4 + head) * 7 + query) * keys + key];
  }
};

INSTANTIATE_TEST_SUITE_P(, ScoreOptions, testing::ValuesIn(implementation_names()),
                         [](const auto& each) { return each.param; });

TEST_P(ScoreOptions, a_float_mask_of_every_rank_is_added) {
  const Shape shapes[] = {{9}, {7, 9}, {4, 7, 9}, {1, 7, 9}, {2, 1, 7, 9}, {2, 4, 1, 1}};
  for (const Shape& shape : shapes) {
    write_npy(path("m.npy"), normal(shape, 5));
    const Finished finished = verified("--mask m.npy");
    EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  }
}

TEST_P(ScoreOptions, a_boolean_mask_excludes_what_is_false) {
  constexpr int header_length = 118;
  std::ofstream file(path("m.npy"), std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8).put(header_length).put('\0');
  file << std::left << std::setw(header_length - 1)
       << "{'descr': '|b1', 'fortran_order': False, 'shape': (9,), }" << '\n';
  for (int key = 0; key < 9; ++key)
    file.put(key == 3 ? 0 : 1);
  file.close();
  const Finished finished = verified("--mask m.npy");
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_EQ(weight(1, 2, 3, 3), 0.0f);
  EXPECT_GT(weight(1, 2, 3, 4), 0.0f);
}

TEST_P(ScoreOptions, window_lengths_softcap_slopes_and_sinks_pass_verify_together) {
  write_npy(path("slopes.npy"), normal({4}, 6));
  write_npy(path("sinks.npy"), normal({2, 4}, 7));
  const Finished finished = verified("--causal bottom_right --window 2,-1 --kv-lengths 9,6 "
                                     "--softcap 3 --alibi slopes.npy --sinks sinks.npy");
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_EQ(weight(1, 0, 6, 6), 0.0f); // past the length
  EXPECT_GT(weight(1, 0, 6, 5), 0.0f);
  EXPECT_EQ(weight(0, 0, 6, 5), 0.0f); // left of the window
  EXPECT_GT(weight(0, 0, 6, 6), 0.0f);
}

TEST_P(ScoreOptions, past_keys_come_first) {
  write_npy(path("pk.npy"), normal({2, 2, 5, 16}, 8));
  write_npy(path("pv.npy"), normal({2, 2, 5, 5}, 9));
  const Finished finished =
      verified("--past-key pk.npy --past-value pv.npy --causal bottom_right");
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_EQ(read_npy(path("w.npy")).shape, (Shape{2, 4, 7, 14}));
  EXPECT_GT(weight(0, 0, 0, 7), 0.0f);
  EXPECT_EQ(weight(0, 0, 0, 8), 0.0f);
}

TEST_P(ScoreOptions, what_does_not_fit_is_named) {
  write_npy(path("m.npy"), normal({7, 8}, 5));
  write_npy(path("slopes.npy"), normal({3}, 6));
  write_npy(path("pk.npy"), normal({2, 5, 16}, 8));
  const std::pair<const char*, const char*> cases[] = {
      {"--mask m.npy", "mask: size[3]"},
      {"--mask none.npy", "--mask none.npy: no such file"},
      {"--alibi slopes.npy", "alibi_slopes: size[1]"},
      {"--kv-lengths 9", "kv_lengths: size[0]"},
      {"--kv-lengths 9,10", "kv_lengths[1] is 10"},
      {"--window -2,0", "--window"},
      {"--window 3", "--window"},
      {"--softcap 0", "--softcap"},
      {"--softcap nan", "--softcap"},
      {"--past-key pk.npy", "--past-key"},
      {"--past-key pk.npy --past-value pk.npy", "--past-key pk.npy: shape is (2, 5, 16)"},
  };
  for (const auto& [options, message] : cases) {
    const Finished finished = verified(options);
    EXPECT_EQ(finished.exit_code, 2) << options;
    EXPECT_THAT(finished.err, HasSubstr(message)) << options;
  }
}

} // namespace
} // namespace simdattn::test
