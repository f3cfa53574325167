// The site's configuration: one YAML file, read and checked once at start; unknown keys are
// refused. Constant afterwards, so that any thread may read it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/words.h"
#include "db/records.h"
#include "scheduler/config/cluster_kind.h"
#include "scheduler/config/limits.h"
#include "scheduler/config/retention.h"
#include "scheduler/config/width.h"
#include "slurm/cluster_options.h"
#include "slurm/machine_gpus.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {

// The message names the file and the key; margayd exits with 78.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// GPUs that the configuration names are missing, perhaps only for now: the same start may succeed
// later.
class GpusMissing : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

// Which maps of a finished search are kept: all; only mip.mrc and scaled_mip.mrc; none.
enum class ResultsKeep { kAll, kScores, kPeaks };
// Who may read an item's folder besides the daemon's user and group.
enum class ResultsReaders { kOwnerAndGroup, kOwner };

struct LocalOptions {
  int slots = 1;            // searches at once on the processors, where there is no GPU
  slurm::GpuChoice gpus{};  // which of the machine's GPUs are for searches
  int gpus_per_search = 1;
  int threads = 0;  // of each search for each of its GPUs; 0: all cores, divided among them
  // Time limit of a search's first attempt, seconds; retries may get more; -1: none.
  int64_t time = -1;
  // The machine's GPUs that `gpus` chooses, found at each start and reload (find_local_gpus); the
  // note says how they were found, if the administrator should know.
  std::vector<slurm::Gpu> found{};
  std::string found_note{};
  // The jobs' folder of another local cluster that uses the same GPUs: the daemon's, for the
  // cluster of the doctor's job.
  std::string neighbour{};

  int gpus_of_search() const { return found.empty() ? 0 : gpus_per_search; }
  // How many searches run at once.
  int searches() const {
    return found.empty() ? slots : static_cast<int>(found.size()) / gpus_per_search;
  }
};

enum class Transport { kRest, kCli };
// The resources of a job; the script template of a shape is <shape>.sbatch.
enum class Shape { kCpu, kGpu, kNode, kNodes };
inline constexpr base::Words<Shape, 4> kShapes = {
    {{Shape::kCpu, "cpu"}, {Shape::kGpu, "gpu"}, {Shape::kNode, "node"}, {Shape::kNodes, "nodes"}}};
inline std::string to_string(Shape shape) { return base::word_of(kShapes, shape); }
// What starts the ranks in the shapes node and nodes: Slurm, with one task for each rank; or one
// task on each node, which starts all ranks of that node.
enum class RankLauncher { kTask, kNode };
// The engine's backend in a Slurm job. Auto: GPUs when the job asks for some, else CPUs; it never
// depends on which devices the node happens to have.
enum class EngineBackend { kAuto, kCuda, kCpu };

constexpr int kFewestPending = 4;  // least max_pending when it is 0

// Slurm, from the section `slurm` of the configuration; used when `cluster: slurm`.
struct SlurmOptions {
  Transport transport = Transport::kRest;
  slurm::AccessOptions access{};
  slurm::HttpOptions http{};  // `timeout` also applies to each command
  std::string user{};         // the user to act as; empty: the token's
  std::string token_file{};   // file with the JWT
  std::string api_version{};
  std::string commands{};  // folder of sbatch and the others, for transport: cli
  int max_jobs = 64;       // Margay's jobs in Slurm at once, running or waiting
  int max_pending =
      0;  // waiting there at once, for each class; 0: max(kFewestPending, running / 4)
  Shape shape = Shape::kGpu;
  bool shape_given = false;  // the configuration names a shape: all but urgent items get it
  std::optional<Shape> urgent_shape{};       // widest shape for urgent items; unset: `shape`
  int gpus_per_node = 4;                     // for the shapes node and nodes
  int nodes = 4;                             // for the shape nodes
  std::map<Shape, std::string> gpu_types{};  // by shape, as gres names them: "h200"; none: any
  RankLauncher launcher = RankLauncher::kTask;
  EngineBackend backend = EngineBackend::kAuto;
  int64_t longest_time = -1;    // longest time limit that a retry may get, seconds; -1: no bound
  int64_t largest_memory = -1;  // most memory of a node that a retry asks for, MB; -1: no bound
  slurm::Directives options{};  // for every job
  std::map<Shape, slurm::Directives> shape_options{};  // for one shape; override `options`
  // Options that users other than root and the daemon's own may give with an item. All jobs run as
  // one Slurm user, so the site decides what that user may charge (account, QOS, reservation,
  // nice).
  std::set<std::string> user_options = {
      "begin",         "constraint",    "cpus-per-task", "deadline", "exclusive", "gpus",
      "gpus-per-node", "gpus-per-task", "gres",          "licenses", "mail-type", "mail-user",
      "mem",           "mem-per-cpu",   "mem-per-gpu",   "nodes",    "ntasks",    "ntasks-per-node",
      "partition",     "time"};
  std::vector<std::string> setup{};  // shell lines before the engine: module loads
};

