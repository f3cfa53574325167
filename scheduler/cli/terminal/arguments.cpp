#include "scheduler/cli/terminal/arguments.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>

#include "base/cli_pages.h"
#include "base/duration.h"
#include "base/nearest_name.h"
#include "base/parse_number.h"
#include "base/text.h"
#include "scheduler/cli/terminal/time_value.h"
#include "scheduler/config/config.h"

namespace scheduler::cli {
namespace {

constexpr std::chrono::milliseconds kShortestInterval{100};

std::string expected(const std::string& what, const std::string& text) {
  return "expected " + what + ", got '" + text + "'";
}

const CLI::App* command_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

// The command that was being parsed, "margay template add".
std::string command_line_of(const CLI::App& app, const CLI::App*& command) {
  command = &app;
  std::string words = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    words += " " + command->get_name();
  }
  return words;
}

std::string unexpected_text(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> rest = app.remaining(true);
  if (rest.empty()) return "unexpected argument";
  const std::string& word = rest.front();
  if (!word.starts_with("-")) return "unexpected argument '" + word + "'";
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string name = word.substr(0, word.find('='));
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return "option '" + name + "' must follow the command";
  }
  return "unknown option '" + name + "'" + base::did_you_mean(name, known);
}

}  // namespace

std::vector<std::string> arguments_of(int argc, const char* const* argv) {
  std::vector<std::string> words;
  if (argc > 1) words.assign(argv + 1, argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

void check_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* parent = &app;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (parent->get_subcommands(nullptr).empty()) return;
    if (word == "--socket") ++i;
    if (word == "--json" || word.starts_with("--socket")) continue;
    if (word.starts_with("-")) return;
    const CLI::App* command = command_named(*parent, word);
    if (command == nullptr) {
      throw CLI::ParseError(
          "unknown command '" + word + "'" + base::did_you_mean(word, command_names(*parent)),
          CLI::ExitCodes::ExtrasError);
    }
    parent = command;
  }
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = nullptr;
  const std::string words = command_line_of(app, command);
  std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    what = unexpected_text(app, *command);
  } else if (what.find("subcommand is required") != std::string::npos) {
    what = "no command given";
  }
  return what + "\nSee '" + words + " --help'.";
}

CLI::Validator whole_number() {
  const auto check = [](std::string& text) -> std::string {
    const auto value = base::parse_number<int64_t>(text);
    if (!value || *value < 1) return expected("a whole number from 1", text);
    text = std::to_string(*value);
    return "";
  };
  return CLI::Validator(check, "");
}

CLI::Validator real_number() {
  const auto check = [](std::string& text) -> std::string {
    const auto value = base::parse_number<double>(text);
    return value && std::isfinite(*value) ? "" : expected("a number", text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator duration() {
  const auto check = [](std::string& text) -> std::string {
    return base::parse_duration(text) ? "" : base::invalid_duration(text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator interval() {
  const auto check = [](std::string& text) -> std::string {
    const auto time = base::parse_duration(text);
    if (!time) return base::invalid_duration(text);
    return *time >= kShortestInterval ? "" : "'" + text + "' is too short; give at least 100ms";
  };
  return CLI::Validator(check, "");
}

CLI::Validator time_value() {
  const auto check = [](std::string& text) -> std::string {
    return parse_time(text, std::time(nullptr)) ? "" : invalid_time(text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator time_value_or_none() {
  const auto check = [](std::string& text) -> std::string {
    if (text == "none" || parse_time(text, std::time(nullptr))) return "";
    return invalid_time(text) + ", or none";
  };
  return CLI::Validator(check, "");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    return expected(base::alternatives(words), text);
  };
  return CLI::Validator(check, "", base::name_of_words(words));
}

}  // namespace scheduler::cli
