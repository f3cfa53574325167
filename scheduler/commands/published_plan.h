// The plan of the daemon's last tick, which every view of the queue reads. Nothing else plans: an
// item that has changed since then is shown as not planned yet.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/policy/item_forecast.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

struct PublishedPlan {
  Plan plan{};
  std::chrono::milliseconds interval{};  // between two ticks

  // What was decided about an item that had not ended; null when it was not there.
  const Decision* find(int64_t item_id) const;
  // By when an item with a deadline is done; null when it was not there, or had none.
  const Outlook* outlook_of(int64_t item_id) const;
};

// Null before the daemon's first.
using LastPlan = std::shared_ptr<const PublishedPlan>;

// Where the daemon publishes its plan. May be used by any thread.
class PlanBoard {
 public:
  void publish(LastPlan plan);
  LastPlan last() const;

 private:
  mutable std::mutex mutex_;
  LastPlan last_;
};

// If an unfinished item started now, it would with 90 % certainty be done at most so many seconds
// after its deadline; more where it waits so long that it is expected to be done later still; where
// neither is known, the seconds since its deadline. nullopt where it has none, or is not at risk of
// missing it as far as is known. One that was not there when the plan was made takes as long as the
// other micrographs of its size, or of any, that are searched with its template.
std::optional<int64_t> late_by(const db::Item& item, const PublishedPlan* plan, int64_t now);

// When an unfinished item is expected to start and to be done, seconds since the epoch; what runs
// has started. nullopt where the plan does not know, or the item has changed since.
struct ExpectedTimes {
  int64_t start = 0;
  int64_t done = 0;
};
std::optional<ExpectedTimes> expected_times(const db::Item& item, const PublishedPlan* plan);

// What the plan means for an unfinished item beyond that; nullopt where expected_times() is.
// `attempt` is its open one, null when there is none.
std::optional<ItemForecast> forecast_of(const db::Item& item, const db::Attempt* attempt,
                                        const PublishedPlan* plan);

// When the whole queue is expected to be done.
struct ExpectedQueue {
  int64_t done = 0;     // the last of the items of which it is known; 0: of none
  int64_t unknown = 0;  // items of which it is not
};
ExpectedQueue expected_queue(const PublishedPlan* plan);

// Why an item waits, runs or has ended, one sentence, and whether it is AT RISK of missing its
// deadline. `attempt` is its open one, null when there is none: what it got is explained from
// there.
std::string explain_item(const db::Item& item, const db::Attempt* attempt,
                         const PublishedPlan* plan, int64_t now);

}  // namespace scheduler
