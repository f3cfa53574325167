// Kinds of values for the subcommands' options, and the options that several subcommands share.
#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/parse_number.h"
#include "engine/error.h"
#include "engine/numerics/peaks.h"
#include "engine/search/device.h"

namespace engine {

// Accepts numbers from `smallest` to `largest`, and no NaN. The range is shown in the error message
// and not in the help. To be given to transform(), not to check(): a whole number is rewritten
// without leading zeros, which CLI11 would read as octal.
template <typename T>
CLI::Validator range(T smallest, T largest) {
  const auto parse = [](const std::string& text) -> std::optional<T> {
    if constexpr (std::is_integral_v<T>) {
      return base::parse_number<T>(text.starts_with('+') && !text.starts_with("+-") ? text.substr(1)
                                                                                    : text);
    } else {
      T value{};
      return CLI::detail::lexical_cast(text, value) ? std::optional(value) : std::nullopt;
    }
  };
  const auto check = [=](std::string& text) -> std::string {
    const std::optional<T> value = parse(text);
    if (value && *value >= smallest && *value <= largest) {
      if constexpr (std::is_integral_v<T>) text = std::to_string(*value);
      return "";
    }
    std::ostringstream problem;
    problem << "expected a " << (std::is_integral_v<T> ? "whole number" : "number") << " from "
            << smallest << " to " << largest << ", got '" << text << '\'';
    return problem.str();
  };
  return CLI::Validator(check, "");
}

// Accepts only these names.
CLI::Validator one_of(const std::vector<std::string>& names);

// A subcommand's parser, and the values of its options, which live as long as the parser.
template <typename Values>
struct Subcommand {
  CLI::App& parser;
  Values& values;
};

// Adds the subcommand `name`, which sets `code` to what `run` returns; `footer` closes its help.
template <typename Values>
Subcommand<Values> add_command(CLI::App& app, ExitCode& code, const std::string& name,
                               const std::string& description, const std::string& footer,
                               ExitCode (*run)(const Values& values)) {
  CLI::App& parser = *app.add_subcommand(name, description);
  const auto values = std::make_shared<Values>();
  parser.footer(footer);
  parser.callback([values, &code, run] { code = run(*values); });
  return {parser, *values};
}

// Adds the required argument CONFIG.
void add_config(CLI::App& command, std::string& config, const std::string& description);
// Adds an option whose value is the path of a file, relative to the working directory.
CLI::Option& add_file(CLI::App& command, const std::string& name, std::string& path,
                      const std::string& description);
// Adds an option whose value is a number from `smallest` to `largest`; the help shows its default.
void add_number(CLI::App& command, const std::string& name, double& value, double smallest,
                double largest, const std::string& description);

// Adds an option for a number without a default value; the description says what is used then.
void add_choice_of_number(CLI::App& command, const std::string& name, std::optional<double>& value,
                          double smallest, double largest, const std::string& description);

// Adds an option whose value is one of `names`; the help shows its default.
void add_choice(CLI::App& command, const std::string& name, std::string& value,
                const std::vector<std::string>& names, const std::string& description);
// Adds an option whose value is a whole number from `smallest` to `largest`.
CLI::Option& add_count(CLI::App& command, const std::string& name, int& value, int smallest,
                       int largest, const std::string& description);
// Adds an option for a whole number without a default value.
void add_choice_of_count(CLI::App& command, const std::string& name, std::optional<int>& value,
                         int smallest, int largest, const std::string& description);
// Adds an option whose value is a length of time (base/duration.h).
void add_duration(CLI::App& command, const std::string& name, std::chrono::milliseconds& value,
                  const std::string& description);

// Adds --backend, --fft, --precision, --threads, --batch and --memory.
void add_device_options(CLI::App& command, DeviceOptions& device);
// Adds --allow-pixel-size-mismatch.
void add_mismatch_flag(CLI::App& command, bool& flag);
// Adds --metric, --false-positives and --mask-radius.
void add_peak_options(CLI::App& command, PeakChoice& peaks);

}  // namespace engine
