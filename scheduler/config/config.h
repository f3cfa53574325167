// The site's configuration: one YAML file, checked once. Unknown keys are refused.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "slurm/cluster_options.h"
#include "slurm/sbatch/directives.h"

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

enum class Transport { kRest, kCli };
// What a job gets: its script template is <shape>.sbatch.
enum class Shape { kCpu, kGpu, kNode, kNodes };
// What starts the ranks of the shapes node and nodes: Slurm, a task for each; or a task on each
// machine, all that are to run there.
enum class RankLauncher { kTask, kNode };
// On what the engine computes in a job of Slurm. Auto: on GPUs when the job asks for some, else on
// CPUs; never whatever is found there.
enum class EngineBackend { kAuto, kCuda, kCpu };

// Slurm, from the section `slurm` of the configuration; used when `cluster: slurm`.
struct SlurmOptions {
  Transport transport = Transport::kRest;
  std::string url{};         // http://host:port, https://..., unix:/path
  std::string user{};        // in whose name; empty: the token's
  std::string token_file{};  // of the JWT
  std::string api_version{};
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds timeout{25'000};
  std::string ca_file{};
  std::string certificate{};
  std::string key{};
  bool verify = true;
  std::string proxy{};
  std::string commands{};  // folder of sbatch and the others, for transport: cli
  std::chrono::milliseconds poll{10'000};
  int requests_per_minute = 120;
  slurm::Accounting accounting = slurm::Accounting::kAuto;
  int max_jobs = 64;    // of ours in Slurm at once, running or waiting there
  int max_pending = 0;  // waiting there at once, for each class; 0: max(4, running / 4)
  Shape shape = Shape::kGpu;
  std::optional<Shape> urgent_shape{};  // of urgent items; none: `shape` for all
  int gpus_per_node = 4;                // of shapes node and nodes
  int nodes = 4;                        // of shape nodes
  RankLauncher launcher = RankLauncher::kTask;
  EngineBackend backend = EngineBackend::kAuto;
  int64_t longest_time = -1;    // seconds that a time limit is stretched to at most; -1: no bound
  slurm::Directives options{};  // for every job
  std::map<Shape, slurm::Directives> shape_options{};  // for one shape, over `options`
  // What a user who is neither root nor the daemon's may give with an item.
  std::set<std::string> user_options = {
      "account",     "begin",     "constraint",    "cpus-per-task", "deadline",
      "exclusive",   "gpus",      "gpus-per-node", "gpus-per-task", "gres",
      "licenses",    "mail-type", "mail-user",     "mem",           "mem-per-cpu",
      "mem-per-gpu", "nice",      "nodes",         "ntasks",        "ntasks-per-node",
      "partition",   "qos",       "reservation",   "time"};
  std::vector<std::string> setup{};  // shell lines before the engine: module loads
};

struct Intervals {
  std::chrono::milliseconds tick{1000};
  // A submission without an answer is looked up by name after this grace.
  // 0: 5 s, on Slurm 30 s, since a controller that hung may create the job that late.
  std::chrono::milliseconds resolve{0};
  // Absence from complete snapshots before a job counts as vanished.
  std::chrono::milliseconds vanish_pending{120'000};
  std::chrono::milliseconds vanish_running{300'000};
  // First wait before another try; doubled up to retry_longest.
  std::chrono::milliseconds retry{60'000};
  std::chrono::milliseconds retry_longest{3'600'000};
  // A finished job's files may be seen later than its end on a shared file system (Slurm only).
  std::chrono::milliseconds files{60'000};
  // How long a failure speaks against the host where it was.
  std::chrono::milliseconds host_failures{86'400'000};
};

struct Config {
  std::string state;  // folder: margay.db, margay.sock, jobs/
  // One folder for each attempt; where jobs run on other machines, on a file system that they
  // share. Empty: <state>/jobs.
  std::string jobs_folder{};
  std::string socket;        // default <state>/margay.sock
  std::string socket_group;  // empty: the daemon's own group
  std::string engine;        // margay-engine; default beside margayd
  std::string templates;     // folder of script templates; default: the one that came with margayd
  std::string cluster = "local";
  LocalOptions local;
  SlurmOptions slurm;
  Intervals intervals;
  std::chrono::milliseconds checkpoint_every{600'000};
  ResultsKeep keep = ResultsKeep::kAll;

  std::chrono::milliseconds resolve_grace() const {
    if (intervals.resolve.count() > 0) return intervals.resolve;
    return std::chrono::seconds(cluster == "slurm" ? 30 : 5);
  }
  std::string database() const { return state + "/margay.db"; }
  std::string jobs() const { return jobs_folder.empty() ? state + "/jobs" : jobs_folder; }
};

// "cpu", "gpu", "node", "nodes"; nullopt for another word.
std::string to_string(Shape shape);
std::optional<Shape> parse_shape(const std::string& word);

// "500ms", "2s", "10m", "1h"; nullopt for anything else.
std::optional<std::chrono::milliseconds> parse_duration(const std::string& text);

// GPUs of a job of this shape; 0: it is for CPUs.
int gpus_of(const SlurmOptions& slurm, Shape shape);

// Throws ConfigError.
Config read_config(const std::string& path);
Config parse_config(const std::string& yaml, const std::string& name);

// Paths made absolute, defaults that depend on others filled in, ranges checked.
// `program_folder` is where margayd lies.
void complete_config(Config& config, const std::string& program_folder);

}  // namespace scheduler
