// Where scripts run. One interface for slurmrestd, Slurm's commands and child processes of this
// machine. A Cluster is called from one thread. Its calls may block for as long as the cluster's
// time-out. Refusals and missing answers are in the return values; a method throws only where its
// comment says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slurm {

// What a job asks of the cluster is in the #SBATCH lines of its script (directives.h) and nowhere
// else, so that the same text works by hand with sbatch. Only what Margay itself sets is here.
struct JobRequest {
  std::string name;         // the attempt's token, unique for ever
  std::string comment{};    // small JSON for the administrator; not every cluster keeps it
  std::string script;       // rendered text
  std::string directory;    // working folder, exists
  std::string output_path;  // stdout and stderr of the script
  std::map<std::string, std::string> environment{};
  bool hold = false;  // the job does not start before release()
};

enum class SubmitOutcome {
  kAccepted,  // job_id is set
  kRejected,  // proven refused: `message` has the reason
  kUnknown,   // no or unclear answer: the job may or may not exist
};

// What was wrong with a refused job.
enum class Refusal {
  kNone,
  kJob,            // the cluster does not have what the job asks for: nodes, GPUs, memory
  kConfiguration,  // partition, account, QOS, token, a field that the cluster does not know
  kBusy,           // a limit of the moment: try again later
};

struct SubmitResult {
  static SubmitResult rejected(Refusal about, const std::string& message) {
    return {
        .outcome = SubmitOutcome::kRejected, .job_id = "", .message = message, .refusal = about};
  }
  static SubmitResult unknown(const std::string& message) {
    return {.outcome = SubmitOutcome::kUnknown, .job_id = "", .message = message};
  }

  SubmitOutcome outcome = SubmitOutcome::kUnknown;
  std::string job_id;
  std::string message;
  Refusal refusal = Refusal::kNone;     // set for kRejected
  std::vector<std::string> warnings{};  // with any outcome
};

// A new word of Slurm's for one of these is added in job_states.cpp; a new state, here, in
// is_over() and in judge_job() (scheduler/states/transition.cpp).
enum class JobState {
  kPending,
  kRunning,
  kCompleting,
  kCompleted,  // exit code 0
  kFailed,     // exit code not 0, or a signal
  kTimeout,
  kOutOfMemory,
  kNodeFail,  // the machine failed or restarted, or the job vanished without an exit record
  kPreempted,
  kCancelled,
  kUnknownAlive,  // a word that Margay does not know: the job counts as alive
};

struct JobStatus {
  std::string job_id;
  std::string name;
  JobState state = JobState::kUnknownAlive;
  std::string words{};  // the cluster's words for the state, joined by '+': "CANCELLED+COMPLETING"
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string reason;  // the cluster's own word, for the user
  std::string host;    // a host, or a list of hosts in Slurm's notation; empty before it has any
  int64_t submit_time = 0;  // seconds since the epoch; 0: not known
  int64_t start_time = 0;
  int64_t end_time = 0;
  int restarts = 0;           // how often it was requeued under the same id
  bool held = false;          // pending, and will not start until it is released
  std::optional<int> gpus{};  // that it asks for in all; unset when the cluster does not say
  // Set for a cancelled job in accounting's records that names nobody who cancelled it. slurmdbd
  // closes jobs in this way when a controller was started without them.
  bool cancelled_by_nobody = false;
};

// All jobs of this Margay instance at one time.
struct Snapshot {
  bool complete = false;  // otherwise the absence of a job means nothing
  std::string problem;    // why it is not complete, for the user
  std::vector<JobStatus> jobs;
  bool fresh = true;  // asked for just now; false: the last one again, since the next is not due
};

// One line of `margay doctor`.
struct Finding {
  enum class Level { kGood, kWarning, kBad };
  Level level = Level::kGood;
  std::string subject;   // "slurmrestd", "token", "partition 'gpu'"
  std::string says;      // what was found
  std::string advice{};  // what to do about it; empty when kGood
};

// What a job of one shape asks of its partition and of each node. 0: the cluster's default.
struct ShapeNeeds {
  std::string shape{};                 // "gpu"
  std::set<std::string> partitions{};  // alternatives; empty: the default one
  std::string account{};
  std::string qos{};
  int64_t minutes = 0;  // -1: unlimited
  int nodes = 1;        // at least
  int64_t cpus = 0;
  int64_t memory_mb = 0;
  int gpus = 0;
  int waiting = 1;  // jobs that Margay lets wait in Slurm at once
  int jobs = 1;     // jobs that Margay may have in Slurm at once, running ones included
  // The setting from which each need comes: "time" -> "slurm.options.time". Names: partition,
  // account, qos, time, nodes, cpus, mem, gpus, jobs.
  std::map<std::string, std::string> sources{};
};

// What the site's configuration and its script templates ask of the cluster.
struct Examination {
  std::set<std::string> partitions{};
  std::set<std::string> accounts{};
  std::set<std::string> qos{};
  bool gpus = false;  // whether any job asks for one
  int nodes = 0;      // slurm.nodes where a shape uses it; 0: none does
  std::vector<ShapeNeeds> shapes{};
  // Time between two of the daemon's listings; 0: the cluster object's own.
  std::chrono::milliseconds poll{0};
};

struct ClusterFacts;  // cluster_facts.h

class Cluster {
 public:
  virtual ~Cluster() = default;
  virtual SubmitResult submit(const JobRequest& request) = 0;
  // Lets a job that was submitted held start. Returns false when it was not released: call again.
  virtual bool release(const std::string& job_id) = 0;
  // All jobs of this instance in one call, finished ones included as long as they are remembered.
  virtual Snapshot states() = 0;
  // The state of one job now, without a listing. nullopt: it was not found, there was no answer, or
  // this kind of cluster has no queue in which a job could wait.
  virtual std::optional<JobState> look(const std::string& job_id) {
    (void)job_id;
    return std::nullopt;
  }
  // Every job of that name in the last complete snapshot and in accounting, finished ones included.
  // nullopt: there is no complete snapshot yet, or accounting did not answer.
  virtual std::optional<std::vector<JobStatus>> find_by_name(const std::string& name) = 0;
  // Ends the job: SIGTERM, time to write a checkpoint, then SIGKILL. Returns at once: true when
  // there is nothing left to stop; false: call again.
  virtual bool cancel(const std::string& job_id) = 0;
  // Asks the engine to write a checkpoint and stop (SIGUSR1). Returns false when the engine was not
  // asked.
  virtual bool signal_stop(const std::string& job_id) = 0;
  // The result is stored: the cluster may forget the job.
  virtual void forget(const std::string& job_id) = 0;
  // How many more requests the site's limit of requests per minute allows now. A call beyond the
  // limit is refused without being sent.
  virtual int allowance() = 0;
  // How many machines the cluster has; 0: not known.
  virtual int nodes() = 0;
  // Nodes, partitions and everybody's jobs, for a planner. Each call makes a few requests, the same
  // number however many jobs there are, and none beyond allowance().
  virtual ClusterFacts facts() = 0;
  // facts() and the limits of QOS and associations on these jobs, where the cluster has such
  // limits.
  virtual ClusterFacts facts_with_limits();
  // Whether the cluster would take this job and when it would start, in its own words; nothing is
  // submitted. Throws std::runtime_error when this kind of cluster has no such request.
  virtual std::string test_only(const JobRequest& request) = 0;
  // Checks everything about this cluster that can be wrong. May take a minute.
  virtual std::vector<Finding> examine(const Examination& what) = 0;
  // One line for `margay status`.
  virtual std::string describe() const = 0;
};

}  // namespace slurm
