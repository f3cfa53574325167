// Reads what an attempt leaves in its folder: progress, log, results. Each call reads the shared
// file system and may block on it.
#pragma once

#include <cstdint>

#include "base/json.h"
#include "db/records.h"

namespace scheduler::api {

// Sets "progress" to the content of the engine's progress.json, or null while there is none. If the
// file is not the engine's, "progress" is null and "progress_problem" says why, so that one
// attempt's folder cannot break an answer about other items.
void put_progress(const db::Attempt& attempt, nlohmann::json& entry);

// A piece of job.log from `offset` (bytes): {"offset","next_offset","size","text"}; all 0 while
// there is no log. Throws base::UnfitFile when it is not a regular file, and std::system_error when
// it cannot be read.
nlohmann::json log_piece(const db::Attempt& attempt, int64_t offset);

// The paths of a result's files, {"maps":{},"pictures":{}}: only files that exist in its attempt's
// folder and are not links, whatever else its manifest names.
nlohmann::json result_files(const db::Result& result);

}  // namespace scheduler::api
