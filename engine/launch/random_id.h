// Makes identifiers that are unique and cannot be guessed.
#pragma once

#include <string>

namespace engine {

// Returns 128 random bits from the kernel as 32 hexadecimal digits. Throws std::system_error.
std::string random_id();

}  // namespace engine
