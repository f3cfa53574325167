#include "scheduler/results/manifest_result.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "scheduler/files/attempt_folder.h"
#include "scheduler/results/job_json.h"

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

constexpr size_t kLongestMessage = 1000;

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
  if (base::whole_number<int>(manifest, "format") != 1) {
    return "is of a format that this margayd cannot read";
  }
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

std::string refuse_counts(const Json& manifest) {
  const auto peaks = base::whole_number<int64_t>(manifest.at("peaks"), "count");
  const auto correlations = base::whole_number<int64_t>(manifest.at("counts"), "correlations");
  return peaks < 0 || correlations < 0 ? "has a negative number of peaks or correlations" : "";
}

std::string refuse_outputs(const Json& manifest, const std::string& folder) {
  for (const auto& [output, file] : kOutputs) {
    const auto bytes = base::whole_number<uintmax_t>(manifest.at("outputs").at(output), "bytes");
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
  result.peaks = base::whole_number<int64_t>(peaks, "count");
  result.cutoff = peaks.at("cutoff").get<double>();
  // Not a number (JSON null) when the map has no pixel with a deviation.
  if (peaks.at("best_z").is_number()) result.best_z = peaks.at("best_z").get<double>();
  result.correlations = base::whole_number<int64_t>(manifest.at("counts"), "correlations");
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

}  // namespace

ManifestReading read_manifest(const db::Attempt& attempt, const db::Template& search_template,
                              int64_t now) {
  try {
    const auto manifest = read_job_json(attempt.directory, kManifestFile, kLongestManifest);
    if (!manifest) return {};
    std::string problem = refuse_identity(*manifest, attempt, search_template);
    if (problem.empty()) problem = refuse_counts(*manifest);
    if (problem.empty()) problem = refuse_outputs(*manifest, attempt.directory);
    if (!problem.empty()) return refused(problem);
    return {.witness = ManifestWitness::kAccepted,
            .problem = "",
            .result = result_of(*manifest, attempt, now),
            .micrograph_sha256 = manifest->at("inputs").at("micrograph").at("sha256")};
  } catch (const base::UnfitFile& error) {
    return refused(error.what());
  } catch (const Json::exception&) {
    return refused(
        "'" + attempt.directory + "/" + kManifestFile +
        "' is damaged: it lacks a field that margay-engine writes, or has one of another "
        "type or a number out of range");
  }
}

std::optional<ProgressSeen> progress_seen(const std::string& folder) {
  try {
    const auto progress = read_job_json(folder, kProgressFile, kLongestProgress);
    if (!progress || !progress->is_object()) return std::nullopt;
    const auto number = [&](const char* key) {
      return base::as_whole_number<int64_t>(progress->value(key, Json()));
    };
    const std::optional<int64_t> done = number("done");
    if (!done || *done < 0) return std::nullopt;
    const bool has_state = progress->contains("state") && progress->at("state").is_string();
    return ProgressSeen{.done = *done,
                        .total = number("total").value_or(0),
                        .state = has_state ? progress->at("state").get<std::string>() : ""};
  } catch (const base::UnfitFile&) {
    return std::nullopt;  // what the engine did not write reports no progress
  }
}

int64_t done_units(const std::string& folder) {
  const auto progress = progress_seen(folder);
  return progress ? progress->done : 0;
}

// With the manifest, the engine's configuration says what the maps are of.
bool is_result_file(const std::string& name) {
  if (name == kManifestFile || name == kEngineConfigFile || name.ends_with(".png")) return true;
  return std::any_of(kOutputs.begin(), kOutputs.end(),
                     [&](const auto& output) { return name == output.second; });
}

void remove_leftovers(const std::string& folder, ResultsKeep keep) {
  fs::remove(folder + "/" + kCheckpointFile);
  for (const auto& [output, file] : kOutputs) {
    if (!is_kept(output, keep)) fs::remove(folder + "/" + file);
  }
}

void remove_all_but_records(const std::string& folder) {
  static const std::set<std::string> records = {kScriptFile,   kEngineConfigFile, kLogFile,
                                                kManifestFile, kFailedHostFile,   kClaimFolder};
  if (!fs::exists(folder)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (records.count(entry.path().filename()) == 0) fs::remove_all(entry.path());
  }
}

std::string last_error(const std::string& log) {
  const std::string program = "margay-engine: ";
  const size_t at = ("\n" + log).rfind("\n" + program);
  const bool said = at != std::string::npos;
  std::string text = said ? log.substr(at + program.size(), kLongestMessage) : log;
  text.resize(text.find_last_not_of(" \t\r\n") + 1);
  // A message of the engine may go over several lines, since a file name may.
  return said ? text : text.substr(text.find_last_of("\r\n") + 1);
}

}  // namespace scheduler
