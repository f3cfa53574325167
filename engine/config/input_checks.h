// What must hold before hours are spent: everything that Leopard-EM finds late, found first.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/config/config.h"
#include "engine/io/mrc.h"

namespace engine {

// How much the pixel size of a header may differ from that of the configuration, relative to it.
inline constexpr double kPixelSizeTolerance = 1e-3;

struct InputFiles {
  MrcFile micrograph, volume;
};

// Reads the files that the configuration names, with their hashes, checked by all of the functions
// below; of one that does not have the SHA-256 that the configuration names, nothing is looked at.
// Throws InputError naming field and file. `allow_mismatch`: --allow-pixel-size-mismatch.
InputFiles read_inputs(SearchConfig& config, bool allow_mismatch);

// The template alone, read and checked in the same way.
MrcFile read_template(SearchConfig& config, bool allow_mismatch);

// Shapes (2-D micrograph, cubic template, even sides, template no larger than the micrograph),
// finite and varying pixels, pixel size against the header (0 means unknown: a note is returned in
// `config.notes`). Throws InputError naming file and field.
void check_micrograph(const MrcFile& micrograph, SearchConfig& config, bool allow_mismatch);
void check_template(const MrcFile& volume, SearchConfig& config, bool allow_mismatch);
void check_shapes(const MrcFile& micrograph, const MrcFile& volume, const SearchConfig& config);

struct OutputChecks {
  bool overwrite = false;     // --overwrite
  std::string csv_path = {};  // of --output; empty: derived
  // Other files to be written: the option that names it, the path.
  std::vector<std::pair<std::string, std::string>> other_files = {};
  // The file that an unfinished Margay search leaves: results beside it may be replaced. Empty:
  // none.
  std::string unfinished_mark;
  uint64_t bytes_needed = 0;  // free space wanted in each output folder's file system
};

// Folders exist or can be made (none is made here) and are writable, disks have room, finished
// outputs are replaced only with --overwrite or allow_file_overwrite. Throws InputError.
// `manifest_path` is the file whose presence marks the set of outputs as finished.
void check_outputs(const SearchConfig& config, const std::string& manifest_path,
                   const OutputChecks& options);

// One file that a command writes: refused when it is one of the command's `others`, under whatever
// name, or when it is there and not to be replaced. Throws InputError naming `option`.
void check_output_file(const std::string& option, const std::string& path, bool overwrite,
                       const std::vector<std::string>& others);

}  // namespace engine
