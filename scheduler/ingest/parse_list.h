// Reads lists of micrographs, whose format is recognized by their bytes. Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/ingest/ingest_error.h"
#include "scheduler/ingest/listed.h"

namespace scheduler::ingest {

// Reads RELION's STAR files or cryoSPARC's exposures. `name` is the file's name, for messages and
// as the source of the CTF. A fault of one micrograph is in its `refused`. Throws IngestError for
// faults of the whole file: another format, a missing column (named), a cut file.
std::vector<ListedMicrograph> parse_list(const std::string& bytes, const std::string& name);

}  // namespace scheduler::ingest
