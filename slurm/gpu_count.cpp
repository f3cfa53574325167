#include "slurm/gpu_count.h"

#include <algorithm>
#include <cstdint>

#include "base/parse_number.h"
#include "base/slurm_lists.h"

namespace slurm {
namespace {

constexpr int64_t kMost = 1'000'000;

// What stands behind "gpu" in an entry: "", "=8", ":4", ":a100:2". nullopt: it is about something
// else.
std::optional<std::string_view> behind_gpu(std::string_view entry) {
  constexpr std::string_view kNoKind = ":(null)";
  if (entry.starts_with("gres/") || entry.starts_with("gres:")) entry.remove_prefix(5);
  if (!entry.starts_with("gpu")) return std::nullopt;
  entry.remove_prefix(3);
  if (entry.starts_with(kNoKind)) entry.remove_prefix(kNoKind.size());
  entry = entry.substr(0, entry.find('('));
  if (!entry.empty() && entry[0] != ':' && entry[0] != '=') return std::nullopt;
  return entry;
}

// "a100" in ":a100:2" and ":a100=2"; "" in ":4", "=8" and "".
std::string_view kind_of(std::string_view entry) {
  if (!entry.starts_with(':')) return "";
  entry.remove_prefix(1);
  const size_t end = entry.find_first_of(":=");
  const bool is_count = end == entry.npos && base::parse_number<int64_t>(entry);
  return is_count ? "" : entry.substr(0, end);
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
    const auto entry = behind_gpu(base::take_list_entry(list));
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

int times_gpus(int each, int64_t count) {
  const int64_t times = std::clamp<int64_t>(count, 1, kMost);
  return static_cast<int>(std::min(each * times, kMost));
}

std::map<std::string, int> gpu_kinds_in(std::string_view list) {
  std::map<std::string, int64_t> counts;
  while (!list.empty()) {
    const auto entry = behind_gpu(base::take_list_entry(list));
    if (!entry) continue;
    const int64_t count = count_of(*entry);
    if (count < 0 || count > kMost) continue;
    int64_t& sum = counts[std::string(kind_of(*entry))];
    sum = std::min(kMost, sum + count);
  }
  if (counts.size() > 1) counts.erase("");
  return {counts.begin(), counts.end()};
}

}  // namespace slurm
