// Reads the header of MRC2014 files in modes 0 (int8), 1 (int16), 2 (float32), 6 (uint16) and 12
// (float16), in either byte order. A new mode is added to this list and that of engine/io/mrc.h, to
// value_bytes_of_mode() in mrc_header.cpp and the sentence there that lists the modes, with its
// conversion to kModes in engine/io/mrc.cpp, to docs/engine.md, to mrc_test and to the fuzzer's
// corpus. It must have whole bytes and one number per value.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/mrc_bytes.h"

namespace base {

// The most values along an axis of a file that is read.
inline constexpr int kLongestMrcAxis = 1 << 24;

struct MrcHeader {
  int nx = 0, ny = 0, nz = 0;  // values along x, y and z
  // The axes (0, 1, 2 for x, y, z) along which the file's columns, rows and sections run (mapc,
  // mapr, maps).
  std::array<int, 3> axes = {0, 1, 2};
  int mode = 2;
  std::array<double, 3> pixel_size = {0, 0, 0};  // A along x, y, z; 0 when the header has none
  bool swapped = false;                          // the file is in the other byte order
  int64_t extended_header_bytes = 0;
  std::string extended_type;
  int space_group = 0;
  int volumes = 1;  // more than one only in a stack of volumes (space group 401 and above)
  std::vector<std::string> labels;
};

// Says what is wrong with a file; what() follows the file's name: "is not an MRC file: ...".
class MrcError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns the bytes of one value in a mode that can be read; 0 for other modes.
int value_bytes_of_mode(int mode);

// Parses the header of a file of `file_size` bytes, of which the first `got` are in `bytes`. Throws
// MrcError where the file is not an MRC file, has a mode that cannot be read, or is too short for
// the values that its header promises.
MrcHeader parse_mrc_header(const mrc_bytes::HeaderBytes& bytes, size_t got, int64_t file_size);

}  // namespace base
