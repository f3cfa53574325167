// UTF-8 in bytes that may hold anything: file names, files of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none: over-long
// forms, surrogates and what lies beyond U+10FFFF are not well-formed.
size_t utf8_sequence(std::string_view text);
// The code point of one well-formed sequence.
uint32_t code_point(std::string_view sequence);
bool is_utf8(std::string_view text);
// Drops a character at the end that is cut in two, unless it is all that there is.
void drop_cut_character(std::string& text);
// Every byte that is not part of well-formed UTF-8 becomes U+FFFD.
std::string replace_invalid_utf8(std::string_view bytes);

}  // namespace base