// Settings of one class. Widths are numbers of nodes; 0: one GPU.
struct ClassOptions {
  slurm::Directives options{};        // for its jobs; override those of their shape
  std::optional<int> least{};         // no job is narrower
  std::optional<int> cap{};           // no job is wider,
  std::optional<int> deadline_cap{};  // unless only this meets its deadline
  std::optional<double> least_efficiency{};
  // The share of the GPUs, 0 to 1, that the class gets even while more urgent items wait; unset:
  // the documented one.
  std::optional<double> floor{};
};
constexpr int kMostNodes = 100'000;

// Fixed: each item gets `slurm.shape` or `slurm.urgent_shape`. Chosen: the policy chooses its
// width.
enum class WidthsBy { kFixed, kChosen };

// How many items each Unix group may make urgent in a week.
struct UrgentTokens {
  int of_each = 0;                        // for a group that is not named
  std::map<std::string, int> of_group{};  // for named groups
};

// The section `policy` of the configuration.
struct PolicyOptions {
  WidthsBy widths = WidthsBy::kChosen;
  std::map<db::Priority, ClassOptions> classes{};
  // How long a bulk job runs before it stops with a checkpoint, so that its GPUs come free for
  // others; 0: until its search is done.
  std::optional<std::chrono::milliseconds> segment{};
  // Who may make items urgent: users, and groups as "@name"; unset: everyone. It is always set
  // where groups have tokens.
  std::optional<std::set<std::string>> urgent_allow{};
  UrgentTokens urgent_tokens{};
  // The share of the GPUs of each Unix group, in proportion to the others'; a group that is not
  // named has 1.
  std::map<std::string, double> shares{};

  // The class's options; empty when it has none.
  slurm::Directives options_of(db::Priority priority) const;
};

inline constexpr std::chrono::milliseconds kUsualSegment = std::chrono::hours(1);

struct Intervals {
  std::chrono::milliseconds tick{1000};
  // How long after an unanswered submission its job is looked up by name; 0: the cluster's own
  // value.
  std::chrono::milliseconds resolve{0};
  // How long a job must be missing from complete snapshots to count as vanished.
  std::chrono::milliseconds vanish_pending{120'000};
  std::chrono::milliseconds vanish_running{300'000};
  // First wait before a retry; it doubles with each retry up to retry_longest.
  std::chrono::milliseconds retry{60'000};
  std::chrono::milliseconds retry_longest{3'600'000};
  // A search without progress for this long, and for ten times its longest batch, counts as stalled
  // and its job is ended; 0: never.
  std::chrono::milliseconds stall{600'000};
  // Time that a finished job's files have to appear on a shared file system (Slurm only).
  std::chrono::milliseconds files{60'000};
  // How long a failure counts against its host (key `strikes`).
  std::chrono::milliseconds host_failures{86'400'000};
};

// The least important lines that margayd's log has.
enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct Config {
  std::string state;  // folder: margay.db, margay.sock, jobs/
  // The folder with one folder for each attempt; where jobs run on other machines, it must lie on a
  // file system that they share. Empty: <state>/jobs.
  std::string jobs_folder{};
  std::string socket;        // default <state>/margay.sock
  std::string socket_group;  // empty: the daemon's own group
  std::string engine;        // margay-engine; default beside margayd
  std::string job{};         // margay-job; empty: beside the engine
  std::string templates;     // folder of script templates; default: the one that came with margayd
  ClusterKind cluster = ClusterKind::kLocal;
  LocalOptions local;
  SlurmOptions slurm;
  PolicyOptions policy;
  LogLevel log_level = LogLevel::kInfo;
  Intervals intervals;
  Limits limits;
  std::chrono::milliseconds checkpoint_every{600'000};
  ResultsKeep keep = ResultsKeep::kAll;
  ResultsReaders readers = ResultsReaders::kOwnerAndGroup;
  Retention retention;
  // Correlations per second of one device on an image of 4096 x 4096, by its model: used until a
  // search has been measured.
  std::map<std::string, double> rates{};

  std::chrono::milliseconds resolve_grace() const {
    return intervals.resolve.count() > 0 ? intervals.resolve : facts_of(cluster).resolve;
  }
  std::string job_program() const;
  std::string database() const { return state + "/margay.db"; }
  std::string jobs() const { return jobs_folder.empty() ? state + "/jobs" : jobs_folder; }
};

// Whether a search of this shape is one task on one node, whatever its job reserves.
inline bool has_one_task(Shape shape) { return shape == Shape::kCpu || shape == Shape::kGpu; }

// What a job of this shape gets.
Width width_of(const SlurmOptions& slurm, Shape shape);

// A job's script template and the width that the job gets.
struct JobShape {
  Shape shape = Shape::kGpu;
  Width width{};
  std::optional<db::Priority> priority{};  // class whose options it asks for; unset: none
  std::optional<db::Priority> nice_of{};   // class whose `nice` it gets instead, if set
};
// "nodes", "nodes, class urgent"
std::string to_string(const JobShape& job);
JobShape job_shape_of(const SlurmOptions& slurm, Shape shape);
// The shape of items of this class, with the class's options.
JobShape class_shape_of(const SlurmOptions& slurm, db::Priority priority);
// The site's own shape if it has this width, otherwise the one that fits the width.
JobShape job_shape_of(const SlurmOptions& slurm, const Width& width);

}  // namespace scheduler
