// Which ended items a site's retention removes. Pure.
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
  std::optional<int64_t> bytes{};  // what its removal would free; unset: it was not measured yet
};

enum class WhyRemoved { kAge, kTotal };

struct ToRemove {
  EndedItem item{};
  WhyRemoved why = WhyRemoved::kAge;
};

// Those that have ended first come first: all that are too old, and then, while the others of
// classes that are not kept for ever take more than `total`, one after another. Until all of the
// others are measured, none is removed for `total`.
std::vector<ToRemove> choose_to_remove(std::vector<EndedItem> items, const Retention& retention,
                                       int64_t now);

}  // namespace scheduler
