// `simdattn demo`, without its timings.

#include "support.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <regex>
#include <sstream>

namespace simdattn::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Demo : public CommandTest {};

TEST_F(Demo, WalksThroughTheStepsWithShapesAndTheReference) {
  const Finished finished = simdattn("demo --skip-timing");
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  for (const char* part :
       {"(4, 10, 64) × (4, 64, 10) → (4, 10, 10)", "(4, 10, 10) × (4, 10, 64) → (4, 10, 64)",
        "(8, 128, 32), (8, 128, 32), (8, 128, 64) → (8, 128, 64)", "row sums", "reference"}) {
    EXPECT_THAT(finished.out, HasSubstr(part));
  }
  EXPECT_THAT(finished.out, testing::Not(HasSubstr("WRONG")));
  EXPECT_THAT(files(), ElementsAre("attention_weights.svg"));
}

TEST_F(Demo, EveryImplementationIsRight) {
  for (const std::string& name : implementation_names()) {
    if (!supported(name)) continue;
    EXPECT_EQ(simdattn("demo --skip-timing", "SIMDATTN_ISA=" + name).exit_code, 0) << name;
  }
}

TEST_F(Demo, PictureHasAValueForEachWeightAndRowsThatSumToOne) {
  ASSERT_EQ(simdattn("demo --skip-timing --picture p.svg").exit_code, 0);
  std::ifstream stream(path("p.svg"));
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string svg = text.str();
  EXPECT_EQ(svg.substr(0, 5), "<svg ");
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  // The numbers in the cells are the only ones with two digits in a font of size 12.
  const std::regex number(R"re(font-size="12"[^>]*>([01]\.\d\d)<)re");
  std::vector<double> weights;
  for (std::sregex_iterator match(svg.begin(), svg.end(), number), end; match != end; ++match) {
    weights.push_back(std::stod((*match)[1]));
  }
  ASSERT_EQ(weights.size(), 100u);
  for (std::size_t row = 0; row < 10; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < 10; ++column)
      sum += weights[row * 10 + column];
    EXPECT_NEAR(sum, 1, 0.05) << "row " << row;
  }
}

TEST_F(Demo, PictureThatCannotBeWrittenIsAnError) {
  const Finished finished = simdattn("demo --skip-timing --picture none/p.svg");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--picture none/p.svg"));
}

} // namespace
} // namespace simdattn::test
