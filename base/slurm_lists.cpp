#include "base/slurm_lists.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/parse_number.h"

namespace base {
namespace {

using Hosts = std::vector<std::string>;

constexpr size_t kMostHosts = 65'536;
constexpr int64_t kMostTasks = 1'000'000;

struct Range {
  int64_t first = 0;
  int64_t last = 0;
  int64_t step = 1;

  int64_t count() const { return last < first ? 0 : (last - first) / step + 1; }
};

// "7", "3-9", "3-9:2".
std::optional<Range> range_in(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view ends = text.substr(0, colon);
  const size_t dash = std::min(ends.find('-'), ends.size());
  const auto first = parse_number<uint32_t>(ends.substr(0, dash));
  const auto last = dash == ends.size() ? first : parse_number<uint32_t>(ends.substr(dash + 1));
  const auto step = colon == text.size() ? std::optional<uint32_t>(1)
                                         : parse_number<uint32_t>(text.substr(colon + 1));
  if (!first || !last || !step || *step == 0) return std::nullopt;
  return Range{.first = *first, .last = *last, .step = *step};
}

// A number of a host's name has as many digits as the range's first one.
std::string padded(int64_t number, size_t digits) {
  std::string text = std::to_string(number);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

// The numbers in "01-03,7", as they stand in names. False: it is no list of numbers, or too long.
bool add_numbers(std::string_view list, Hosts& numbers) {
  while (!list.empty()) {
    const std::string_view entry = take_list_entry(list);
    const auto range = range_in(entry);
    if (!range || range->step != 1 || range->count() < 1) return false;
    if (range->count() > static_cast<int64_t>(kMostHosts)) return false;
    const size_t digits = std::min(entry.find('-'), entry.size());
    for (int64_t at = range->first; at <= range->last; ++at) numbers.push_back(padded(at, digits));
    if (numbers.size() > kMostHosts) return false;
  }
  return !numbers.empty();
}

// Each of `beginnings` followed by each of `ends`. False: there would be too many.
bool append_each(Hosts& beginnings, const Hosts& ends) {
  if (beginnings.size() * ends.size() > kMostHosts) return false;
  Hosts all;
  for (const std::string& beginning : beginnings) {
    for (const std::string& end : ends) all.push_back(beginning + end);
  }
  beginnings = std::move(all);
  return true;
}

// The hosts of one entry, "rack[1-2]b[0-1]".
std::optional<Hosts> hosts_of(std::string_view entry) {
  Hosts hosts = {""};
  while (!entry.empty()) {
    const size_t open = std::min(entry.find('['), entry.size());
    if (entry.substr(0, open).find(']') != entry.npos) return std::nullopt;
    for (std::string& host : hosts) host += entry.substr(0, open);
    if (open == entry.size()) break;
    const size_t close = entry.find(']', open);
    Hosts numbers;
    if (close == entry.npos || !add_numbers(entry.substr(open + 1, close - open - 1), numbers) ||
        !append_each(hosts, numbers)) {
      return std::nullopt;
    }
    entry.remove_prefix(close + 1);
  }
  return hosts;
}

}  // namespace

std::string_view take_list_entry(std::string_view& list) {
  int depth = 0;
  size_t end = 0;
  for (; end < list.size() && (list[end] != ',' || depth > 0); ++end) {
    if (list[end] == '(' || list[end] == '[') ++depth;
    if (list[end] == ')' || list[end] == ']') --depth;
  }
  const std::string_view entry = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return entry;
}

std::optional<Hosts> hosts_in(std::string_view list) {
  Hosts all;
  while (!list.empty()) {
    const std::string_view entry = take_list_entry(list);
    auto hosts = hosts_of(entry);
    if (entry.empty() || !hosts || all.size() + hosts->size() > kMostHosts) return std::nullopt;
    std::move(hosts->begin(), hosts->end(), std::back_inserter(all));
  }
  return all;
}

int tasks_in(std::string_view list) {
  list = list.substr(0, list.find('%'));
  while (!list.empty() && list.front() == '[') list.remove_prefix(1);
  while (!list.empty() && list.back() == ']') list.remove_suffix(1);
  int64_t tasks = 0;
  while (!list.empty()) {
    const auto range = range_in(take_list_entry(list));
    if (range) tasks = std::min(kMostTasks, tasks + range->count());
  }
  return static_cast<int>(std::max<int64_t>(1, tasks));
}

std::optional<int> count_of_host(std::string_view list, int index) {
  for (int passed = 0; !list.empty();) {
    std::string_view entry = take_list_entry(list);
    const auto count = parse_number<int>(entry.substr(0, entry.find('(')));
    std::optional<int> times = 1;
    entry.remove_prefix(std::min(entry.find('('), entry.size()));
    if (!entry.empty()) {
      if (!entry.starts_with("(x") || !entry.ends_with(')')) return std::nullopt;
      times = parse_number<int>(entry.substr(2, entry.size() - 3));
    }
    if (!count || *count < 0 || !times || *times < 0) return std::nullopt;
    if (index - passed < *times) return count;
    passed += *times;
  }
  return std::nullopt;
}

}  // namespace base
