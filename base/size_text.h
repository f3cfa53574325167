// Writes sizes in bytes as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace base {

// Returns for example "999 B" or "1.6 GB", in powers of 1000.
std::string size_text(int64_t bytes);

}  // namespace base
