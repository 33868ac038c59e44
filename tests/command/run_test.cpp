// `simdattn run` on good input: what it writes and what it says.

#include "support.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <numeric>

namespace simdattn::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Run : public EachImplementation {};

INSTANTIATE_TEST_SUITE_P(, Run, testing::ValuesIn(implementation_names()),
                         [](const auto& each) { return each.param; });

TEST_P(Run, OutputHasTheRankOfTheQueryAndPassesVerify) {
  const Shape queries[] = {{7, 16}, {2, 7, 16}, {2, 4, 7, 16}};
  const Shape keys[] = {{9, 16}, {2, 9, 16}, {2, 2, 9, 16}};
  const Shape values[] = {{9, 5}, {2, 9, 5}, {2, 2, 9, 5}};
  const Shape outputs[] = {{7, 5}, {2, 7, 5}, {2, 4, 7, 5}};
  const Shape weights[] = {{7, 9}, {2, 7, 9}, {2, 4, 7, 9}};
  const Shape lses[] = {{7}, {2, 7}, {2, 4, 7}};
  for (int i = 0; i < 3; ++i) {
    write_inputs(queries[i], keys[i], values[i]);
    const Finished finished = run(
        std::string(inputs) + "--output o.npy --weights w.npy --lse l.npy --verify --threads 2");
    ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
    EXPECT_EQ(finished.err, "");
    EXPECT_THAT(finished.out, HasSubstr(GetParam()));
    EXPECT_THAT(finished.out, HasSubstr("GFLOP/s"));
    EXPECT_EQ(read_npy(path("o.npy")).shape, outputs[i]);
    EXPECT_EQ(read_npy(path("w.npy")).shape, weights[i]);
    EXPECT_EQ(read_npy(path("l.npy")).shape, lses[i]);
  }
  EXPECT_THAT(files(), ElementsAre("k.npy", "l.npy", "o.npy", "q.npy", "v.npy", "w.npy"));
}

TEST_P(Run, FortranOrderGivesTheSameResultAsCOrder) {
  const NpyTensor query = normal({2, 3, 6, 8}, 1);
  const NpyTensor key = normal({2, 3, 5, 8}, 2);
  const NpyTensor value = normal({2, 3, 5, 7}, 3);
  write_npy(path("q.npy"), query);
  write_npy(path("k.npy"), key);
  write_npy(path("v.npy"), value);
  ASSERT_EQ(run(std::string(inputs) + "--output c.npy").exit_code, 0);
  write_fortran_npy(path("q.npy"), query);
  write_fortran_npy(path("k.npy"), key);
  write_fortran_npy(path("v.npy"), value);
  ASSERT_EQ(run(std::string(inputs) + "--output f.npy --verify").exit_code, 0);
  EXPECT_EQ(read_npy(path("f.npy")).elements, read_npy(path("c.npy")).elements);
}

TEST_P(Run, WeightsOfEachRowSumToOneAndGiveTheLogSumExp) {
  write_inputs({2, 6, 16}, {2, 11, 16}, {2, 11, 16});
  ASSERT_EQ(run(std::string(inputs) + "--output o.npy --weights w.npy --scale 0").exit_code, 0);
  for (const float weight : read_npy(path("w.npy")).elements)
    EXPECT_NEAR(weight, 1.0f / 11, 1e-6f);
  ASSERT_EQ(run(std::string(inputs) + "--output o.npy --weights w.npy --lse l.npy --scale -0.3")
                .exit_code,
            0);
  const std::vector<float> weights = read_npy(path("w.npy")).elements;
  for (std::size_t row = 0; row < 12; ++row) {
    EXPECT_NEAR(std::accumulate(&weights[row * 11], &weights[row * 11] + 11, 0.0), 1.0, 1e-6)
        << "row " << row;
  }
}

TEST_P(Run, CausalNamesTheAlignment) {
  write_inputs({1, 8}, {4, 8}, {4, 3});
  const std::vector<float> value = read_npy(path("v.npy")).elements;
  ASSERT_EQ(run(std::string(inputs) + "--output o.npy --causal top_left").exit_code, 0);
  EXPECT_EQ(read_npy(path("o.npy")).elements, std::vector<float>(value.begin(), value.begin() + 3));
  ASSERT_EQ(run(std::string(inputs) + "--output b.npy --causal bottom_right --verify").exit_code,
            0);
  ASSERT_EQ(run(std::string(inputs) + "--output n.npy --causal none").exit_code, 0);
  EXPECT_EQ(read_npy(path("b.npy")).elements, read_npy(path("n.npy")).elements);
}

