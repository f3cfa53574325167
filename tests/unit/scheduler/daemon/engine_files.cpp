#include "tests/unit/scheduler/daemon/engine_files.h"

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/sha256.h"
#include "scheduler/files/attempt_folder.h"

namespace tests {
namespace {

const std::vector<std::pair<std::string, std::string>> kOutputs = {
    {"mip", "mip.mrc"},
    {"scaled_mip", "scaled_mip.mrc"},
    {"correlation_average", "mean.mrc"},
    {"correlation_variance", "sd.mrc"},
    {"orientation_psi", "psi.mrc"},
    {"orientation_theta", "theta.mrc"},
    {"orientation_phi", "phi.mrc"},
    {"relative_defocus", "defocus.mrc"},
    {"peaks_csv", "peaks.csv"},
};

// Of the micrograph that the engine's configuration names; empty when it is not there.
std::string micrograph_sha256(const std::string& folder) {
  const std::string key = "micrograph_path: \"";
  std::ifstream config(folder + "/" + scheduler::kEngineConfigFile);
  for (std::string line; std::getline(config, line);) {
    if (!line.starts_with(key)) continue;
    const std::string path = line.substr(key.size(), line.size() - key.size() - 1);
    return std::filesystem::exists(path) ? base::sha256_of_file(path) : "";
  }
  return "";
}

}  // namespace

void leave_engine_files(const std::string& folder, const std::string& token,
                        const std::string& config_sha256) {
  nlohmann::json outputs;
  for (const auto& [output, file] : kOutputs) {
    std::ofstream(folder + "/" + file) << output;
    outputs[output] = {{"bytes", output.size()}};
  }
  const nlohmann::json manifest = {
      {"format", 1},
      {"attempt", token},
      {"status", "done"},
      {"version", "1.0"},
      {"host", "node1"},
      {"device", {{"backend", "cuda"}, {"name", "NVIDIA H200"}, {"threads", 1}}},
      {"other_ranks", nlohmann::json::array()},
      {"inputs",
       {{"configuration", {{"sha256", config_sha256}}},
        {"micrograph", {{"sha256", micrograph_sha256(folder)}, {"height", 4092}, {"width", 5760}}},
        {"template", {{"sha256", base::sha256_of_text("volume")}, {"size", 384}}}}},
      {"counts", {{"correlations", 1000}}},
      {"timings",
       {{"started", "1970-01-01T00:00:05Z"},
        {"finished", "1970-01-01T00:00:20Z"},
        {"correlations_per_second", 1000 / 3.5},
        {"read_seconds", 1.0},
        {"preprocess_seconds", 2.0},
        {"search_seconds", 3.5},
        {"write_seconds", 1.0}}},
      {"peaks", {{"count", 6}, {"cutoff", 6.5}, {"best_z", 9.25}}},
      {"outputs", outputs}};
  std::ofstream(folder + "/manifest.json") << manifest.dump();
}

}  // namespace tests
