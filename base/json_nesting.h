// Checks how deep an untrusted JSON text nests before it is parsed: copying, printing and
// destroying a parsed document recurse once per level, and too many levels overflow the stack.
#pragma once

#include <string_view>

namespace base {

// Allowed levels: more than any document that Margay's programs write has.
inline constexpr int kDeepestJson = 64;

// True when arrays and objects are nested in more than `levels` levels. For a text that is not
// JSON, the answer is right up to the first fault, and a parser reads no further.
bool nests_deeper(std::string_view json, int levels = kDeepestJson);

}  // namespace base
