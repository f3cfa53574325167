// Reads the header of an open MRC file.
#pragma once

#include <cstdint>

#include "base/mrc_header.h"

namespace scheduler {

// The header of a file of `bytes` bytes. Reads 1024 bytes; may block on the file system. Throws
// base::MrcError, which says what is wrong with the file: another format, cut short, a mode that
// cannot be read.
base::MrcHeader read_mrc_header(int descriptor, int64_t bytes);

}  // namespace scheduler
