// What users see of the daemon's last plan, as JSON (docs/api.md).
#pragma once

#include "base/json.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/plan_view.h"

namespace scheduler::api {

nlohmann::json plan_json(const PlanView& plan);
// Null when there is no forecast.
nlohmann::json forecast_json(const Commands::Forecast& forecast);

}  // namespace scheduler::api
