#include "base/output.h"

#include <cstdio>

namespace base {

// std::cout has no buffer of its own: it writes into that of stdout.
bool flush_output() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace base
