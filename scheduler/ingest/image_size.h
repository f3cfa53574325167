// The size of a micrograph, from the header of its MRC file.
#pragma once

#include <cstdint>
#include <string>

#include "db/records.h"

namespace scheduler {

// Of an open file of so many bytes. Not known (0) unless it is a whole MRC file with one image:
// what is wrong with another is said by the engine. Reads 1024 bytes; may block on the file system.
db::ImageSize image_size(int descriptor, int64_t bytes);

// Why such a file is no micrograph as yet, a clause to stand behind its name; empty: it is one.
std::string image_problem(int descriptor, int64_t bytes);

}  // namespace scheduler
