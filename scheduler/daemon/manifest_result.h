// Reads the engine's manifest, and removes what is not kept of a finished search. Each call reads
// the shared file system and may block on it.
#pragma once

#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/stall_watch.h"
#include "scheduler/policy/transition.h"

namespace scheduler {

struct ManifestReading {
  ManifestWitness witness = ManifestWitness::kAbsent;
  std::string problem;              // of kRefused
  db::Result result;                // of kAccepted
  std::string micrograph_sha256{};  // of kAccepted: what was searched
};

// Accepts only a manifest of this attempt, of its configuration and its template, whose outputs are
// all there in full size.
ManifestReading read_manifest(const db::Attempt& attempt, const db::Template& search_template,
                              int64_t now);

// The engine's last progress report in this folder; nullopt: there is none that can be read.
std::optional<ProgressSeen> progress_seen(const std::string& folder);

// Units of the search that were done at the engine's last progress report in this folder; 0 when
// unknown.
int64_t done_units(const std::string& folder);

// Whether a file of this name in an attempt's folder belongs to the result of its search.
bool is_result_file(const std::string& name);

// Removes the checkpoint of a finished search, and the maps that are not kept.
void remove_leftovers(const std::string& folder, ResultsKeep keep);

// Removes what a search left that must not be read, of an attempt that will have no result: maps,
// peaks, pictures, checkpoint and whatever else is there but script, configuration, log, manifest
// and what margay-job keeps.
void remove_all_but_records(const std::string& folder);

// The engine's last message, which is its error when it failed, without the program's name in
// front; without one, the log's last line that is not empty (bash cannot find the engine).
std::string last_error(const std::string& log);

}  // namespace scheduler
