// Sizes in bytes as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace base {

// "999 B", "1.6 GB": in powers of 1000.
std::string size_text(int64_t bytes);

}  // namespace base
