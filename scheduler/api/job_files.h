// What an attempt leaves in its folder while it runs and after: progress, log, results.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "db/records.h"

namespace scheduler::api {

// progress.json of a running search; null while there is none.
nlohmann::json progress_of(const db::Attempt& attempt);

// A piece of job.log from `offset`: {"offset","next_offset","size","text"}; all 0 while there is no
// log. Throws std::system_error when it cannot be read.
nlohmann::json log_piece(const db::Attempt& attempt, int64_t offset);

// The files of a result that are there: {"maps":{},"pictures":{}}.
nlohmann::json result_files(const db::Result& result);

// The whole file. Throws std::system_error naming it.
std::string read_file(const std::string& path);

}  // namespace scheduler::api
