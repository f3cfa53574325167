// Makes the manual page and the bash completion of a command line from a description of its
// options. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace base {

struct PageOption {
  std::vector<std::string>
      names{};             // "--help", "-h"; a positional argument has one, without dashes
  std::string value{};     // placeholder of the value: "FILE"; empty: a flag
  std::string help{};      // one or more sentences
  std::string standard{};  // the default value; empty: not shown
  std::vector<std::string> words{};  // the values that it may have; empty: any
  bool required = false;
  bool several = false;  // a positional argument that may be repeated

  bool is_positional() const { return !names.front().starts_with("-"); }
};

// A program or one of its commands.
struct PageCommand {
  std::string name{};
  std::string description{};  // the first line says what it does
  std::vector<PageOption> options{};
  std::string footer{};  // "Example:" and indented lines, or text
  std::vector<PageCommand> commands{};
};

// Returns the page for man(1), in roff. `see_also` lists other pages, such as "margay(1)".
std::string man_page(const PageCommand& program, int section, const std::string& version,
                     const std::vector<std::string>& see_also);

// Returns a script that bash(1) sources. Where no option or command fits, bash completes file
// names.
std::string bash_completion(const PageCommand& program);

}  // namespace base
