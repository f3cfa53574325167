// The administrator's pauses, as users read them.
#pragma once

#include <map>
#include <string>

#include "db/database.h"
#include "db/records.h"

namespace scheduler {

// Empty when there is no pause.
std::string pause_text(db::Database& database);
std::string pause_text(const db::LanePause& pause);

// The texts of the pauses of lanes, by the lane's name: "partition=gpu".
std::map<std::string, std::string> paused_lanes(db::Database& database);

}  // namespace scheduler
