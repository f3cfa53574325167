// Reads RELION's lists of micrographs with their CTF, micrographs_ctf.star: the form of 3.0, and
// that of 3.1 and later (5 included) with optics groups. Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/ingest/ingest_error.h"
#include "scheduler/ingest/listed.h"

namespace scheduler::ingest {

// See parse_list.h.
std::vector<ListedMicrograph> parse_relion(const std::string& text, const std::string& name);

}  // namespace scheduler::ingest
