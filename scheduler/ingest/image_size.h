// Reads the size of a micrograph from the header of its MRC file.
#pragma once

#include <cstdint>
#include <string>

#include "db/records.h"

namespace scheduler {

// The size in an open file of `bytes` bytes; not known (0) unless it is a complete MRC file with
// one image. The engine reports what is wrong with other files. Reads 1024 bytes; may block on the
// file system.
db::ImageSize image_size(int descriptor, int64_t bytes);

// Why the file is not a micrograph yet, a clause that follows its name; empty: it is one.
std::string image_problem(int descriptor, int64_t bytes);

}  // namespace scheduler
