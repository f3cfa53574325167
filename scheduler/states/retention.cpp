#include "scheduler/states/retention.h"

#include <algorithm>
#include <tuple>

namespace scheduler {
namespace {

bool is_too_old(const EndedItem& item, const Retention& retention, int64_t now) {
  const Retention::Age age = retention.age_of(item.priority);
  return age && now - item.ended >= age->count();
}

}  // namespace

std::vector<ToRemove> choose_to_remove(std::vector<EndedItem> items, const Retention& retention,
                                       int64_t now) {
  std::sort(items.begin(), items.end(), [](const EndedItem& a, const EndedItem& b) {
    return std::tuple(a.ended, a.id) < std::tuple(b.ended, b.id);
  });
  std::vector<ToRemove> chosen;
  std::vector<EndedItem> others;
  for (const EndedItem& item : items) {
    if (is_too_old(item, retention, now)) {
      chosen.push_back({.item = item, .why = WhyRemoved::kAge});
    } else {
      others.push_back(item);
    }
  }
  const bool all_measured = std::all_of(
      others.begin(), others.end(), [](const EndedItem& item) { return item.bytes.has_value(); });
  if (!retention.total || !all_measured) return chosen;
  int64_t bytes = 0;
  for (const EndedItem& item : others) {
    if (!retention.keeps_for_ever(item.priority)) bytes += *item.bytes;
  }
  for (const EndedItem& item : others) {
    if (bytes <= *retention.total) break;
    if (retention.keeps_for_ever(item.priority) || *item.bytes == 0) continue;
    chosen.push_back({.item = item, .why = WhyRemoved::kTotal});
    bytes -= *item.bytes;
  }
  return chosen;
}

}  // namespace scheduler
