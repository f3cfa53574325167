// What the plan means for one item that has not ended: by when it starts and is done with 90 %
// certainty, when it would be done at each width that its class may have, and what a promotion
// would gain it and cost others. From a published plan, with the widths and times that the
// plan expects for all other items. Pure.
//
// With 90 % certainty: the devices are taken as GpuForecast::late has them, and each search that is
// placed before it, and its own, takes T90 = T exp(1.2816 sigma). These add up, as if all of them
// were late together: the bound of an item with many before it is a cautious one. Where late jobs
// leave a gap that those on time do not, the expected start counts. What is enqueued later with a
// higher class is not in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "db/records.h"
#include "scheduler/config/width.h"
#include "scheduler/policy/plan.h"

namespace scheduler {

// Seconds from the plan, but for `run`.
struct WidthAtTurn {
  Width width{};
  double wait = 0;  // until it starts
  double run = 0;
  double done = 0;
  double done_late = 0;  // with 90 % certainty; infinite: there is no room that is certain
};

// Of an item that is promoted to the end of another class, and what that does to the items that
// wait.
struct Promotion {
  db::Priority priority = db::Priority::kHigh;
  Width width{};
  double start = 0;  // seconds from the plan
  double done = 0;
  double sooner = 0;            // seconds than in its own class
  double more_gpu_seconds = 0;  // that its job takes at the other width; negative: fewer
  int64_t delayed = 0;          // items that are done later, by a minute or more,
  double longest_delay = 0;     // seconds
};

struct ItemForecast {
  double start_late =
      0;  // with 90 % certainty; seconds from the plan; infinite: nothing is certain
  double done_late = 0;
  // Of one that waits for its turn, not of one that is submitted next:
  std::optional<Width> width{};         // that it is expected to get
  std::vector<WidthAtTurn> widths{};    // narrowest first
  std::vector<Promotion> promotions{};  // to the next class first
  int64_t not_placed = 0;               // jobs that go first and are in none of these times
};

// What the plan does not keep of an item.
struct ForecastItem {
  int64_t finish_by = 0;                   // seconds since the epoch; 0: it has no deadline
  std::shared_ptr<const ItemAsks> asks{};  // null: for nothing
  int64_t started = 0;  // of a job that runs, seconds since the epoch; 0: it waits
};

// nullopt where the plan does not know when the item is done.
std::optional<ItemForecast> forecast_item(const Plan& plan, const Decision& decision,
                                          const ForecastItem& item);

}  // namespace scheduler
