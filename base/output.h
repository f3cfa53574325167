// Standard output, which may be a file on a full disk.
#pragma once

namespace base {

// What a program says that ends with a failure because of it.
inline constexpr const char* kOutputLost = "cannot write all of the output; is its disk full?";

// Writes what stdout and std::cout still hold. False: not all that was printed has been written.
bool flush_output();

}  // namespace base
