// The command line before and after CLI11: `margay help`, unknown commands, checked numbers, and
// messages in one style. Pure.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace scheduler::cli {

// The arguments without the program's name; "help" and "help COMMAND" become "--help" and
// "COMMAND --help".
std::vector<std::string> arguments_of(int argc, const char* const* argv);

// Throws CLI::ParseError for a first argument that is no command of `app` and, where that command
// has commands of its own, for a second one: "unknown command 'lst'; did you mean 'list'?".
void check_command(const CLI::App& app, const std::vector<std::string>& arguments);

// What is wrong, then where to read on: one line each.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

// An option of `command` whose value goes into `target`; `type` stands for the value in the help.
template <typename Value>
CLI::Option* add_option(CLI::App& command, const std::string& name, Value& target,
                        const std::string& type, const std::string& help,
                        const std::optional<CLI::Validator>& check = {}) {
  CLI::Option* added = command.add_option(name, target, help)->type_name(type);
  return check ? added->check(*check) : added;
}

// Checks of values: "expected a whole number from 1, got 'abc'". They add nothing to the help.
CLI::Validator whole_number();
CLI::Validator real_number();
CLI::Validator duration();
CLI::Validator interval();    // a duration of 100 ms or more, after which something is repeated
CLI::Validator time_value();  // as time_value.h has it
CLI::Validator time_value_or_none();  // or "none"
CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace scheduler::cli
