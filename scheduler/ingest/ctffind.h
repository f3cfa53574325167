// Reads the text files that CTFFIND 4 and 5 write, one per micrograph. Pure except for
// read_ctffind().
#pragma once

#include <string>

#include "db/records.h"
#include "scheduler/ingest/ingest_error.h"
#include "scheduler/ingest/listed.h"

namespace scheduler::ingest {

// `name` is the file's name, for messages and as the values' source. Angles and phase shift are
// returned in degrees (CTFFIND writes the phase shift in radians). A file with several micrographs
// or frames is refused, since it is not known which line belongs to the micrograph. The voltage
// is that of the comment that CTFFIND writes. Of its other values the spherical aberration is
// rounded too much to be compared, and the pixel size is that of CTFFIND's input, which may be a
// movie with smaller pixels. Throws IngestError.
CtfAndOptics parse_ctffind(const std::string& text, const std::string& name);
CtfAndOptics read_ctffind(const std::string& path);

// "{dir}/{stem}_ctf.txt": {dir} is the micrograph's folder, {name} its file name, {stem} that
// without the last extension.
std::string expand_pattern(const std::string& pattern, const std::string& micrograph);
// True for a pattern that names the same file for every micrograph.
bool pattern_is_constant(const std::string& pattern);

}  // namespace scheduler::ingest
