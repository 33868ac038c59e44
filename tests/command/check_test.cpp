// `simdattn check`.

#include "support.hpp"

#include <gmock/gmock.h>

namespace simdattn::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class Check : public CommandTest {};

TEST_F(Check, RunsAsManyCasesAsAskedForAndSaysNothingElse) {
  const Finished finished = simdattn("check --isa scalar --seed 3 --cases 40");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.out, "40 cases of seed 3 on scalar: all within their tolerance\n");
  EXPECT_EQ(finished.err, ""); // no progress bar where no one looks
}

TEST_F(Check, RunsEverySupportedImplementation) {
  const Finished finished = simdattn("check --cases 3");
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  for (const std::string& name : implementation_names()) {
    if (supported(name)) {
      EXPECT_THAT(finished.out, HasSubstr(name));
    }
  }
}

TEST_F(Check, EndsAfterItsTime) {
  const Finished finished = simdattn("check --isa scalar --seconds 0.05");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, EndsWith("of seed 1 on scalar: all within their tolerance\n"));
}

TEST_F(Check, ShowsOneCase) {
  const Finished finished = simdattn("check --isa scalar --seed 2 --case 5");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("queries"), HasSubstr("\n  query "), EndsWith("scalar: ok\n")));
  EXPECT_EQ(simdattn("check --isa scalar --seed 2 --case 5").out, finished.out);
}

TEST_F(Check, RefusesWhatMakesNoSense) {
  for (const char* arguments :
       {"--case 1 --cases 2", "--case 1 --seconds 2", "--seconds 0", "--cases -1", "--cases 0",
        "--case -1", "--seed -1", "--seed x", "--isa nonsense", "--isa ''"}) {
    const Finished finished = simdattn(std::string("check ") + arguments);
    EXPECT_EQ(finished.exit_code, 2) << arguments;
    EXPECT_THAT(finished.err, HasSubstr("simdattn: ")) << arguments;
    EXPECT_EQ(finished.out, "") << arguments;
  }
}

} // namespace
} // namespace simdattn::test
