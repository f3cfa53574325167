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
  std::chrono::milliseconds interval{};  // time between two ticks

  // The decision about an unfinished item; null when the plan does not contain the item.
  const Decision* find(int64_t item_id) const;
  // When an item with a deadline is done; null when the plan does not contain it or it has no
  // deadline.
  const Outlook* outlook_of(int64_t item_id) const;
};

// Null before the daemon's first plan.
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

// By how many seconds an unfinished item may miss its deadline: with 90 % certainty it would miss
// it by at most this if it started now; more if it is expected to be done even later because it
// waits; if neither is known, the seconds since its deadline. nullopt when it has no deadline or is
// not known to be at risk. An item that is not in the plan is assumed to take as long as other
// micrographs of its size, or of any size, with its template.
std::optional<int64_t> late_by(const db::Item& item, const PublishedPlan* plan, int64_t now);

// When an unfinished item is expected to start and to be done, in seconds since the epoch; a
// running one has started. nullopt when the plan does not know, or the item has changed since.
struct ExpectedTimes {
  int64_t start = 0;
  int64_t done = 0;
};
std::optional<ExpectedTimes> expected_times(const db::Item& item, const PublishedPlan* plan);

// The plan's forecast for an unfinished item; nullopt when expected_times() is. `attempt` is the
// item's open attempt; null when there is none.
std::optional<ItemForecast> forecast_of(const db::Item& item, const db::Attempt* attempt,
                                        const PublishedPlan* plan);

// When the whole queue is expected to be done.
struct ExpectedQueue {
  int64_t done = 0;     // when the last item with a known time is done; 0: none is known
  int64_t unknown = 0;  // items whose time is not known
};
ExpectedQueue expected_queue(const PublishedPlan* plan);

// Why an item waits, runs or has ended, and whether it is AT RISK of missing its deadline, in one
// sentence. `attempt` is its open attempt, which explains its width; null when there is none.
std::string explain_item(const db::Item& item, const db::Attempt* attempt,
                         const PublishedPlan* plan, int64_t now);

}  // namespace scheduler
