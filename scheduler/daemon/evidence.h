// Evidence from the files of an attempt: its manifest, its log, and whether it still runs.
//
// Each call reads the shared file system and may block on it; only the tick calls them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "scheduler/results/manifest_result.h"
#include "scheduler/states/transition.h"
#include "slurm/cluster.h"

namespace scheduler {

// True when the attempt's folder holds a manifest, whatever its content. This is one look at the
// file system; with thousands of attempts, not every attempt gets one at each snapshot.
bool has_manifest(const db::Attempt& attempt);

// When the attempt's script last wrote into its folder, in milliseconds since the epoch by the
// clock of the file system; 0 when it has not begun.
int64_t heartbeat_of(const db::Attempt& attempt);

// The single host that the attempt ran or failed on; empty when it is not known.
std::string host_of(const db::Attempt& attempt);

// True when the attempt's search has passed the probe of its device, that is, has reported
// progress.
bool has_passed_probe(const db::Attempt& attempt);

// When the search began, in seconds since the epoch.
int64_t start_of(const db::Attempt& attempt);

// For an ended attempt: the share of the search, 0 to 1, that its checkpoint has; nullopt when that
// is no more than it began with.
std::optional<double> share_searched(const db::Attempt& attempt);

// All that the files, the item and its job (if known) prove. The caller adds what depends on
// earlier snapshots: `vanished`, `claim_alive` and `files_may_come`.
Evidence gather_evidence(const DaemonContext& context, const db::Attempt& attempt,
                         const db::Item& item, const db::Template& search_template,
                         const ManifestReading& manifest,
                         const std::optional<slurm::JobStatus>& job);

}  // namespace scheduler
