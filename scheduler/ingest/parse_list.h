// Lists of micrographs, whose format is found by their bytes. Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/ingest/ingest_error.h"
#include "scheduler/ingest/listed.h"

namespace scheduler::ingest {

// RELION's STAR files or cryoSPARC's exposures. `name` is the file's, for messages and as the
// source of the CTF. What is wrong with one micrograph is its own `refused`. Throws IngestError for
// what concerns the whole file: another format, a missing column (named), a cut file.
std::vector<ListedMicrograph> parse_list(const std::string& bytes, const std::string& name);

}  // namespace scheduler::ingest
