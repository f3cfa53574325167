// The manual page and the completion of a command line, from a description of its options. Pure.
#pragma once

#include <string>
#include <vector>

namespace base {

struct PageOption {
  std::vector<std::string>
      names{};             // "--help", "-h"; a positional argument has one, without dashes
  std::string value{};     // stands for the value: "FILE"; empty: a flag
  std::string help{};      // one or more sentences
  std::string standard{};  // the value without the option; empty: not shown
  std::vector<std::string> words{};  // the values that it may have; empty: any
  bool required = false;
  bool several = false;  // a positional argument that may be repeated

  bool is_positional() const { return !names.front().starts_with("-"); }
};

// A program, or a command of one.
struct PageCommand {
  std::string name{};
  std::string description{};  // the first line is what it does
  std::vector<PageOption> options{};
  std::string footer{};  // "Example:" and indented lines, or text
  std::vector<PageCommand> commands{};
};

// For man(1), in roff. `see_also`: other pages, "margay(1)".
std::string man_page(const PageCommand& program, int section, const std::string& version,
                     const std::vector<std::string>& see_also);

// A script for bash(1), to be sourced. Where no option or command fits it leaves the completion to
// bash: names of files.
std::string bash_completion(const PageCommand& program);

}  // namespace base
