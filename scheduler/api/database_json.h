// The verification of a database as the API's JSON.
#pragma once

#include "base/json.h"
#include "db/verify.h"

namespace scheduler::api {

nlohmann::json verification_json(const db::Verification& found);

}  // namespace scheduler::api
