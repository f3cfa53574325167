#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace base {

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string trimmed(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end = 0; end != text.npos; start = end + 1) {
    end = text.find(separator, start);
    parts.push_back(text.substr(start, end == text.npos ? end : end - start));
  }
  return parts;
}

std::string grouped_number(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t sign = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > sign + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string rate_text(double per_second) {
  constexpr double kMost = 1e15;
  if (!(per_second > 0)) return "0";
  // Rounded without llround: margay-job, which has this file too, is linked without libm.
  if (per_second >= 100) {
    return grouped_number(static_cast<int64_t>(std::min(per_second, kMost) + 0.5));
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", per_second);
  return text.data();
}

std::string counted(int64_t count, const std::string& noun) {
  return grouped_number(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string alternatives(const std::vector<std::string>& words) {
  if (words.size() < 2) return joined(words);
  return joined(std::vector(words.begin(), words.end() - 1)) + " or " + words.back();
}

}  // namespace base