TEST_P(Run, EmptyInputsGiveEmptyOrZeroResults) {
  write_inputs({2, 0, 8}, {2, 5, 8}, {2, 5, 3});
  ASSERT_EQ(
      run(std::string(inputs) + "--output o.npy --weights w.npy --lse l.npy --verify").exit_code,
      0);
  EXPECT_EQ(read_npy(path("o.npy")).shape, (Shape{2, 0, 3}));
  write_inputs({2, 4, 8}, {2, 0, 8}, {2, 0, 3});
  const Finished finished =
      run(std::string(inputs) + "--output o.npy --weights w.npy --lse l.npy --verify");
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_EQ(read_npy(path("o.npy")).elements, std::vector<float>(24, 0.0f));
  EXPECT_EQ(read_npy(path("l.npy")).elements, std::vector<float>(8, -HUGE_VALF));
  EXPECT_EQ(read_npy(path("w.npy")).shape, (Shape{2, 4, 0}));
}

TEST_P(Run, NanReachesOnlyTheRowsThatSeeItAndVerifyKnows) {
  write_inputs({3, 8}, {3, 8}, {3, 2});
  NpyTensor key = read_npy(path("k.npy"));
  key.elements[2 * 8] = NAN;
  write_npy(path("k.npy"), key);
  ASSERT_EQ(run(std::string(inputs) + "--output o.npy --causal top_left --verify").exit_code, 0);
  const std::vector<float> output = read_npy(path("o.npy")).elements;
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(std::isnan(output[i]), i >= 4) << "element " << i;
}

TEST_P(Run, OverwritesAnOutputFileAsAWhole) {
  write_inputs({3, 8}, {3, 8}, {3, 2});
  write_npy(path("o.npy"), normal({100, 100}, 9));
  ASSERT_EQ(run(std::string(inputs) + "--output o.npy").exit_code, 0);
  EXPECT_EQ(read_npy(path("o.npy")).shape, (Shape{3, 2}));
}

// all-MiniLM-L6-v2: the model's own query, key and value give its own probabilities and context.
class RealModel : public EachImplementation {
protected:
  // `text` is paragraph or sentences; `mask` says which of its masks, or is empty.
  void check_layer(const std::string& text, const std::string& layer,
                   const std::string& mask = "") {
    const std::string folder = std::string(SIMDATTN_SHARED_DATA) + "/minilm/";
    const std::string from = folder + text + "_" + layer + "_";
    const std::string option = mask.empty() ? "" : " --mask " + folder + text + "_" + mask + ".npy";
    if (!std::filesystem::exists(from + "query.npy")) GTEST_SKIP() << "no " << from << "query.npy";
    const Finished finished =
        run("--query " + from + "query.npy --key " + from + "key.npy --value " + from +
            "value.npy --output o.npy --weights w.npy --lse l.npy --verify" + option);
    ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
    expect_near(read_npy(path("o.npy")), read_npy(from + "context.npy"));
    expect_near(read_npy(path("w.npy")), read_npy(from + "probs.npy"));
  }

private:
  static void expect_near(const NpyTensor& actual, const NpyTensor& wanted) {
    ASSERT_EQ(actual.shape, wanted.shape);
    for (std::size_t i = 0; i < wanted.elements.size(); ++i) {
      ASSERT_NEAR(actual.elements[i], wanted.elements[i], 5e-6f) << "element " << i;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, RealModel, testing::ValuesIn(implementation_names()),
                         [](const auto& each) { return each.param; });

TEST_P(RealModel, Layer0) { check_layer("paragraph", "layer0"); }
TEST_P(RealModel, Layer5) { check_layer("paragraph", "layer5"); }
TEST_P(RealModel, PaddedByAnAdditiveMask) { check_layer("sentences", "layer0", "mask"); }
TEST_P(RealModel, PaddedByABoolMask) { check_layer("sentences", "layer5", "attend"); }

} // namespace
} // namespace simdattn::test
