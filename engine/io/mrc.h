// Reads and writes MRC2014 files. Readable are modes 0 (int8), 1 (int16), 2 (float32), 6 (uint16)
// and 12 (float16), in either byte order, with axes in any order, also compressed by gzip or bzip2;
// extended headers are skipped. Values become float32. Hashes are of the file as it is stored.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/mrc_header.h"
#include "engine/io/image.h"
#include "engine/io/volume.h"

namespace engine {

using base::MrcHeader;

struct MrcFile {
  std::string path;
  std::string sha256{};  // of the whole file, in hex; empty after read_mrc()
  MrcHeader header;
  std::vector<float> values;  // [z][y][x]
};

// Returns the type of the values in a mode that can be read, such as "float32".
const char* type_of_mode(int mode);

// Both throw InputError naming the file and what is wrong with it (not an MRC file, cut short, a
// mode that cannot be read).
MrcHeader read_mrc_header(const std::string& path);
MrcFile read_mrc(const std::string& path);
// Does what read_mrc() does and also hashes the file that was read, even if another has replaced it
// at its path meanwhile.
MrcFile read_hashed_mrc(const std::string& path);

// A file's hash is not the expected one.
class OtherContent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Does what read_hashed_mrc() does for a file that must have this hash. Throws OtherContent for any
// other file, whatever else is wrong with it.
MrcFile read_mrc_with_hash(const std::string& path, const std::string& sha256);

// Both move the values out of `file`. They throw InputError where it is not 2-D, or not cubic.
Image to_image(MrcFile&& file);
Volume to_volume(MrcFile&& file);

// Writes mode 2 in native byte order, with statistics, one label and `pixel_size`, in A (0:
// unknown), in the header, and flushes it to disk. It writes to `path` directly; a caller that must
// not leave a partial file passes an open one and renames it (results.h). Throws Error(kBadInput)
// naming the file that cannot be written.
void write_mrc(const std::string& path, const Image& image, double pixel_size);
void write_mrc(const std::string& path, const Volume& volume, double pixel_size);
// Writes into an open, empty file, which messages call `shown_as`.
void write_mrc(base::Descriptor file, const Image& image, double pixel_size,
               const std::string& shown_as);

}  // namespace engine
