#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "scheduler/cli/program.h"
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
  EXPECT_THAT(shown.out, HasSubstr("group     " + who.at("group").get<std::string>()));
  EXPECT_TRUE(who.at("urgent_tokens").empty());
}

TEST_F(CliTest, AnItemCountsForTheGroupThatIsNamed) {
  register_template();
  const std::string primary = get("/v1/whoami").at("group");
  const int64_t item = enqueue("a.mrc");
  EXPECT_EQ(get("/v1/items/" + std::to_string(item)).at("item").at("group"), primary);
  const Outcome refused =
      margay({"enqueue", write("b.mrc"), "--template", "ribosome", "--defocus-u", "1e4",
              "--defocus-v", "1e4", "--group", "no-such-group"});
  EXPECT_EQ(refused.exit, 5);
  EXPECT_THAT(refused.error, HasSubstr("not a member of group 'no-such-group'"));
}

// `nobody` of a site where nobody may but with a token.
TEST_F(CliTest, WhoamiShowsTokensToWhoNeedsThem) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to ask as another user";
  Commands commands(
      *database_, clock_,
      CommandsOptions{.urgent_allow = std::set<std::string>(), .urgent_tokens = {.of_each = 2}});
  api::Service service(*database_, commands, api::DaemonHooks{});
  const api::HttpServer server(api::ServerOptions{.socket = file("t.sock"), .group = "nogroup"},
                               [&](api::Request& request) { return service.handle(request); });
  std::ostringstream out;
  std::ostringstream error;
  EXPECT_EQ(as_nobody([&] {
              const std::string socket = "--socket=" + file("t.sock");
              const std::vector<const char*> words = {"margay", "whoami", socket.c_str()};
              return cli::run(static_cast<int>(words.size()), words.data(), cli::Screen{}, out,
                              error);
            }),
            0)
      << error.str();
  EXPECT_THAT(out.str(), AllOf(HasSubstr("yes, with a token for each item"),
                               HasSubstr("2 of 2 tokens left"), HasSubstr("operator  no")));
}

}  // namespace
}  // namespace scheduler
