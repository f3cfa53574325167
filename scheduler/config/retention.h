// How long the records and files of ended items are kept: the section `retention` of the
// configuration.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "db/records.h"

namespace scheduler {

struct Retention {
  using Age = std::optional<std::chrono::seconds>;  // unset: for ever

  Age age{};                              // time since the item ended
  std::map<db::Priority, Age> classes{};  // for one class, instead of `age`
  // While removals could free more bytes than this, the items that ended first are removed; unset:
  // no limit.
  std::optional<int64_t> total{};
  bool results = false;  // results are removed, too
  Age history{};         // age of history lines about items that have ended

  // A class in `classes` with an unset age is kept for ever, whatever `total` says.
  bool keeps_for_ever(db::Priority priority) const;
  Age age_of(db::Priority priority) const;
  // Whether these settings remove any item.
  bool removes_items() const;
};

}  // namespace scheduler
