// The items that arrived in a period and how long they took, for `margay simulate --from-history`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "scheduler/forecast/runtime_model.h"

namespace scheduler {

struct PastItem {
  int64_t id = 0;
  int64_t arrived = 0;  // seconds since the epoch
  db::Priority priority = db::Priority::kNormal;
  std::string group{};
  int64_t finish_by = 0;  // the deadline; 0: none
  // Seconds on one GPU: `work` as the policy expects, `took` as the item's jobs show once it is
  // done. Unset: not known.
  std::optional<double> work{};
  std::optional<double> took{};
};

struct HistoryQuery {
  int64_t since = 0;  // seconds since the epoch
  int64_t after = 0;  // only items with a higher id, for paging
  int64_t most = 1000;
};

struct History {
  std::vector<PastItem> items{};        // by id, without failed and cancelled ones
  int64_t left_out = 0;                 // how many were left out
  int64_t next = 0;                     // the `after` of the next page; 0: this is the last
  std::optional<RuntimeModel> model{};  // of the kind of search that most of these items are
};

// `site_rates` is `rates` of the configuration. Throws DatabaseError.
History read_history(db::Database& database, const std::map<std::string, double>& site_rates,
                     const HistoryQuery& query);

}  // namespace scheduler
