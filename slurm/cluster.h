// Where scripts run. One interface, whatever stands behind it: slurmrestd, or child processes of
// this machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slurm {

// What a script asks of the cluster stands in its #SBATCH lines (directives.h), nowhere else, so
// that the same text works by hand with sbatch. What is Margay's own stands here.
struct JobRequest {
  std::string name;         // the attempt's token, unique for ever
  std::string comment{};    // small JSON for the administrator; not every cluster keeps it
  std::string script;       // rendered text
  std::string directory;    // working folder, exists
  std::string output_path;  // stdout and stderr of the script
  std::map<std::string, std::string> environment{};
  bool hold = false;  // does not start before release()
};

enum class SubmitOutcome {
  kAccepted,  // job_id is set
  kRejected,  // proven refused: the message says why
  kUnknown,   // no or unclear answer: the job may or may not exist
};

// What a refusal is about.
enum class Refusal {
  kNone,
  kJob,            // what this job asks for cannot be had: too many nodes, GPUs, too much memory
  kConfiguration,  // partition, account, QOS, token, a field that the cluster does not know
  kBusy,           // a limit of the moment: later
};

struct SubmitResult {
  SubmitOutcome outcome = SubmitOutcome::kUnknown;
  std::string job_id;
  std::string message;
  Refusal refusal = Refusal::kNone;     // of kRejected
  std::vector<std::string> warnings{};  // beside any outcome
};

enum class JobState {
  kPending,
  kRunning,
  kCompleting,
  kCompleted,  // exit code 0
  kFailed,     // exit code not 0, or a signal
  kTimeout,
  kOutOfMemory,
  kNodeFail,  // the machine restarted or the wrapper vanished without an exit record
  kPreempted,
  kCancelled,
  kUnknownAlive,  // a word we do not know: alive
};

struct JobStatus {
  std::string job_id;
  std::string name;
  JobState state = JobState::kUnknownAlive;
  std::string words{};  // the cluster's own, joined by '+': "CANCELLED+COMPLETING"
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string reason;  // the cluster's own word, kept for the user
  std::string host;
  int64_t submit_time = 0;  // seconds since the epoch, 0 unknown
  int64_t start_time = 0;
  int64_t end_time = 0;
  int restarts = 0;           // requeued under the same id
  bool held = false;          // pending, and will not start until it is released
  std::optional<int> gpus{};  // asked for, in all; unset when the cluster does not say
};

struct Snapshot {
  bool complete = false;  // absence counts only in a complete snapshot
  std::string problem;    // why not complete, for the user
  std::vector<JobStatus> jobs;
  bool fresh = true;  // asked for just now; else the last one again, since it is not yet time
};

// One line of `margay doctor`.
struct Finding {
  enum class Level { kGood, kWarning, kBad };
  Level level = Level::kGood;
  std::string subject;   // "slurmrestd", "token", "partition 'gpu'"
  std::string says;      // what was found
  std::string advice{};  // what to do about it; empty when kGood
};

// The names that the site's configuration and its script templates use.
struct Examination {
  std::set<std::string> partitions{};
  std::set<std::string> accounts{};
  std::set<std::string> qos{};
  bool gpus = false;  // whether any job asks for one
};

class Cluster {
 public:
  virtual ~Cluster() = default;
  virtual SubmitResult submit(const JobRequest& request) = 0;
  // Lets a job that was submitted held start. False: not done, ask again.
  virtual bool release(const std::string& job_id) = 0;
  // All jobs of this instance in one call, finished ones included as long as they are remembered.
  virtual Snapshot states() = 0;
  // Every job of that name, in the last complete snapshot or in accounting, finished ones included;
  // nullopt when one of them cannot be asked.
  virtual std::optional<std::vector<JobStatus>> find_by_name(const std::string& name) = 0;
  // SIGTERM, time to write a checkpoint, then SIGKILL. True when there is nothing left to stop.
  virtual bool cancel(const std::string& job_id) = 0;
  // Ask to stop at the next checkpoint (SIGUSR1 to the engine).
  virtual bool signal_stop(const std::string& job_id) = 0;
  // The result is stored: the cluster may forget the job.
  virtual void forget(const std::string& job_id) = 0;
  // How many more requests may be made just now, so that a site's limit of requests per minute
  // holds; a call beyond it is refused without being sent.
  virtual int allowance() = 0;
  // How many machines there are, 0 = not known.
  virtual int nodes() = 0;
  // Whether the cluster would take this job and when it would start, in its own words; nothing is
  // submitted. Throws std::runtime_error when this cluster cannot be asked that.
  virtual std::string test_only(const JobRequest& request) = 0;
  // Everything about this cluster that can be wrong. May take a minute.
  virtual std::vector<Finding> examine(const Examination& what) = 0;
  // One line for `margay status`.
  virtual std::string describe() const = 0;
};

}  // namespace slurm
