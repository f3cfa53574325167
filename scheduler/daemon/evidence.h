// What the files of an attempt tell: its manifest, and how it ended.
#pragma once

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "scheduler/daemon/manifest_result.h"
#include "scheduler/policy/transition.h"

namespace scheduler {

// One look at the shared file system; thousands of attempts do not get one each at every picture.
bool has_manifest(const db::Attempt& attempt);

// The manifest's part of the evidence. Throws std::system_error when the micrograph cannot be
// looked at.
void add_manifest(const ManifestReading& manifest, const db::Item& item, Evidence& evidence);

// Somebody still writes into the attempt's folder.
bool is_claim_alive(const DaemonContext& context, const db::Attempt& attempt);

// What only matters once the job is over.
void add_end(const DaemonContext& context, const db::Attempt& attempt, Evidence& evidence);

}  // namespace scheduler
