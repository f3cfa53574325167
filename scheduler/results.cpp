#include "scheduler/results.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "scheduler/attempt_folder.h"
#include "scheduler/files.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array<std::pair<const char*, const char*>, 9> kOutputs = {{
    {"mip", "mip.mrc"},
    {"scaled_mip", "scaled_mip.mrc"},
    {"correlation_average", "mean.mrc"},
    {"correlation_variance", "sd.mrc"},
    {"orientation_psi", "psi.mrc"},
    {"orientation_theta", "theta.mrc"},
    {"orientation_phi", "phi.mrc"},
    {"relative_defocus", "defocus.mrc"},
    {"peaks_csv", kPeaksFile},
}};

bool is_kept(const std::string& output, ResultsKeep keep) {
  if (output == "peaks_csv") return true;
  switch (keep) {
    case ResultsKeep::kAll:
      return true;
    case ResultsKeep::kScores:
      return output == "mip" || output == "scaled_mip";
    case ResultsKeep::kPeaks:
      return false;
  }
  return true;
}

std::string refuse_identity(const Json& manifest, const db::Attempt& attempt,
                            const db::Template& search_template) {
  if (manifest.at("format").get<int>() != 1) return "is of a format that this margayd cannot read";
  if (manifest.at("status") != "done") return "does not say that the search is done";
  if (manifest.at("attempt") != attempt.token) {
    return "is of attempt '" + manifest.at("attempt").get<std::string>() + "'";
  }
  const Json& inputs = manifest.at("inputs");
  if (inputs.at("configuration").at("sha256") != attempt.config_sha256) {
    return "is of another configuration than the one that was submitted";
  }
  if (inputs.at("template").at("sha256") != search_template.volume_sha256) {
    return "is of another template volume than the registered one: '" +
           search_template.volume_path + "' changed; register it again";
  }
  return "";
}

std::string refuse_outputs(const Json& manifest, const std::string& folder) {
  for (const auto& [output, file] : kOutputs) {
    const auto bytes = manifest.at("outputs").at(output).at("bytes").get<uintmax_t>();
    std::error_code error;
    const uintmax_t found = fs::file_size(folder + "/" + file, error);
    if (error) return std::string("names ") + file + ", which is not there";
    if (found != bytes) return std::string("names ") + file + ", which has another size";
  }
  return "";
}

db::Result result_of(const Json& manifest, const db::Attempt& attempt, int64_t now) {
  db::Result result;
  result.item_id = attempt.item_id;
  result.attempt_id = attempt.id;
  result.manifest_path = attempt.directory + "/" + kManifestFile;
  result.peaks_csv = attempt.directory + "/" + kPeaksFile;
  const Json& peaks = manifest.at("peaks");
  result.peaks = peaks.at("count").get<int64_t>();
  result.cutoff = peaks.at("cutoff").get<double>();
  // Not a number (JSON null) when the map has no pixel with a deviation.
  if (peaks.at("best_z").is_number()) result.best_z = peaks.at("best_z").get<double>();
  result.correlations = manifest.at("counts").at("correlations").get<int64_t>();
  for (const char* part :
       {"read_seconds", "preprocess_seconds", "search_seconds", "write_seconds"}) {
    result.seconds += manifest.at("timings").at(part).get<double>();
  }
  result.manifest_json = manifest.dump(-1, ' ', false, Json::error_handler_t::replace);
  result.stored = now;
  return result;
}

ManifestReading refused(const std::string& why) {
  return {.witness = ManifestWitness::kRefused, .problem = "its manifest " + why, .result = {}};
}

std::string without_prefix(std::string line, const std::string& prefix) {
  if (line.rfind(prefix, 0) == 0) line.erase(0, prefix.size());
  return line;
}

bool says_error(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return line.find("error") != std::string::npos || line.rfind("margay-engine:", 0) == 0;
}

}  // namespace

ManifestReading read_manifest(const db::Attempt& attempt, const db::Template& search_template,
                              int64_t now) {
  const auto text = read_file(attempt.directory + "/" + kManifestFile);
  if (!text) return {};
  try {
    const Json manifest = Json::parse(*text);
    std::string problem = refuse_identity(manifest, attempt, search_template);
    if (problem.empty()) problem = refuse_outputs(manifest, attempt.directory);
    if (!problem.empty()) return refused(problem);
    return {.witness = ManifestWitness::kAccepted,
            .problem = "",
            .result = result_of(manifest, attempt, now)};
  } catch (const Json::exception& error) {
    return refused(std::string("is damaged: ") + error.what());
  }
}

void remove_leftovers(const std::string& folder, ResultsKeep keep) {
  fs::remove(folder + "/" + kCheckpointFile);
  for (const auto& [output, file] : kOutputs) {
    if (!is_kept(output, keep)) fs::remove(folder + "/" + file);
  }
}

std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  std::string line;
  std::string last;
  while (std::getline(lines, line)) {
    // A progress bar overwrites itself.
    if (const size_t bar = line.find_last_of('\r'); bar != std::string::npos)
      line.erase(0, bar + 1);
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    last = line;
    if (says_error(line)) break;
  }
  return without_prefix(without_prefix(last, "margay-engine: "), "error: ");
}

}  // namespace scheduler
