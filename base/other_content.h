// The words for an input whose SHA-256 is not the one that the engine's configuration names. The
// engine refuses such an input, and margayd recognises these words in the job's log.
#pragma once

#include <string>

namespace base {

// The configuration's keys for the hashes; without a key any content is accepted.
inline constexpr const char* kMicrographHashKey = "micrograph_sha256";
inline constexpr const char* kVolumeHashKey = "template_volume_sha256";

// Returns the words to write behind the file's name in quotes.
inline std::string other_content_text(const std::string& hash_key) {
  return "does not have the SHA-256 that " + hash_key + " names: it is another file";
}

}  // namespace base
