// Writes sizes in bytes as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace base {

// Returns for example "999 B" or "1.6 GB", in powers of 1000.
std::string size_text(int64_t bytes);

// Return whole megabytes, "1,235 MB": of what is needed rounded up, of what there is rounded down.
std::string megabytes_needed(uint64_t bytes);
std::string megabytes_free(uint64_t bytes);

}  // namespace base
