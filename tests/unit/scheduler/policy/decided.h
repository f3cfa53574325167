// A plan as the tests look at it: each item with what it gets and the sentence that users read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/policy/plan_text.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

struct Decided {
  int64_t item_id = 0;
  Verdict verdict = Verdict::kWait;
  std::optional<Width> width{};
  std::string explanation{};
};

// In the order of the items.
inline std::vector<Decided> decided(const QueueSnapshot& snapshot) {
  const Plan made = plan(snapshot);
  std::vector<Decided> all;
  for (const Decision& decision : made.decisions) {
    all.push_back({.item_id = decision.item_id,
                   .verdict = decision.verdict,
                   .explanation = sentence(made, decision)});
    for (const JobStart& start : made.starts) {
      if (start.item_id == decision.item_id) all.back().width = start.width;
    }
    for (const Widening& widening : made.widenings) {
      if (widening.item_id == decision.item_id) all.back().width = widening.width;
    }
  }
  return all;
}

inline std::vector<int64_t> started(const QueueSnapshot& snapshot) {
  const Plan made = plan(snapshot);
  std::vector<int64_t> ids;
  for (const JobStart& start : made.starts) ids.push_back(start.item_id);
  return ids;
}

inline std::vector<int64_t> widened(const QueueSnapshot& snapshot) {
  const Plan made = plan(snapshot);
  std::vector<int64_t> ids;
  for (const Widening& widening : made.widenings) ids.push_back(widening.item_id);
  return ids;
}

inline PlanItem asking(PlanItem item, ItemAsks asks) {
  item.asks = std::make_shared<const ItemAsks>(std::move(asks));
  return item;
}

}  // namespace scheduler
