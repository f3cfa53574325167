#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(CliTest, WhoamiShowsWhoTheDaemonTakesTheCallerFor) {
  const Outcome shown = margay({"whoami"});
  ASSERT_EQ(shown.exit, 0) << shown.error;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("(uid " + std::to_string(::getuid()) + ")"),
                               HasSubstr("operator  yes"), HasSubstr("urgent    yes")));
  const nlohmann::json who = get("/v1/whoami");
  EXPECT_EQ(who.at("uid"), ::getuid());
  EXPECT_EQ(who.at("urgent_allowed"), "everybody");
  EXPECT_FALSE(who.at("groups").empty());
}

}  // namespace
}  // namespace scheduler
