// Disk space: what a search needs, and what is free.
#pragma once

#include <cstdint>
#include <string>

namespace scheduler {

// The most bytes that a search of this open micrograph leaves: eight maps, the checkpoint, images.
int64_t needed_bytes(int micrograph);

// The most bytes that the search of an ordinary micrograph leaves.
constexpr int64_t kOrdinarySearch = 2'000'000'000;

// Bytes that unprivileged users may still write in this folder or, if it is missing, where it would
// be made. Throws std::system_error.
int64_t free_bytes(const std::string& folder);

}  // namespace scheduler
