// Checks that standard output was written: it may be a file on a full disk.
#pragma once

namespace base {

// The message of a program that fails because its output was not written.
inline constexpr const char* kOutputLost = "cannot write all of the output; is its disk full?";

// Flushes stdout and std::cout. Returns false where not all of the output has been written.
bool flush_output();

}  // namespace base
