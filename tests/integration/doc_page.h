// A Markdown page of the documentation as a reader uses it: its commands, what it says that they
// print, its links.
#pragma once

#include <string>
#include <vector>

#include "tests/scratch_folder.h"

namespace tests {

// A fenced block.
struct CodeBlock {
  std::string language;  // behind the fence: sh, text, yaml
  std::string mark;      // text of an HTML comment in the line before the fence; empty: none
  int line = 0;          // of the fence, from 1
  std::vector<std::string> lines;
};

struct DocPage {
  std::string name;
  std::vector<CodeBlock> blocks;
  std::vector<std::string> indented;     // lines of code blocks without a fence
  std::vector<std::string> links;        // targets on this site, without the part after #
  std::vector<std::string> inline_code;  // line breaks are blanks
};

DocPage parse_page(const std::string& name, const std::string& text);

struct Command {
  std::string text;  // continuation lines joined, without a comment at its end
  int line = 0;
  // The text block that follows: each line is printed by the command, in any order; "..." stands
  // for any text, one blank for several.
  std::vector<std::string> promised;
};

// The commands of one sh block.
std::vector<Command> commands_of(const CodeBlock& block);

// What a reader types into one shell. The last command of one that is left running does not end
// until another terminal makes it end.
struct Terminal {
  std::vector<Command> commands;
  bool left_running = false;
};

// A block with a mark that begins with kNotRun is left out; one with kLeftRunning ends a terminal.
constexpr const char* kNotRun = "not run by the test: ";
constexpr const char* kLeftRunning = "left running by the test: ";
std::vector<Terminal> terminals_of(const DocPage& page);

// Types the page's commands in the folder `tree`, with an empty home. Returns a line or more for
// each command that fails or does not print what the page promises; the first that fails ends its
// terminal.
std::vector<std::string> faults_of(const DocPage& page, const std::string& tree);

}  // namespace tests
