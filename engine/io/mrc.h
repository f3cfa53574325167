// MRC2014 files: modes 0 (int8), 1 (int16), 2 (float32), 6 (uint16), 12 (float16), either byte
// order, axes in any order, extended headers skipped; compressed by gzip or bzip2, too. Pixel
// values become float32. A hash is that of the file as it is stored.
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
  std::string sha256{};  // of the whole file, in hex; of read_hashed_mrc()
  MrcHeader header;
  std::vector<float> values;  // [z][y][x]
};

// The type of the values in a mode that can be read: "float32".
const char* type_of_mode(int mode);

// Throw InputError naming the file and what is wrong with it (not an MRC, cut short, mode).
MrcHeader read_mrc_header(const std::string& path);
MrcFile read_mrc(const std::string& path);
// The same with the hash, of the very file that was read, whatever is at its path by then.
MrcFile read_hashed_mrc(const std::string& path);

// A file whose hash is not the expected one.
class OtherContent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The same of a file that has this hash. Throws OtherContent, which says nothing of what is in
// another.
MrcFile read_mrc_with_hash(const std::string& path, const std::string& sha256);

// Reshape what was read and checked.
Image to_image(MrcFile&& file);
Volume to_volume(MrcFile&& file);

// Mode 2, native order, statistics filled, pixel size in A in the header (0: unknown), one label.
// Written to `path` as it is, flushed to disk; callers that must not leave a torn file give an open
// one and rename it (results.h). Throws Error naming the file when the disk is full.
void write_mrc(const std::string& path, const Image& image, double pixel_size);
void write_mrc(const std::string& path, const Volume& volume, double pixel_size);
// Into an open, empty file, which messages call `shown_as`.
void write_mrc(base::Descriptor file, const Image& image, double pixel_size,
               const std::string& shown_as);

}  // namespace engine
