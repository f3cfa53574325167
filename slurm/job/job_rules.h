// What margay-job decides: pure functions of what it has read. The exit codes are the contract with
// the daemon and with the engine (docs/engine.md).
#pragma once

#include <optional>
#include <string>

namespace slurm {

// 64 bad input, 71 too little device memory and others of the engine pass through as they are.
enum JobExit : int {
  kDone = 0,
  kBadUsage = 2,
  kDeviceFault = 70,       // also of a device that fails its probe
  kClaimedElsewhere = 75,  // another run holds the claim, or a newer attempt has begun
  kStopped = 85,           // on request, with a checkpoint
  kCannotRun = 126,
  kNotFound = 127,
};

// Which start of which job this is, as the claim's file `owner` says it: three lines.
struct JobIdentity {
  std::string job{};  // SLURM_JOB_ID, or the local cluster's; empty when run by hand without either
  std::string restart = "0";  // SLURM_RESTART_COUNT
  std::string host{};
};
std::string owner_text(const JobIdentity& identity);

// The same job, started again by the cluster, takes its own claim over; nobody else does.
bool may_take_over(const std::string& owner, const JobIdentity& identity);

// `fence`: what the item's file `current` holds. Anything but a higher number is no newer attempt.
bool is_newer_attempt(const std::string& fence, int number);

// As a shell says it: 128 and the signal's number for a program that a signal ended.
int shell_code(int wait_status);

// What a rank tells its launcher. A rank that stops on request is no fault: as a bad exit it would
// end the first rank, which writes the checkpoint.
int code_of_rank(int code, int rank);

// How the first rank that failed ended, and where: "70 n02".
struct RankFault {
  int code = 0;
  std::string host{};
};
std::string fault_text(const RankFault& fault);
std::optional<RankFault> parse_fault(const std::string& text);

// The code of a step. An engine that is signalled before it could listen (138: by SIGUSR1; 143: by
// SIGTERM, when a stop was asked for) has stopped on request.
int code_of_step(int code, bool stop_asked);

// What a probe that ended with this code means for the job; nullopt: the search may begin.
std::optional<int> end_after_probe(int code);

// The rank of which the engine's leader says last in the log that its loss ended the search; a rank
// without which the others finished does not count. nullopt: none.
std::optional<std::string> lost_rank(const std::string& log);

}  // namespace slurm
