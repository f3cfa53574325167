// The administrator's pause of all submissions, as users read it.
#pragma once

#include <string>

#include "db/database.h"

namespace scheduler {

// Empty when there is no pause.
std::string pause_text(db::Database& database);

}  // namespace scheduler
