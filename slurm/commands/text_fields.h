// Lines and fields of what Slurm's commands print.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slurm {

// Whether the text is a word that Slurm prints where there is no value.
inline bool is_absent(std::string_view text) {
  static const std::set<std::string_view> words = {"",        "N/A",    "n/a",           "None",
                                                   "Unknown", "(null)", "None assigned", "(None)"};
  return words.count(text) > 0;
}

// The text; empty if is_absent().
inline std::string present(std::string_view text) {
  return is_absent(text) ? "" : std::string(text);
}

// At most `most` parts; the last one is all of the rest.
inline std::vector<std::string_view> split_at_most(std::string_view text, char separator,
                                                   size_t most) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < most) {
    const size_t end = text.find(separator);
    if (end == text.npos) break;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

// Removes the first line from `text` and returns it without its newline.
inline std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace slurm
