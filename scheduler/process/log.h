// margayd's log: lines on standard error or, where systemd has connected that to its journal,
// entries of the journal with their priority and with fields to find them by.
#pragma once

#include <spdlog/common.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/config/config.h"

namespace scheduler {

// Opens the log of this process; its level is kInfo.
void open_log();
// Holds for what is logged from then on; may be called at any time, by any thread.
void set_log_level(LogLevel level);

// Returns the journal's fields for a line: of the first job that it names, MARGAY_JOB (the job's
// name in Slurm), MARGAY_ITEM and MARGAY_ATTEMPT (numbers); where it names none, MARGAY_ITEM of the
// first item; otherwise none. Pure.
std::vector<std::pair<std::string, std::string>> journal_fields(const std::string& line);

// Returns a sink for the journal; null where standard error is not connected to it, or this build
// has no libsystemd.
spdlog::sink_ptr journal_sink();

}  // namespace scheduler
