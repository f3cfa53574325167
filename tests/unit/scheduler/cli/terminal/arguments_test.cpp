#include <gmock/gmock.h>

#include <sstream>

#include "scheduler/cli/program.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class CliArgumentsTest : public CliTest {
 protected:
  // Without the socket that margay() adds.
  static Outcome plain(const Words& arguments) {
    std::vector<const char*> argv = {"margay"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    std::ostringstream out;
    std::ostringstream error;
    const int exit = cli::run(static_cast<int>(argv.size()), argv.data(), {}, out, error);
    return {.exit = exit, .out = out.str(), .error = error.str()};
  }
  static std::string refused(const Words& arguments) {
    const Outcome outcome = plain(arguments);
    EXPECT_EQ(outcome.exit, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "");
    return outcome.error;
  }
};

TEST_F(CliArgumentsTest, AnUnknownCommandNamesTheNearestOne) {
  EXPECT_EQ(refused({"lst"}),
            "margay: unknown command 'lst'; did you mean 'list'?\nSee 'margay --help'.\n");
  EXPECT_THAT(refused({"template", "lst"}), HasSubstr("did you mean 'list'?"));
  EXPECT_THAT(refused({"zzz"}),
              AllOf(StartsWith("margay: unknown command 'zzz'\n"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(refused({}), StartsWith("margay: no command given\n"));
}

TEST_F(CliArgumentsTest, HelpIsACommandToo) {
  EXPECT_EQ(plain({"help"}).out, plain({"--help"}).out);
  EXPECT_EQ(plain({"help", "list"}).out, plain({"list", "--help"}).out);
  EXPECT_EQ(plain({"help", "template", "add"}).exit, 0);
  EXPECT_THAT(plain({"help", "list"}).out, HasSubstr("margay list [OPTIONS]"));
  EXPECT_THAT(refused({"help", "lst"}), HasSubstr("did you mean 'list'?"));
}

TEST_F(CliArgumentsTest, NumbersAreRefusedInTheWordsOfTheUser) {
  for (const char* text : {"abc", "0", "-1", "1-5", "all", "1.5", "99999999999999999999"}) {
    EXPECT_THAT(refused({"list", "--limit", text}),
                HasSubstr(std::string("expected a whole number from 1, got '") + text + "'"));
  }
  EXPECT_THAT(refused({"show", "20-1"}), HasSubstr("invalid range '20-1'"));
  EXPECT_THAT(refused({"enqueue", "a.mrc", "--template", "t", "--defocus-u", "abc"}),
              HasSubstr("--defocus-u: expected a number, got 'abc'"));
}

TEST_F(CliArgumentsTest, WordsDurationsAndOptionsAreRefusedWithWhatIsExpected) {
  EXPECT_THAT(refused({"promote", "1", "--priority", "live"}),
              HasSubstr("expected low, normal, high or urgent, got 'live'"));
  EXPECT_THAT(refused({"wait", "--timeout", "soon"}), HasSubstr("invalid duration 'soon'"));
  EXPECT_THAT(refused({"list", "--labl", "x"}),
              HasSubstr("unknown option '--labl'; did you mean '--label'?"));
  EXPECT_THAT(refused({"--label", "x", "list"}),
              HasSubstr("option '--label' must follow the command"));
  EXPECT_THAT(refused({"status", "now"}), HasSubstr("unexpected argument 'now'"));
  EXPECT_THAT(refused({"show"}), HasSubstr("no items named; give numbers (1-20,31), last, all"));
}

TEST_F(CliArgumentsTest, GlobalOptionsStandBeforeOrBehindTheCommand) {
  const std::string socket = "--socket=" + file("s.sock");
  for (const Words& words : {Words{socket, "--json", "list"}, Words{"list", "--json", socket},
                             Words{"--json", "list", socket},
                             Words{"--socket", file("s.sock"), "--json", "template", "list"},
                             Words{"template", "--json", socket, "list"}}) {
    const Outcome outcome = plain(words);
    EXPECT_EQ(outcome.exit, 0) << testing::PrintToString(words) << outcome.error;
    EXPECT_EQ(outcome.document().at("format"), 1);
  }
  EXPECT_THAT(refused({"--json", "--socket", "/s", "lst"}), HasSubstr("did you mean 'list'?"));
}

TEST_F(CliArgumentsTest, AMisspeltStateNamesTheNearestOne) {
  const Outcome outcome = margay({"list", "--state", "activ"});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.error, HasSubstr("unknown state 'activ'; did you mean 'ACTIVE'?"));
  const Outcome bogus = margay({"list", "--state", "done,bogus"});
  EXPECT_EQ(bogus.exit, 2);
  EXPECT_THAT(bogus.error, HasSubstr("unknown state 'bogus'"));
  EXPECT_THAT(bogus.error, HasSubstr("QUARANTINED"));
}

}  // namespace
}  // namespace scheduler
