// What a search needs of the disk before its job is submitted: its files as they were registered,
// and room for its results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/daemon/context.h"

namespace scheduler {

// Returns the bytes of disk that the search needs; nullopt when its files are not as they were
// registered or cannot be looked at: the item then waits, or has ended for it.
std::optional<int64_t> find_files(const DaemonContext& context, const db::Item& item,
                                  const db::Template& search_template);

// Both empty: there is room.
struct Room {
  std::string too_little_for_it;  // a sentence: the item needs more than others do, and waits alone
  std::string none_for_all;       // a sentence
};
Room find_room(const DaemonContext& context, const db::Item& item, int64_t needed);

}  // namespace scheduler
