// `simdattn info`.

#include "support.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace simdattn::test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class Info : public CommandTest {};

TEST_F(Info, JsonListsEveryImplementationWithItsTilesAndOneActive) {
  const Finished finished = simdattn("info --json");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json info = Json::parse(finished.out);
  const std::vector<std::string> names = implementation_names();
  ASSERT_EQ(info["implementations"].size(), names.size());
  std::size_t active = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Json& implementation = info["implementations"][i];
    EXPECT_EQ(implementation["name"], names[i]);
    EXPECT_EQ(implementation["supported"], supported(names[i]));
    EXPECT_GT(implementation["tiles"]["row_block"], 0);
    active += implementation["active"].get<bool>() ? 1u : 0u;
  }
  EXPECT_EQ(active, 1u);
  EXPECT_GT(info["threads"], 0);
  EXPECT_TRUE(info["openmp"].is_boolean());
  EXPECT_TRUE(info["features"].is_array());
  EXPECT_TRUE(info["cache_bytes"]["l2"].is_number_unsigned());
  EXPECT_FALSE(info.contains("error"));
}

TEST_F(Info, EnvironmentForcesTheActiveImplementation) {
  const Json info = Json::parse(simdattn("info --json", "SIMDATTN_ISA=scalar").out);
  for (const Json& implementation : info["implementations"]) {
    EXPECT_EQ(implementation["active"], implementation["name"] == "scalar");
  }
}

TEST_F(Info, BadEnvironmentIsShownAndNothingIsActive) {
  const Finished finished = simdattn("info --json", "SIMDATTN_ISA=nonsense");
  EXPECT_EQ(finished.exit_code, 0);
  const Json info = Json::parse(finished.out);
  EXPECT_THAT(info["error"].get<std::string>(), HasSubstr("nonsense"));
  for (const Json& implementation : info["implementations"])
    EXPECT_FALSE(implementation["active"].get<bool>());
  EXPECT_THAT(simdattn("info", "SIMDATTN_ISA=nonsense").out, HasSubstr("nonsense"));
}

TEST_F(Info, TextNamesEveryImplementation) {
  const Finished finished = simdattn("info");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const std::string& name : implementation_names())
    EXPECT_THAT(finished.out, HasSubstr("  " + name + ": "));
  EXPECT_THAT(finished.out, HasSubstr("L2"));
  EXPECT_THAT(finished.out, HasSubstr("threads"));
}

TEST_F(Info, OutputThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(simdattn("info", R"(sh -c '"$0" "$@" > /dev/full')").exit_code, 2);
}

TEST_F(Info, HelpAndVersionSucceed) {
  EXPECT_EQ(simdattn("--help").exit_code, 0);
  EXPECT_THAT(simdattn("run --help").out, HasSubstr("--causal"));
  EXPECT_THAT(simdattn("--version").out, HasSubstr("."));
}

} // namespace
} // namespace simdattn::test
