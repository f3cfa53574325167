// An engine's manifest into a result, and what is kept of a finished search.
#pragma once

#include <string>

#include "db/records.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/transition.h"

namespace scheduler {

struct ManifestReading {
  ManifestWitness witness = ManifestWitness::kAbsent;
  std::string problem;  // of kRefused
  db::Result result;    // of kAccepted
};

// Looks into the attempt's folder. Accepted is only the manifest of this attempt, of its
// configuration and its template, whose outputs are all there in full size.
ManifestReading read_manifest(const db::Attempt& attempt, const db::Template& search_template,
                              int64_t now);

// How much of its search the engine had done when it last said so in this folder; 0 = not known.
int64_t done_units(const std::string& folder);

// The search is done: its checkpoint goes, and the maps that are not kept.
void remove_leftovers(const std::string& folder, ResultsKeep keep);

// What the engine said last, which is its error when it failed, without the program's name in
// front; else the log's last line that says anything (bash cannot find the engine).
std::string last_error(const std::string& log);

}  // namespace scheduler
