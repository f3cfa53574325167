#include "base/cli_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>

namespace base {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CliPages : public ::testing::Test {
 protected:
  CliPages() {
    app_.footer("Exit codes: 0 success.");
    CLI::App* add = app_.add_subcommand("add", "Add a file");
    add->add_option("FILE", file_, "What to add")->required();
    add->add_option("-c,--colour", colour_, "Colour of it")
        ->check(CLI::Validator([](std::string&) { return std::string(); }, "",
                               name_of_words({"red", "green"})))
        ->type_name("WORD")
        ->capture_default_str();
    add->add_flag("--fast", fast_, "Don't look twice");
    add->add_flag("--secret", fast_, "Not to be seen")->group("");
    add->footer("Example:\n  tool add .profile --colour red");
    add_page_options(app_, 1, {"other(1)", "more(8)"});
  }

  std::string printed(const std::string& option) {
    std::ostringstream out;
    try {
      app_.parse(option);
    } catch (const CLI::ParseError& end) {
      EXPECT_EQ(app_.exit(end, out, out), 0);
    }
    return out.str();
  }

  CLI::App app_{"Keep files.\nIn a box.", "tool"};
  std::string file_, colour_ = "red";
  bool fast_ = false;
};

TEST_F(CliPages, KnowWhatTheParserKnows) {
  const PageCommand page = page_of(app_);
  ASSERT_EQ(page.commands.size(), 1U);
  const std::vector<PageOption>& options = page.commands.front().options;
  ASSERT_EQ(options.size(), 4U);
  EXPECT_THAT(options[0].names, ElementsAre("-h", "--help"));
  EXPECT_TRUE(options[1].is_positional());
  EXPECT_TRUE(options[1].required);
  EXPECT_THAT(options[2].names, ElementsAre("-c", "--colour"));
  EXPECT_THAT(options[2].words, ElementsAre("red", "green"));
  EXPECT_EQ(options[2].value, "WORD");
  EXPECT_EQ(options[2].standard, "red");
  EXPECT_EQ(options[3].value, "");
  EXPECT_THAT(options[3].words, IsEmpty());
}

TEST_F(CliPages, TheManualPageHasEveryShownOption) {
  const std::string page = printed("--man-page");
  EXPECT_THAT(
      page, AllOf(HasSubstr(".TH TOOL 1 "), HasSubstr("tool \\- Keep files\n"),
                  HasSubstr(".SS \"tool add\"\n"), HasSubstr("\\fB\\-c\\fR, \\fB\\-\\-colour\\fR"),
                  HasSubstr("Colour of it (default: red)"), HasSubstr("Don\\(aqt look twice"),
                  HasSubstr("\\fBother\\fR(1),\n\\fBmore\\fR(8)\n")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("secret")), Not(HasSubstr("man\\-page")),
                          Not(HasSubstr("\n\n")), HasSubstr("\ntool add .profile")));
}

TEST_F(CliPages, TextIsNoRoffCommand) {
  const PageCommand program{.name = "x",
                            .description = ".so /etc/passwd",
                            .options = {{.names = {"--y"}, .help = "'a\\b \"c\""}},
                            .footer = "  .sy rm\n  'x"};
  const std::string page = man_page(program, 1, "1", {});
  EXPECT_THAT(page, AllOf(HasSubstr("\n\\&.so /etc/passwd\n"), HasSubstr("\n\\&.sy rm\n"),
                          HasSubstr("\n\\&\\(aqa\\eb \"c\"\n"), HasSubstr("\n\\&\\(aqx\n")));
}

TEST_F(CliPages, TheCompletionHasTheWordsOfAnOption) {
  const std::string script = printed("--bash-completion");
  EXPECT_THAT(script,
              AllOf(HasSubstr("' add') command='add' ;;"), HasSubstr("-c) words='red green'"),
                    HasSubstr("--colour) words='red green'"), Not(HasSubstr("secret")),
                    HasSubstr("complete -o bashdefault -o default -F _tool tool\n")));
}

}  // namespace
}  // namespace base
