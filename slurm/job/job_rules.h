// What margay-job decides: pure functions of what it has read. The exit codes are the contract with
// the daemon and with the engine (docs/engine.md).
#pragma once

#include <optional>
#include <string>

namespace slurm {

// The exit codes of margay-job. Other codes of the engine, such as 64 (bad input) and 71 (too
// little device memory), are passed on unchanged.
enum JobExit : int {
  kDone = 0,
  kBadUsage = 2,
  kDeviceFault = 70,       // also when the device fails its probe
  kClaimedElsewhere = 75,  // another run holds the claim, or a newer attempt has begun
  kStopped = 85,           // on request, with a checkpoint
  kCannotRun = 126,
  kNotFound = 127,
};

// Which start of which job this is; owner_text() is the claim's file `owner`, three lines.
struct JobIdentity {
  std::string job{};  // SLURM_JOB_ID, or the local cluster's; empty when run by hand without either
  std::string restart = "0";  // SLURM_RESTART_COUNT
  std::string host{};
};
std::string owner_text(const JobIdentity& identity);

// Whether the claim may be taken over: only by the same job when the cluster has started it again.
bool may_take_over(const std::string& owner, const JobIdentity& identity);

// `fence`: what the item's file `current` holds. Only a number higher than `number` is a newer
// attempt.
bool is_newer_attempt(const std::string& fence, int number);

// The exit code as a shell reports it: 128 plus the signal's number for a program that a signal
// ended.
int shell_code(int wait_status);

// The exit code that a rank returns to its launcher. A rank that stops on request returns 0: a
// launcher that sees a bad exit would end the first rank, which writes the checkpoint.
int code_of_rank(int code, int rank);

// The exit code and the host of the first rank that failed, as text "70 n02".
struct RankFault {
  int code = 0;
  std::string host{};
};
std::string fault_text(const RankFault& fault);
std::optional<RankFault> parse_fault(const std::string& text);

// The exit code of a step. An engine that a signal ends before it has installed its handlers (138:
// by SIGUSR1; 143: by SIGTERM, if a stop was asked for) counts as stopped on request.
int code_of_step(int code, bool stop_asked);

// What a probe that ended with this code means for the job; nullopt: the search may begin.
std::optional<int> end_after_probe(int code);

// The rank whose loss ended the search, by the last such line of the engine's leader in the log; a
// rank without which the others finished does not count. nullopt: none.
std::optional<std::string> lost_rank(const std::string& log);

}  // namespace slurm
