// Cuts, joins and converts text of configurations, Slurm and command lines. Only ASCII letters
// change their case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace base {

std::string lower(std::string text);
std::string upper(std::string text);
// Returns the text without the blanks at both ends.
std::string trimmed(std::string_view text, std::string_view blanks = " \t\r\n");
// True for one or more ASCII digits; false for an empty text.
bool is_digits(std::string_view text);
// Returns one part more than there are separators; parts may be empty.
std::vector<std::string> split(const std::string& text, char separator);
// Returns for example "12,345,678".
std::string grouped_number(int64_t value);
// Returns a number per second without its unit: "0.0123", "6.3", "630", "1,690"; "0" for what is
// not above 0.
std::string rate_text(double per_second);
// Returns for example "1 rank" or "3,000 ranks".
std::string counted(int64_t count, const std::string& noun);
// Returns for example "cpu, gpu or node".
std::string alternatives(const std::vector<std::string>& words);

template <typename Texts>
std::string joined(const Texts& texts, std::string_view between = ", ") {
  std::string all;
  bool first = true;
  for (const auto& text : texts) {
    if (!first) all += between;
    first = false;
    all += text;
  }
  return all;
}

}  // namespace base
