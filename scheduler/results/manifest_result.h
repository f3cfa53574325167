// Reads the engine's manifest, and removes what is not kept of a finished search. Each call reads
// the shared file system and may block on it.
#pragma once

#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/config/config.h"
#include "scheduler/states/stall_watch.h"
#include "scheduler/states/transition.h"

namespace scheduler {

struct ManifestReading {
  ManifestWitness witness = ManifestWitness::kAbsent;
  std::string problem;              // set for kRefused
  db::Result result;                // set for kAccepted
  std::string micrograph_sha256{};  // set for kAccepted: the file that was searched
};

// Accepts only a manifest that names this attempt, its configuration and its template, and whose
// outputs all exist in full size.
ManifestReading read_manifest(const db::Attempt& attempt, const db::Template& search_template,
                              int64_t now);

// The engine's last progress report in this folder; nullopt: there is no readable one.
std::optional<ProgressSeen> progress_seen(const std::string& folder);

// Units of the search that were done at the engine's last progress report in this folder; 0: not
// known.
int64_t done_units(const std::string& folder);

// Whether a file of this name in an attempt's folder belongs to the result of its search.
bool is_result_file(const std::string& name);

// Removes the checkpoint of a finished search, and the maps that are not kept.
void remove_leftovers(const std::string& folder, ResultsKeep keep);

// Removes everything that must not be read from the folder of an attempt that will have no result:
// maps, peaks, images, checkpoint and any other file; it keeps script, configuration, log, manifest
// and margay-job's files.
void remove_all_but_records(const std::string& folder);

// The engine's last message in the log without the program's name, which is its error when it
// failed; if there is none, the log's last line that is not empty (such as bash's when it cannot
// find the engine).
std::string last_error(const std::string& log);

}  // namespace scheduler
