#include "slurm/api_version.h"

namespace slurm {
namespace {

struct VersionFacts {
  ApiVersion version;
  const char* word;
  bool seen;
};

// Newest first.
constexpr VersionFacts kVersions[] = {
    {ApiVersion::kV44, "v0.0.44", false}, {ApiVersion::kV43, "v0.0.43", false},
    {ApiVersion::kV42, "v0.0.42", true},  {ApiVersion::kV41, "v0.0.41", true},
    {ApiVersion::kV40, "v0.0.40", true},  {ApiVersion::kV38, "v0.0.38", true},
};

const VersionFacts& facts_of(ApiVersion version) {
  for (const VersionFacts& facts : kVersions) {
    if (facts.version == version) return facts;
  }
  return kVersions[0];
}

}  // namespace

std::string word_of(ApiVersion version) { return facts_of(version).word; }

std::optional<ApiVersion> parse_api_version(const std::string& word) {
  for (const VersionFacts& facts : kVersions) {
    if (word == facts.word) return facts.version;
  }
  return std::nullopt;
}

const std::vector<ApiVersion>& api_versions() {
  static const std::vector<ApiVersion> versions = [] {
    std::vector<ApiVersion> all;
    for (const VersionFacts& facts : kVersions) all.push_back(facts.version);
    return all;
  }();
  return versions;
}

std::string known_api_versions() {
  std::string words;
  for (const VersionFacts& facts : kVersions) {
    words += (words.empty() ? "" : ", ") + std::string(facts.word);
  }
  return words;
}

bool was_seen(ApiVersion version) { return facts_of(version).seen; }

}  // namespace slurm
