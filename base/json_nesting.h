// How deep a JSON text from others nests, looked at before it is parsed: copying, printing and
// destroying a parsed document call themselves for each level, and too many end the process.
#pragma once

#include <string_view>

namespace base {

// Deeper than any document that Margay's programs write.
inline constexpr int kDeepestJson = 64;

// True when lists and objects are nested in more than `levels` levels. Of a text that is not JSON,
// it holds for the part before the first fault, which is all that a parser keeps.
bool nests_deeper(std::string_view json, int levels = kDeepestJson);

}  // namespace base
