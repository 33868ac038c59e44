#include <gtest/gtest.h>

namespace {

TEST(OnednnTest, OurResultsAreThoseOfOnednn) {
  GTEST_SKIP() << "oneDNN was not found when this was configured (Debian: libdnnl-dev)";
}

} // namespace
