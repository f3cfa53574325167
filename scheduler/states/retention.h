// Decides which ended items a site's retention removes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "db/records.h"
#include "scheduler/config/retention.h"

namespace scheduler {

struct EndedItem {
  int64_t id = 0;
  db::Priority priority = db::Priority::kNormal;
  int64_t ended = 0;               // seconds since the epoch
  std::optional<int64_t> bytes{};  // bytes that its removal would free; unset: not measured yet
};

enum class WhyRemoved { kAge, kTotal };

struct ToRemove {
  EndedItem item{};
  WhyRemoved why = WhyRemoved::kAge;
};

// The items to remove, in the order of their ends: all that are too old, and then, as long as the
// others (without classes that are kept for ever) take more than `total` bytes, one after another.
// None is removed for `total` until all of these are measured.
std::vector<ToRemove> choose_to_remove(std::vector<EndedItem> items, const Retention& retention,
                                       int64_t now);

}  // namespace scheduler
