// Parses sizes in bytes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// Parses 500GB, 1.5 TB, 800 MB, 12 kB or 7 B, in powers of 1000 and less than 10^18 bytes. Returns
// nullopt for anything else.
std::optional<int64_t> parse_size(std::string_view text);

// Returns "invalid size '4 tons'; write for example 800MB, 500GB or 4TB".
std::string invalid_size(std::string_view text);

}  // namespace base
