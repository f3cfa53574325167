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

// GPUs that the configuration names are not there, or not yet: the same start may succeed later.
class GpusMissing : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

// What is kept of a finished search: all maps; only mip.mrc and scaled_mip.mrc; no map.
enum class ResultsKeep { kAll, kScores, kPeaks };
// Who reads the folder of an item besides the daemon's user and group.
enum class ResultsReaders { kOwnerAndGroup, kOwner };

struct LocalOptions {
  int slots = 1;            // searches at once on the processor, where there is no GPU
  slurm::GpuChoice gpus{};  // which of the machine's GPUs are for searches
  int gpus_per_search = 1;
  int threads = 0;    // of each search, and of each of its GPUs; 0 = all cores, divided by these
  int64_t time = -1;  // seconds of a search's first attempt; retries may get more; -1: no limit
  // The machine's GPUs that `gpus` chooses, found at each start and reload (find_local_gpus), and
  // how they were found, where that is worth saying.
  std::vector<slurm::Gpu> found{};
  std::string found_note{};
  // The folder of jobs of another local cluster that gives out the same GPUs: beside the daemon's,
  // of the doctor's job.
  std::string neighbour{};

  int gpus_of_search() const { return found.empty() ? 0 : gpus_per_search; }
  // Searches at once.
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
// What starts the ranks of the shapes node and nodes: Slurm, one task for each rank; or one task on
// each node, which starts all ranks of that node.
enum class RankLauncher { kTask, kNode };
// The engine's backend in a Slurm job. Auto: GPUs when the job asks for some, else CPUs; never
// whatever happens to be found on the node.
enum class EngineBackend { kAuto, kCuda, kCpu };

constexpr int kFewestPending = 4;  // where max_pending is 0

// Slurm, from the section `slurm` of the configuration; used when `cluster: slurm`.
struct SlurmOptions {
  Transport transport = Transport::kRest;
  slurm::AccessOptions access{};
  slurm::HttpOptions http{};  // its `timeout` is each command's, too
  std::string user{};         // the user to act as; empty: the token's
  std::string token_file{};   // holds the JWT
  std::string api_version{};
  std::string commands{};  // folder of sbatch and the others, for transport: cli
  int max_jobs = 64;       // Margay's jobs in Slurm at once, running or waiting
  int max_pending =
      0;  // waiting there at once, for each class; 0: max(kFewestPending, running / 4)
  Shape shape = Shape::kGpu;
  bool shape_given = false;                  // by the configuration: all but urgent items get it
  std::optional<Shape> urgent_shape{};       // the widest for urgent items; empty: `shape`
  int gpus_per_node = 4;                     // for the shapes node and nodes
  int nodes = 4;                             // for the shape nodes
  std::map<Shape, std::string> gpu_types{};  // by shape, as gres names them: "h200"; none: any
  RankLauncher launcher = RankLauncher::kTask;
  EngineBackend backend = EngineBackend::kAuto;
  int64_t longest_time = -1;    // seconds that a time limit is stretched to at most; -1: no bound
  int64_t largest_memory = -1;  // megabytes of a node that a retry asks for at most; -1: no bound
  slurm::Directives options{};  // for every job
  std::map<Shape, slurm::Directives> shape_options{};  // for one shape, over `options`
  // Options that users other than root and the daemon's own may give with an item. All jobs run as
  // one user of Slurm: what that user may charge (account, QOS, reservation, nice) is the site's to
  // grant.
  std::set<std::string> user_options = {
      "begin",         "constraint",    "cpus-per-task", "deadline", "exclusive", "gpus",
      "gpus-per-node", "gpus-per-task", "gres",          "licenses", "mail-type", "mail-user",
      "mem",           "mem-per-cpu",   "mem-per-gpu",   "nodes",    "ntasks",    "ntasks-per-node",
      "partition",     "time"};
  std::vector<std::string> setup{};  // shell lines before the engine: module loads
};

// Of one class. Widths are numbers of nodes; 0: one GPU.
struct ClassOptions {
  slurm::Directives options{};        // what its jobs ask for over what all of their shape do
  std::optional<int> least{};         // no job is narrower,
  std::optional<int> cap{};           // or wider,
  std::optional<int> deadline_cap{};  // unless only this meets its deadline
  std::optional<double> least_efficiency{};
  // The share of the GPUs that the class gets whatever waits above it; unset: the documented one.
  std::optional<double> floor{};
};
constexpr int kMostNodes = 100'000;

// Whether each item gets `slurm.shape` or `slurm.urgent_shape`, or the width that the policy
// chooses.
enum class WidthsBy { kFixed, kChosen };

// How many items each Unix group may make urgent in a week.
struct UrgentTokens {
  int of_each = 0;                        // of a group that is not named
  std::map<std::string, int> of_group{};  // of those that are
};

// From the section `policy` of the configuration.
struct PolicyOptions {
  WidthsBy widths = WidthsBy::kChosen;
  std::map<db::Priority, ClassOptions> classes{};
  // How long a bulk job runs before it stops with a checkpoint, so that its GPUs come free for
  // others; 0: until its search is done.
  std::optional<std::chrono::milliseconds> segment{};
  // Who may make items urgent: users, and groups as "@name"; none: everybody. Where groups have
  // tokens for it, it is not none.
  std::optional<std::set<std::string>> urgent_allow{};
  UrgentTokens urgent_tokens{};
  // The share of the GPUs of each Unix group, in proportion to the others'; 1 for one not named.
  std::map<std::string, double> shares{};

