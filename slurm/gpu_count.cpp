#include "slurm/gpu_count.h"

#include <algorithm>
#include <cstdint>

#include "base/parse_number.h"

namespace slurm {
namespace {

constexpr int64_t kMost = 1'000'000;

// Cuts off the first entry, at a comma that is not inside brackets: "gpu:4(S:0,1)".
std::string_view take_entry(std::string_view& list) {
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

// What stands behind "gpu" in an entry: "", "=8", ":4", ":a100:2". nullopt: it is about something
// else.
std::optional<std::string_view> behind_gpu(std::string_view entry) {
  entry = entry.substr(0, entry.find('('));
  if (entry.starts_with("gres/") || entry.starts_with("gres:")) entry.remove_prefix(5);
  if (!entry.starts_with("gpu")) return std::nullopt;
  entry.remove_prefix(3);
  if (!entry.empty() && entry[0] != ':' && entry[0] != '=') return std::nullopt;
  return entry;
}

// An entry without a number is one GPU.
int64_t count_of(std::string_view entry) {
  return base::parse_number<int64_t>(entry.substr(entry.find_last_of(":=") + 1)).value_or(1);
}

}  // namespace

std::optional<int> gpus_in(std::string_view list) {
  std::optional<int64_t> total;
  std::optional<int64_t> sum;
  while (!list.empty()) {
    const auto entry = behind_gpu(take_entry(list));
    if (!entry) continue;
    const int64_t count = count_of(*entry);
    if (count < 0 || count > kMost) continue;
    if (entry->starts_with('=')) total = count;
    sum = sum.value_or(0) + count;
  }
  if (total) sum = total;
  if (!sum) return std::nullopt;
  return static_cast<int>(std::min(*sum, kMost));
}

}  // namespace slurm
