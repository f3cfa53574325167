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

struct JobRequest {
  std::string name;         // the attempt's token, unique for ever
  std::string script;       // rendered text
  std::string directory;    // working folder, exists
  std::string output_path;  // stdout and stderr of the script
  std::map<std::string, std::string> environment;
  int gpus = 0;
  int cpus = 1;
};

enum class SubmitOutcome {
  kAccepted,  // job_id is set
  kRejected,  // proven refused: the message says why
  kUnknown,   // no or unclear answer: the job may or may not exist
};

struct SubmitResult {
  SubmitOutcome outcome = SubmitOutcome::kUnknown;
  std::string job_id;
  std::string message;
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
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string reason;  // the cluster's own word, kept for the user
  std::string host;
  int64_t submit_time = 0;  // seconds since the epoch, 0 unknown
  int64_t start_time = 0;
  int64_t end_time = 0;
};

struct Snapshot {
  bool complete = false;  // absence counts only in a complete snapshot
  std::string problem;    // why not complete, for the user
  std::vector<JobStatus> jobs;
};

class Cluster {
 public:
  virtual ~Cluster() = default;
  virtual SubmitResult submit(const JobRequest& request) = 0;
  // All jobs of this instance in one call, finished ones included as long as they are remembered.
  virtual Snapshot states() = 0;
  // Every job of that name, finished ones included; nullopt when the cluster cannot be asked.
  virtual std::optional<std::vector<JobStatus>> find_by_name(const std::string& name) = 0;
  // SIGTERM, time to write a checkpoint, then SIGKILL. True when there is nothing left to stop.
  virtual bool cancel(const std::string& job_id) = 0;
  // Ask to stop at the next checkpoint (SIGUSR1 to the engine).
  virtual bool signal_stop(const std::string& job_id) = 0;
  // The result is stored: the cluster may forget the job.
  virtual void forget(const std::string& job_id) = 0;
  // One line for `margay status`.
  virtual std::string describe() const = 0;
};

}  // namespace slurm
