// The history from which a simulation is made, as JSON.
#pragma once

#include "base/json.h"
#include "scheduler/commands/history.h"
#include "scheduler/daemon/site_size.h"

namespace scheduler::api {

nlohmann::json history_json(const History& history);
nlohmann::json site_json(const SiteSize& site);

}  // namespace scheduler::api
