// The versions of slurmrestd's API that Margay knows.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slurm {

enum class ApiVersion { kV38, kV40, kV41, kV42, kV43, kV44 };  // oldest first

// "v0.0.38", as it stands in slurmrestd's paths and in the configuration.
std::string word_of(ApiVersion version);
// nullopt: Margay does not know this version.
std::optional<ApiVersion> parse_api_version(const std::string& word);
// All of them, newest first.
const std::vector<ApiVersion>& api_versions();
// All of them for a message: "v0.0.44, v0.0.43, ...".
std::string known_api_versions();
// Whether this version has been tested against a real slurmrestd. The others are written from their
// documents alone.
bool was_seen(ApiVersion version);

}  // namespace slurm
