#include "slurm/job/job_rules.h"

#include <signal.h>
#include <sys/wait.h>

#include <sstream>

#include "base/parse_number.h"
#include "base/text.h"

namespace slurm {
namespace {

constexpr int kSignalled = 128;

std::optional<int64_t> parse_number(const std::string& text) {
  return base::parse_number<int64_t>(base::trimmed(text));
}

// "margay-engine: rank 2 on a.host was lost: its device hangs"; nullopt for another line.
std::optional<std::string> rank_lost_in(const std::string& line) {
  const std::string beginning = "margay-engine: rank ";
  if (!line.starts_with(beginning)) return std::nullopt;
  const size_t end = line.find_first_not_of("0123456789", beginning.size());
  if (end == std::string::npos || end == beginning.size()) return std::nullopt;
  size_t at = end;
  if (line.compare(at, 4, " on ") == 0) at = line.find(' ', at + 4);
  if (at == std::string::npos || line.compare(at, 11, " was lost: ") != 0) return std::nullopt;
  return line.substr(beginning.size(), end - beginning.size());
}

}  // namespace

std::string owner_text(const JobIdentity& identity) {
  return identity.job + "\n" + identity.restart + "\n" + identity.host + "\n";
}

bool may_take_over(const std::string& owner, const JobIdentity& identity) {
  std::istringstream lines(owner);
  std::string job;
  std::string restart;
  std::getline(lines, job);
  std::getline(lines, restart);
  if (identity.job.empty() || job != identity.job) return false;
  const auto before = parse_number(restart);
  const auto now = parse_number(identity.restart);
  return before && now && *now > *before;
}

bool is_newer_attempt(const std::string& fence, int number) {
  const auto current = parse_number(fence);
  return current && *current > number;
}

int shell_code(int wait_status) {
  return WIFSIGNALED(wait_status) ? kSignalled + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int code_of_rank(int code, int rank) { return code == kStopped && rank != 0 ? kDone : code; }

std::string fault_text(const RankFault& fault) {
  return std::to_string(fault.code) + " " + fault.host + "\n";
}

std::optional<RankFault> parse_fault(const std::string& text) {
  RankFault fault;
  std::istringstream words(text);
  if (!(words >> fault.code)) return std::nullopt;
  words >> fault.host;
  return fault;
}

int code_of_step(int code, bool stop_asked) {
  if (code == kSignalled + SIGUSR1) return kStopped;
  if (code == kSignalled + SIGTERM && stop_asked) return kStopped;
  return code;
}

std::optional<int> end_after_probe(int code) {
  switch (code) {
    case kDone:
      return std::nullopt;
    case kStopped:
    case kSignalled + SIGTERM:
      return kStopped;
    case kBadUsage:
    case kCannotRun:
    case kNotFound:
      return code;
    case 1:
    case 64:
      return kCannotRun;
  }
  return kDeviceFault;
}

std::optional<std::string> lost_rank(const std::string& log) {
  std::optional<std::string> rank;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("the others go on without it")) continue;
    if (const auto lost = rank_lost_in(line)) rank = lost;
  }
  return rank;
}

}  // namespace slurm
