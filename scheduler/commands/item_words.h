// How messages and the history name items and their options.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "db/records.h"

namespace scheduler {

// "item 12 (QUEUED)"
std::string item_name(const db::Item& item);
// "2026-11-24 07:00 UTC", with seconds unless they are 0; "none" for 0.
std::string deadline_text(int64_t time);
// Throws Invalid for a deadline before 1970 or after the year 9999.
void check_deadline(int64_t time);
// "--time=10", "--exclusive"
std::string option_text(const std::string& name, const std::string& value);
// "--time=02:00:00 (was 01:00:00), without --exclusive"; empty when nothing changed.
std::string change_of_options(const std::map<std::string, std::string>& before,
                              const std::map<std::string, std::string>& after);

}  // namespace scheduler
