// How messages and the history name items and their options.
#pragma once

#include <string>

#include "db/records.h"
#include "scheduler/commands/commands.h"

namespace scheduler {

// "item 12 (QUEUED)"
std::string item_name(const db::Item& item);
// "--time=10", "--exclusive"
std::string option_text(const std::string& name, const std::string& value);
// "--time=02:00:00 (was 01:00:00), without --exclusive"; empty when nothing changed.
std::string change_of_options(const ItemOptions& before, const ItemOptions& after);

}  // namespace scheduler
