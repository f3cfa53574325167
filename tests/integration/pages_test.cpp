// The manual pages and completions that the programs print of themselves, for groff and bash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/program.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string path_of(const std::string& program) { return MARGAY_BIN_DIR + ("/" + program); }

std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {path_of(program)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Finished end = run_program(command, "/", {"MARGAY_SOCKET=/none"});
  EXPECT_EQ(end.exit_code, 0) << program << " " << end.error;
  return end.output;
}

// The long options at the beginning of the lines of a help, or in a usage.
std::set<std::string> options_in(const std::string& help) {
  static const std::regex option("[ \\[,](--[a-z][a-z-]+)");
  std::set<std::string> options;
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at) {
    options.insert((*at)[1]);
  }
  return options;
}

// The lines behind "Subcommands:".
std::vector<std::string> commands_in(const std::string& help) {
  std::vector<std::string> commands;
  std::istringstream lines(help);
  bool below = false;
  for (std::string line; std::getline(lines, line);) {
    if (below && line.starts_with("  ") && line.find_first_not_of(' ') == 2) {
      commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    if (line.starts_with("Subcommands:")) below = true;
    if (line.empty()) below = false;
  }
  return commands;
}

void add_helps(const std::string& program, const std::vector<std::string>& words,
               std::vector<std::string>& helps) {
  std::vector<std::string> arguments = words;
  arguments.emplace_back("--help");
  const std::string help = output_of(program, arguments);
  helps.push_back(help);
  for (const std::string& command : commands_in(help)) {
    std::vector<std::string> longer = words;
    longer.push_back(command);
    add_helps(program, longer, helps);
  }
}

class Pages : public ::testing::TestWithParam<std::string> {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_ / name) << text;
  }
  Finished bash(const std::string& script) const {
    return run_program({"/bin/bash", "--norc", "-c", script}, scratch_.path());
  }
  const ScratchFolder scratch_;
};

TEST_P(Pages, HaveEveryOptionOfEveryHelp) {
  std::vector<std::string> helps;
  add_helps(GetParam(), {}, helps);
  EXPECT_GE(helps.size(), GetParam() == "margay" ? 20U : 1U);
  const std::string page =
      std::regex_replace(output_of(GetParam(), {"--man-page"}), std::regex("\\\\-"), "-");
  const std::string completion = output_of(GetParam(), {"--bash-completion"});
  for (const std::string& help : helps) {
    EXPECT_THAT(options_in(help), Not(IsEmpty()));
    for (const std::string& option : options_in(help)) {
      EXPECT_THAT(page, HasSubstr("\\fB" + option + "\\fR")) << help;
      EXPECT_THAT(completion, HasSubstr(option)) << help;
    }
    EXPECT_THAT(help, AllOf(Not(HasSubstr("--man-page")), Not(HasSubstr("--bash-completion"))));
  }
}

TEST_P(Pages, AreTakenByGroffAndBashWithoutAWord) {
  write("completion", output_of(GetParam(), {"--bash-completion"}));
  const Finished sourced = bash(". ./completion && complete -p " + GetParam());
  EXPECT_EQ(sourced.exit_code, 0);
  EXPECT_EQ(sourced.error, "");
  write("page", output_of(GetParam(), {"--man-page"}));
  if (!std::filesystem::exists("/usr/bin/groff")) GTEST_SKIP() << "groff is not installed";
  const Finished formatted =
      run_program({"/usr/bin/groff", "-man", "-ww", "-Tascii", "page"}, scratch_.path());
  EXPECT_EQ(formatted.exit_code, 0);
  EXPECT_EQ(formatted.error, "");
  // Without the overstriking of bold letters, and blanks that fill the lines.
  const std::string plain = std::regex_replace(
      std::regex_replace(formatted.output, std::regex(".\b"), ""), std::regex(" +"), " ");
  EXPECT_THAT(plain, HasSubstr("NAME\n " + GetParam() + " - "));
}

INSTANTIATE_TEST_SUITE_P(Of, Pages,
                         ::testing::Values("margay", "margayd", "margay-engine", "margay-job"),
                         [](const auto& name) {
                           return std::regex_replace(name.param, std::regex("-"), "_");
                         });

// What bash proposes for a line, whose last word is being typed.
class Completion : public Pages {
 protected:
  std::string of(const std::string& program, const std::vector<std::string>& words) const {
    write("completion", output_of(program, {"--bash-completion"}));
    std::string line;
    for (const std::string& word : words) line += " '" + word + "'";
    const Finished proposed = bash(". ./completion; COMP_WORDS=(" + program + line +
                                   "); COMP_CWORD=" + std::to_string(words.size()) + "; _" +
                                   std::regex_replace(program, std::regex("-"), "_") +
                                   "; printf '%s ' \"${COMPREPLY[@]}\"");
    EXPECT_EQ(proposed.error, "");
    return proposed.output;
  }
};

TEST_F(Completion, ProposesCommandsOptionsAndWords) {
  EXPECT_EQ(of("margay", {"enq"}), "enqueue ");
  EXPECT_EQ(of("margay", {"list", "--st"}), "--state ");
  EXPECT_EQ(of("margay", {"promote", "12", "--priority", "ur"}), "urgent ");
  EXPECT_EQ(of("margay", {"enqueue", "x.mrc", "--priority", "="}), "low normal high urgent ");
  EXPECT_EQ(of("margay", {"enqueue", "x.mrc", "--priority", "=", "hi"}), "high ");
  EXPECT_EQ(of("margay", {"template", "a"}), "add ");
  EXPECT_EQ(of("margay", {"template", "add", "--na"}), "--name ");
  EXPECT_EQ(of("margayd", {"--do"}), "--doctor ");
  EXPECT_EQ(of("margay-engine", {"match", "--backend", "c"}), "cuda cpu ");
  EXPECT_EQ(of("margay-job", {"run", "--res"}), "--resume ");
}

TEST_F(Completion, LeavesNamesOfFilesToBash) {
  EXPECT_EQ(of("margay", {"enqueue", "mic"}), " ");
  EXPECT_EQ(of("margay", {"template", "add", "--config", "se"}), " ");
}

TEST_F(Completion, TakesNoWordOfAValueForACommand) {
  EXPECT_EQ(of("margay", {"list", "--label", "wait", "--pr"}), "--priority ");
}

}  // namespace
}  // namespace tests
