// Reads cryoSPARC's exposures (.cs). Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/ingest/ingest_error.h"
#include "scheduler/ingest/listed.h"

namespace scheduler::ingest {

// See parse_list.h.
std::vector<ListedMicrograph> parse_cryosparc(const std::string& bytes, const std::string& name);

}  // namespace scheduler::ingest
