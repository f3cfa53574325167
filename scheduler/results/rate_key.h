// What rates of searches are learned and looked up by, besides the device and the sides.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/results/job_json.h"

namespace scheduler {

// Returns the engine's version and, for a search on larger pixels than the micrograph's, how much
// larger: such a search is up to four times as fast. `json` is a plan or a manifest of the engine;
// `template_size` is the template's own side.
std::string rate_key_of_engine(const std::string& version, const nlohmann::json& json,
                               int64_t template_size);

}  // namespace scheduler
