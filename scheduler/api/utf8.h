// File names are bytes, JSON is UTF-8: how one travels in the other without loss.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace scheduler::api {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none.
size_t utf8_sequence(std::string_view text);
bool valid_utf8(std::string_view text);
// Every byte that is not part of well-formed UTF-8 becomes U+FFFD.
std::string replace_invalid(std::string_view bytes);

std::string base64(std::string_view bytes);
// Nothing when `text` is not base64 with its padding.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace scheduler::api
