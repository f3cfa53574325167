// Every command of Margay's programs that a page of the documentation shows, in a block or in the
// text, is one that they have, with the options that stand behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/text.h"
#include "tests/integration/doc_page.h"
#include "tests/program.h"
#include "tests/scratch_folder.h"

namespace tests {
namespace {

using testing::UnorderedElementsAre;

using CommandWords = std::vector<std::string>;

// The words from the program's name to the end of the command, without the brackets around what may
// be left out.
CommandWords shown_words(std::string text) {
  text = std::regex_replace(text.substr(0, text.find_first_of("#;|>\"`")), std::regex("[\\[\\]]"),
                            " ");
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<CommandWords> commands_shown(const DocPage& page) {
  static const std::regex named("(?:^|[ \"])((?:margay|margayd|margay-engine|margay-job) .*)");
  std::vector<std::string> code = page.indented;
  for (const CodeBlock& block : page.blocks) {
    if (block.language != "sh") continue;
    for (const Command& command : commands_of(block)) code.push_back(command.text);
  }
  for (const std::string& text : page.inline_code) {
    if (text.starts_with("margay")) code.push_back(text);
  }
  std::vector<CommandWords> commands;
  std::smatch found;
  for (const std::string& text : code) {
    const std::string command = text.substr(0, text.find('#'));
    if (std::regex_search(command, found, named)) commands.push_back(shown_words(found[1]));
  }
  return commands;
}

class Helps {
 public:
  // What is wrong with the command; empty: nothing.
  std::string fault_of(const CommandWords& command) {
    CommandWords program = {command.front()};
    static const std::regex name("[a-z][a-z-]+");
    for (size_t i = 1; i < command.size() && std::regex_match(command[i], name); ++i) {
      if (i > 1 && !kGroups.contains(command[i - 1])) break;
      program.push_back(command[i]);
    }
    const std::string& help = help_of(program);
    if (help.empty()) return base::joined(program, " ") + " is no command";
    for (const std::string& word : command) {
      if (!word.starts_with("--")) continue;
      const std::string option = word.substr(0, word.find_first_of("=,.)"));
      if (!std::regex_search(help, std::regex("(^|[ ,\\[\\n])" + option + "([ ,=\\n]|$)"))) {
        return base::joined(program, " ") + " has no " + option;
      }
    }
    return "";
  }

 private:
  // Empty where the program refuses it.
  const std::string& help_of(const CommandWords& program) {
    const auto [known, fresh] = helps_.try_emplace(program);
    if (fresh) {
      CommandWords command = program;
      command.front() = MARGAY_BIN_DIR + ("/" + program.front());
      command.emplace_back("--help");
      const Finished finished = run_program(command, MARGAY_SOURCE_DIR, {"MARGAY_SOCKET=/none"});
      if (finished.exit_code == 0) known->second = finished.output;
    }
    return known->second;
  }

  inline static const std::set<std::string> kGroups = {"template", "watch", "admin"};
  std::map<CommandWords, std::string> helps_;
};

TEST(DocCommands, AreThoseThatTheProgramsHave) {
  Helps helps;
  std::vector<std::string> names = {MARGAY_SOURCE_DIR "/README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(MARGAY_SOURCE_DIR "/docs")) {
    if (entry.path().extension() == ".md") names.push_back(entry.path().string());
  }
  size_t shown = 0;
  for (const std::string& name : names) {
    for (const CommandWords& command : commands_shown(parse_page(name, text_of(name)))) {
      ++shown;
      EXPECT_EQ(helps.fault_of(command), "") << name;
    }
  }
  EXPECT_GT(shown, 100U);
}

TEST(DocCommands, WhatAProgramDoesNotHaveIsNoticed) {
  const auto commands = commands_shown(
      parse_page("planted.md",
                 "Say `margay lst`, or `margay template frobnicate x`.\n\n"
                 "    srun -n 2 margay-engine match s.yaml --nprocs 4   # margay-engine nothing\n"
                 "```sh\nmargay list --sort [-age] | sort\n```\nmargay nothing\n"));
  std::vector<std::string> faults;
  Helps helps;
  for (const CommandWords& command : commands) faults.push_back(helps.fault_of(command));
  EXPECT_THAT(faults, UnorderedElementsAre("margay lst is no command",
                                           "margay template frobnicate is no command",
                                           "margay-engine match has no --nprocs", ""));
}

}  // namespace
}  // namespace tests
