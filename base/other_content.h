// An input whose SHA-256 is not the one that the engine's configuration names: the engine searches
// nothing of it and says so by these words, by which margayd recognises it in the job's log.
#pragma once

#include <string>

namespace base {

// The configuration's keys; without them any content is accepted.
inline constexpr const char* kMicrographHashKey = "micrograph_sha256";
inline constexpr const char* kVolumeHashKey = "template_volume_sha256";

// Follows the file's name in quotes.
inline std::string other_content_text(const std::string& hash_key) {
  return "does not have the SHA-256 that " + hash_key + " names: it is another file";
}

}  // namespace base
