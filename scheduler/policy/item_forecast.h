// What the plan means for one unfinished item: by when it starts and is done with 90 % certainty,
// when it would be done at each width that its class may have, and what a promotion would gain it
// and cost others. It is computed from a published plan, with the widths and times that the plan
// expects for all other items. Pure.
//
// "With 90 % certainty" means: devices are free as in GpuForecast::late, and each search that is
// placed before the item's, and the item's own, takes T90 = T exp(1.2816 sigma). These delays add
// up, as if all searches were late together, so that the bound is cautious for an item with many
// before it. Where late jobs leave a gap that jobs on time do not, the expected start counts. Items
// that are enqueued later with a higher class are not included.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "db/records.h"
#include "scheduler/config/width.h"
#include "scheduler/policy/plan.h"

namespace scheduler {

// Seconds from the plan, except `run`, which is a duration.
struct WidthAtTurn {
  Width width{};
  double wait = 0;  // until it starts
  double run = 0;
  double done = 0;
  double done_late = 0;  // with 90 % certainty; infinite: no room is certain
};

// The effect of promoting an item to the end of another class, on the item and on those that wait.
struct Promotion {
  db::Priority priority = db::Priority::kHigh;
  Width width{};
  double start = 0;  // seconds from the plan
  double done = 0;
  double sooner = 0;            // seconds by which it is done sooner than in its own class
  double more_gpu_seconds = 0;  // that its job takes more at the other width; negative: fewer
  int64_t delayed = 0;          // items that are done at least a minute later
  double longest_delay = 0;     // seconds
};

struct ItemForecast {
  double start_late =
      0;  // with 90 % certainty; seconds from the plan; infinite: nothing is certain
  double done_late = 0;
  // Only for an item that waits for its turn, not for one that is submitted next:
  std::optional<Width> width{};         // width that it is expected to get
  std::vector<WidthAtTurn> widths{};    // narrowest first
  std::vector<Promotion> promotions{};  // promotion to the next class first
  int64_t not_placed = 0;               // jobs that go first but are not included in these times
};

// Facts about an item that the plan does not contain.
struct ForecastItem {
  int64_t finish_by = 0;                   // seconds since the epoch; 0: it has no deadline
  std::shared_ptr<const ItemAsks> asks{};  // null: it asks for nothing
  int64_t started = 0;  // start of its running job, seconds since the epoch; 0: it waits
};

// nullopt when the plan does not know when the item is done.
std::optional<ItemForecast> forecast_item(const Plan& plan, const Decision& decision,
                                          const ForecastItem& item);

}  // namespace scheduler
