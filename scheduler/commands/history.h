// What arrived in some time and how long it took, for `margay simulate --from-history`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "scheduler/policy/runtime_model.h"

namespace scheduler {

struct PastItem {
  int64_t id = 0;
  int64_t arrived = 0;  // seconds since the epoch
  db::Priority priority = db::Priority::kNormal;
  std::string group{};
  int64_t finish_by = 0;  // the deadline; 0: none
  // Seconds on one GPU: as the policy expects them, and as the item's jobs show them once it is
  // done. Unset: not known.
  std::optional<double> work{};
  std::optional<double> took{};
};

struct HistoryQuery {
  int64_t since = 0;  // seconds since the epoch
  int64_t after = 0;  // numbers above this one, for paging
  int64_t most = 1000;
};

struct History {
  std::vector<PastItem> items{};  // by number; those that failed or were cancelled are left out,
  int64_t left_out = 0;           // so many
  int64_t next = 0;               // the `after` of the next page; 0: this is the last
  std::optional<RuntimeModel> model{};  // of the searches that most of these items are
};

// `site_rates`: `rates` of the configuration. Throws DatabaseError.
History read_history(db::Database& database, const std::map<std::string, double>& site_rates,
                     const HistoryQuery& query);

}  // namespace scheduler
