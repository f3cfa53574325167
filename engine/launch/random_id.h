// Identifiers that nobody can guess and nothing else has.
#pragma once

#include <string>

namespace engine {

// 128 bits from the kernel, as 32 hexadecimal digits. Throws std::system_error.
std::string random_id();

}  // namespace engine
