// The site's configuration: one YAML file, checked once. Unknown keys are refused.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

namespace scheduler {

// Names the file and the key; margayd exits with 78.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What remains of a finished search: everything; mip.mrc and scaled_mip.mrc of the maps; no map.
enum class ResultsKeep { kAll, kScores, kPeaks };

struct LocalOptions {
  int slots = 1;
  int threads = 0;  // of each search; 0 = all cores / slots
};

struct Intervals {
  std::chrono::milliseconds tick{1000};
  // A submission without an answer is looked up by name after this grace.
  std::chrono::milliseconds resolve{5000};
  // Absence from complete snapshots before a job counts as vanished.
  std::chrono::milliseconds vanish_pending{120'000};
  std::chrono::milliseconds vanish_running{300'000};
  // First wait before another try; doubled up to retry_longest.
  std::chrono::milliseconds retry{60'000};
  std::chrono::milliseconds retry_longest{3'600'000};
};

struct Config {
  std::string state;         // folder: margay.db, margay.sock, jobs/
  std::string socket;        // default <state>/margay.sock
  std::string socket_group;  // empty: the daemon's own group
  std::string engine;        // margay-engine; default beside margayd
  std::string templates;     // folder of script templates; default: the one that came with margayd
  std::string cluster = "local";
  LocalOptions local;
  Intervals intervals;
  std::chrono::milliseconds checkpoint_every{600'000};
  ResultsKeep keep = ResultsKeep::kAll;

  std::string database() const { return state + "/margay.db"; }
  std::string jobs() const { return state + "/jobs"; }
};

// "500ms", "2s", "10m", "1h"; nullopt for anything else.
std::optional<std::chrono::milliseconds> parse_duration(const std::string& text);

// Throws ConfigError.
Config read_config(const std::string& path);
Config parse_config(const std::string& yaml, const std::string& name);

// Paths made absolute, defaults that depend on others filled in, ranges checked.
// `program_folder` is where margayd lies.
void complete_config(Config& config, const std::string& program_folder);

}  // namespace scheduler