  // Empty for a class without options.
  slurm::Directives options_of(db::Priority priority) const;
};

inline constexpr std::chrono::milliseconds kUsualSegment = std::chrono::hours(1);

struct Intervals {
  std::chrono::milliseconds tick{1000};
  // A submission without an answer is looked up by name after this time; 0: the cluster's own.
  std::chrono::milliseconds resolve{0};
  // Absence from complete snapshots after which a job counts as vanished.
  std::chrono::milliseconds vanish_pending{120'000};
  std::chrono::milliseconds vanish_running{300'000};
  // First wait before a retry; doubled up to retry_longest.
  std::chrono::milliseconds retry{60'000};
  std::chrono::milliseconds retry_longest{3'600'000};
  // A search without progress for this long, and for ten times its longest batch, counts as stalled
  // and its job is ended; 0: none does.
  std::chrono::milliseconds stall{600'000};
  // Time that a finished job's files have to appear on a shared file system (Slurm only).
  std::chrono::milliseconds files{60'000};
  // How long a failure counts against its host (key `strikes`).
  std::chrono::milliseconds host_failures{86'400'000};
};

struct Config {
  std::string state;  // folder: margay.db, margay.sock, jobs/
  // Holds one folder for each attempt; where jobs run on other machines, it lies on a file system
  // that they share. Empty: <state>/jobs.
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
  Intervals intervals;
  Limits limits;
  std::chrono::milliseconds checkpoint_every{600'000};
  ResultsKeep keep = ResultsKeep::kAll;
  ResultsReaders readers = ResultsReaders::kOwnerAndGroup;
  Retention retention;
  // Correlations per second of one device on an image of 4096 x 4096, by its model: used until a
  // search has finished.
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

// A job's script template, and what the job is to get.
struct JobShape {
  Shape shape = Shape::kGpu;
  Width width{};
  std::optional<db::Priority> priority{};  // of the class whose options it asks for; none: of none
  std::optional<db::Priority> nice_of{};   // and its `nice`, if that is another class's
};
// "nodes", "nodes, class urgent"
std::string to_string(const JobShape& job);
JobShape job_shape_of(const SlurmOptions& slurm, Shape shape);
// What items of this class get, with its options.
JobShape class_shape_of(const SlurmOptions& slurm, db::Priority priority);
// The site's own shapes where they have this width, else the one that fits it.
JobShape job_shape_of(const SlurmOptions& slurm, const Width& width);

}  // namespace scheduler
