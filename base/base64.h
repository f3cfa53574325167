// Base64 (RFC 4648), by OpenSSL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base {

std::string base64(std::string_view bytes);
// Returns nullopt where `text` is not base64 with its padding.
std::optional<std::string> from_base64(std::string_view text);
// Decodes the alphabet of URLs and web tokens, which has '-' and '_' for '+' and '/'; the padding
// may be missing. Returns nullopt for any other text.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace base
