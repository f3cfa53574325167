#pragma once

#include <cstddef>
#include <string>

namespace engine {

// Lower-case hex. Throws InputError naming a file that cannot be read.
std::string sha256_of_file(const std::string& path);
std::string sha256_of_bytes(const void* data, size_t size);

}  // namespace engine
