// Disk space that a search needs, and that there is.
#pragma once

#include <cstdint>
#include <string>

namespace scheduler {

// The most bytes that a search of this open micrograph leaves: eight maps, the checkpoint,
// pictures.
int64_t needed_bytes(int micrograph);

// What the search of an ordinary micrograph leaves at most.
constexpr int64_t kOrdinarySearch = 2'000'000'000;

// Bytes that unprivileged users may still write in this folder, or, while it is missing, where it
// would be made. Throws std::system_error.
int64_t free_bytes(const std::string& folder);

}  // namespace scheduler
