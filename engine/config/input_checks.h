// Checks a search's inputs and outputs before hours are spent on it: Leopard-EM finds most of these
// faults late.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/config/config.h"
#include "engine/io/mrc.h"

namespace engine {

// The allowed difference between the pixel sizes of a header and of the configuration, relative to
// the latter.
inline constexpr double kPixelSizeTolerance = 1e-3;

struct InputFiles {
  MrcFile micrograph, volume;
};

// Reads the two files that the configuration names, with their hashes, and runs the three checks
// below. A file without the SHA-256 that the configuration names is refused before any check.
// Throws InputError naming field and file. `allow_mismatch` is --allow-pixel-size-mismatch.
InputFiles read_inputs(SearchConfig& config, bool allow_mismatch);

// Reads the template alone, and checks its hash and, by check_template(), its contents.
MrcFile read_template(SearchConfig& config, bool allow_mismatch);

// These check shapes (2-D micrograph, cubic template, even sides, template no larger than the
// micrograph), that all values are finite and not all equal, and the header's pixel size; where
// that is unknown (0) or its mismatch is allowed, a note is added to `config.notes`. They throw
// InputError naming file and field.
void check_micrograph(const MrcFile& micrograph, SearchConfig& config, bool allow_mismatch);
void check_template(const MrcFile& volume, SearchConfig& config, bool allow_mismatch);
void check_shapes(const MrcFile& micrograph, const MrcFile& volume, const SearchConfig& config);

struct OutputChecks {
  bool overwrite = false;     // --overwrite
  std::string csv_path = {};  // of --output; empty: derived
  // Other files to be written: pairs of the option that names the file and its path.
  std::vector<std::pair<std::string, std::string>> other_files = {};
  // Results that are there without a manifest are refused; else they are taken for those of an
  // unfinished search, and may be replaced.
  bool refuse_results = false;
  uint64_t bytes_needed = 0;  // free space wanted in each output folder's file system
};

// Checks that folders exist or can be made (none is made here) and are writable, that disks have
// room, that no output is an input or another output, and that finished outputs are replaced only
// with --overwrite or allow_file_overwrite. Throws InputError. `manifest_path` is the file whose
// presence marks the outputs as finished.
void check_outputs(const SearchConfig& config, const std::string& manifest_path,
                   const OutputChecks& options);

// How a command writes a file, whatever the file's name.
enum class Written { kMrc, kCsv };

// Throws UsageError naming `option` for a name that ends as files of another kind do, pictures and
// compressed files among them: other programs would not open it. Any other name is allowed, also
// one without an ending.
void check_ending(const std::string& option, const std::string& path, Written written);

// Checks one file that a command writes. Throws InputError naming `option` when the file is one of
// the command's `others`, under whatever name, or when it exists and `overwrite` is false.
void check_output_file(const std::string& option, const std::string& path, bool overwrite,
                       const std::vector<std::string>& others);

}  // namespace engine
