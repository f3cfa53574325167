#include "engine/launch/slurm_lists.h"

#include <charconv>
#include <string_view>

namespace engine {
namespace {

// Takes a number from the front of `text`.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

std::optional<HostList> read_host_list(const std::string& list) {
  HostList hosts;
  for (size_t at = 0; at < list.size(); ++at) {
    if (list[at] == ',') {
      hosts.several = true;
      break;
    }
    if (list[at] == ']') return std::nullopt;
    if (list[at] != '[') {
      hosts.first += list[at];
      continue;
    }
    // As text: its leading zeros belong to the name.
    const size_t close = list.find(']', at);
    if (close == std::string::npos) return std::nullopt;
    const std::string numbers = list.substr(at + 1, close - at - 1);
    const size_t end = numbers.find_first_not_of("0123456789");
    if (end == 0 || numbers.empty()) return std::nullopt;
    hosts.several = hosts.several || end != std::string::npos;
    hosts.first += numbers.substr(0, end);
    at = close;
  }
  if (hosts.first.empty()) return std::nullopt;
  return hosts;
}

std::optional<int> count_of_host(const std::string& list, int index) {
  std::string_view rest = list;
  for (int passed = 0;;) {
    const std::optional<int> count = take_number(rest);
    if (!count) return std::nullopt;
    std::optional<int> times = 1;
    if (take(rest, "(x")) {
      times = take_number(rest);
      if (!times || !take(rest, ")")) return std::nullopt;
    }
    if (index - passed < *times) return count;
    passed += *times;
    if (!take(rest, ",")) return std::nullopt;
  }
}

}  // namespace engine
