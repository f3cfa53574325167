// The table of sbatch's options: which Margay passes on, which are its own, which it does not know.
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
  // The one spelling of a value; nullopt: it does not fit.
  std::function<std::optional<std::string>(const std::string&)> canonical;
};

// In the order in which they are written into a script.
const std::vector<DirectiveOption>& directive_options();
const DirectiveOption* find_option(const std::string& name);
const DirectiveOption* find_option(char letter);

// The sentence that refuses an option which is not in the table, by its long name.
std::string refusal_of(const std::string& name);
// The long name of a short option of sbatch that is not in the table; empty: sbatch has none such.
std::string refused_name_of(char letter);

}  // namespace slurm
