// Texts cut, joined and compared as the configuration, Slurm and the command line write them. Case
// is that of ASCII.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace base {

std::string lower(std::string text);
std::string upper(std::string text);
// Without the blanks at both ends.
std::string trimmed(std::string_view text, std::string_view blanks = " \t\r\n");
// False for an empty text.
bool is_digits(std::string_view text);
// One part more than there are separators.
std::vector<std::string> split(const std::string& text, char separator);
// "1 rank", "3 ranks".
std::string counted(int64_t count, const std::string& noun);
// "cpu, gpu or node".
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
