#include "slurm/api_version.h"

#include "base/words.h"

namespace slurm {
namespace {

// Newest first.
constexpr base::Words<ApiVersion, 6> kVersions = {{{ApiVersion::kV44, "v0.0.44"},
                                                   {ApiVersion::kV43, "v0.0.43"},
                                                   {ApiVersion::kV42, "v0.0.42"},
                                                   {ApiVersion::kV41, "v0.0.41"},
                                                   {ApiVersion::kV40, "v0.0.40"},
                                                   {ApiVersion::kV38, "v0.0.38"}}};

}  // namespace

std::string word_of(ApiVersion version) { return base::word_of(kVersions, version); }

std::optional<ApiVersion> parse_api_version(const std::string& word) {
  return base::value_of(kVersions, word);
}

const std::vector<ApiVersion>& api_versions() {
  static const std::vector<ApiVersion> versions = [] {
    std::vector<ApiVersion> all;
    for (const auto& [version, word] : kVersions) all.push_back(version);
    return all;
  }();
  return versions;
}

std::string known_api_versions() {
  std::vector<std::string> words;
  for (const auto& [version, word] : kVersions) words.emplace_back(word);
  return base::joined(words);
}

bool was_seen(ApiVersion version) { return version <= ApiVersion::kV42; }

}  // namespace slurm
