// Finds and repairs UTF-8 in bytes that may hold anything, such as file names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// Returns the length in bytes of the well-formed UTF-8 sequence at the start of `text`, 0 where
// there is none. Over-long forms, surrogates and code points beyond U+10FFFF are not well-formed.
size_t utf8_sequence(std::string_view text);
// Returns the code point of one well-formed sequence.
uint32_t code_point(std::string_view sequence);
bool is_utf8(std::string_view text);
// Drops an incomplete character at the end, unless it is the whole text.
void drop_cut_character(std::string& text);
// Replaces every byte that is not part of well-formed UTF-8 by U+FFFD.
std::string replace_invalid_utf8(std::string_view bytes);

}  // namespace base
