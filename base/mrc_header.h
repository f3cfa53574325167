// The header of MRC2014 files: modes 0 (int8), 1 (int16), 2 (float32), 6 (uint16), 12 (float16),
// either byte order. A new mode is added here, in value_bytes_of_mode() of mrc_header.cpp, and with
// its conversion in kModes of engine/io/mrc.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/mrc_bytes.h"

namespace base {

struct MrcHeader {
  int nx = 0, ny = 0, nz = 0;  // values along x, y and z
  // Along which of x, y, z (0, 1, 2) the file's columns, rows and sections run (mapc, mapr, maps).
  std::array<int, 3> axes = {0, 1, 2};
  int mode = 2;
  std::array<double, 3> pixel_size = {0, 0, 0};  // A along x, y, z; 0 when the header has none
  bool swapped = false;                          // bytes were in the other order
  int64_t extended_header_bytes = 0;
  std::string extended_type;
  int space_group = 0;
  int volumes = 1;  // more than one only in a stack of volumes (space group 401 and above)
  std::vector<std::string> labels;
};

// What is wrong with a file, to stand behind its name: "is not an MRC file: ...".
class MrcError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bytes of a value in a mode that can be read; 0 for other modes.
int value_bytes_of_mode(int mode);

// Of a file with `file_size` bytes, of which the first ones, `got` of them, are in `bytes`; all the
// values that the header promises are there. Throws MrcError (not an MRC, cut short, mode).
MrcHeader parse_mrc_header(const mrc_bytes::HeaderBytes& bytes, size_t got, int64_t file_size);

}  // namespace base
