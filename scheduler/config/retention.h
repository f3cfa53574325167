// How long what Margay keeps of ended items is kept, from the section `retention` of the
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

  Age age{};                              // since the item has ended
  std::map<db::Priority, Age> classes{};  // of one class, in place of `age`
  // While what a removal would free takes more bytes than this, the items that ended first are
  // removed; unset: any number.
  std::optional<int64_t> total{};
  bool results = false;  // results are removed, too
  Age history{};         // of lines about items that have ended

  // A class that is named with an unset age is kept for ever, whatever `total` says.
  bool keeps_for_ever(db::Priority priority) const;
  Age age_of(db::Priority priority) const;
  // Whether it removes any item.
  bool removes_items() const;
};

}  // namespace scheduler
