// The table of sbatch's options: those that Margay passes on. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slurm {

enum class Argument { kRequired, kOptional };

struct DirectiveOption {
  std::string name;  // long, without dashes
  char letter = 0;   // of the short form, 0 = none
  Argument argument = Argument::kRequired;
  std::string expected;  // for messages: "a number of nodes such as 2 or 2-4"
  // Returns a value in its canonical spelling; nullopt: the value is invalid.
  std::function<std::optional<std::string>(const std::string&)> canonical;
  // slurmrestd's request has no such field, or not every version was seen to obey it.
  bool sbatch_only = false;
};

// In the order in which they are written into a script.
const std::vector<DirectiveOption>& directive_options();
// nullptr: it is not in the table.
const DirectiveOption* find_option(const std::string& name);
const DirectiveOption* find_option(char letter);

// Why an option that is not in the table is refused, by its long name or its letter: it is Margay's
// own, sbatch has it but Margay does not pass it on, or sbatch does not have it.
std::string refusal_of(const std::string& name);
std::string refusal_of(char letter);

}  // namespace slurm
