// What an attempt leaves in its folder: progress, log, results. Each call reads the shared file
// system and may block on it.
#pragma once

#include <cstdint>

#include "base/json.h"
#include "db/records.h"

namespace scheduler::api {

// Sets "progress" to what the engine's progress.json reports, null while there is none. Where the
// file is not one of the engine's, it is null and "progress_problem" says why: one attempt's folder
// spoils no answer about other items.
void put_progress(const db::Attempt& attempt, nlohmann::json& entry);

// A piece of job.log from `offset` (bytes): {"offset","next_offset","size","text"}; all 0 while
// there is no log. Throws base::UnfitFile for what is no log, std::system_error when it cannot be
// read.
nlohmann::json log_piece(const db::Attempt& attempt, int64_t offset);

// The paths of a result's files, {"maps":{},"pictures":{}}: those in its attempt's folder that are
// there and are no links, whatever else its manifest names.
nlohmann::json result_files(const db::Result& result);

}  // namespace scheduler::api
