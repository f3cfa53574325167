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

// Throws CLI::ParseError when the first argument is not a command of `app`, or the second is not
// one of that command's subcommands, if it has any: "unknown command 'lst'; did you mean 'list'?".
void check_command(const CLI::App& app, const std::vector<std::string>& arguments);

// What is wrong, then which help to read: one line each.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

// An option of `command` whose value goes into `target`; `type` stands for the value in the help.
template <typename Value>
CLI::Option* add_option(CLI::App& command, const std::string& name, Value& target,
                        const std::string& type, const std::string& help,
                        const std::optional<CLI::Validator>& check = {}) {
  CLI::Option* added = command.add_option(name, target, help)->type_name(type);
  return check ? added->transform(*check) : added;
}

// Checks of values: "expected a whole number from 1, got 'abc'". They add nothing to the help.
// whole_number() writes the number without leading zeros, which CLI11 would read as octal.
CLI::Validator whole_number();
CLI::Validator real_number();
CLI::Validator duration();
CLI::Validator interval();            // a duration of at least 100 ms
CLI::Validator time_value();          // a time as in time_value.h
CLI::Validator time_value_or_none();  // a time as in time_value.h, or "none"
CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace scheduler::cli
