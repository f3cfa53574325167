// Room on a disk, asked before a search is started there.
#pragma once

#include <cstdint>
#include <string>

namespace scheduler {

// Bytes that a search of this micrograph leaves at most: eight maps, the checkpoint, pictures.
int64_t needed_bytes(const std::string& micrograph_path);

// Free to us in this folder. Throws std::system_error.
int64_t free_bytes(const std::string& folder);

// "1.6 GB"
std::string human_bytes(int64_t bytes);

}  // namespace scheduler
