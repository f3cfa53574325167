#include "slurm/job_states.h"

#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"

namespace slurm {
namespace {

// Base states: a job has one of them, and flags beside it.
const std::map<std::string, JobState>& base_states() {
  static const std::map<std::string, JobState> states = {
      {"PENDING", JobState::kPending},     {"RUNNING", JobState::kRunning},
      {"SUSPENDED", JobState::kRunning},   {"COMPLETED", JobState::kCompleted},
      {"CANCELLED", JobState::kCancelled}, {"FAILED", JobState::kFailed},
      {"TIMEOUT", JobState::kTimeout},     {"DEADLINE", JobState::kTimeout},
      {"NODE_FAIL", JobState::kNodeFail},  {"BOOT_FAIL", JobState::kNodeFail},
      {"PREEMPTED", JobState::kPreempted}, {"OUT_OF_MEMORY", JobState::kOutOfMemory},
  };
  return states;
}

// Flags, with the state of a job that has one of them beside an end or without a base state.
const std::map<std::string, JobState>& flags() {
  static const std::map<std::string, JobState> states = {
      {"COMPLETING", JobState::kCompleting},
      {"STAGE_OUT", JobState::kCompleting},
      {"CONFIGURING", JobState::kRunning},
      {"POWER_UP_NODE", JobState::kRunning},
      {"RESIZING", JobState::kRunning},
      {"SIGNALING", JobState::kRunning},
      {"STOPPED", JobState::kRunning},
      {"UPDATE_DB", JobState::kRunning},
      {"REQUEUED", JobState::kPending},
      {"REQUEUE_HOLD", JobState::kPending},
      {"REQUEUE_FED", JobState::kPending},
      {"SPECIAL_EXIT", JobState::kPending},
      {"RESV_DEL_HOLD", JobState::kPending},
      {"EXPEDITING", JobState::kPending},
      // Another cluster of the federation started it, and its end is not known here.
      {"REVOKED", JobState::kUnknownAlive},
  };
  return states;
}

// Flags that give a cause and do not show whether the job is over.
const std::map<std::string, JobState>& causes() {
  static const std::map<std::string, JobState> states = {
      {"LAUNCH_FAILED", JobState::kNodeFail},
      {"RECONFIG_FAIL", JobState::kNodeFail},
  };
  return states;
}

std::optional<JobState> find_in(const std::map<std::string, JobState>& table,
                                const std::set<std::string>& words) {
  for (const std::string& word : words) {
    if (const auto found = table.find(word); found != table.end()) return found->second;
  }
  return std::nullopt;
}

bool is_alive(JobState state) { return state == JobState::kPending || state == JobState::kRunning; }

// "CANCELLED by 1000" -> "CANCELLED".
std::string plain_word(const std::string& text) {
  const std::string word = base::trimmed(text);
  return base::upper(word.substr(0, word.find(" by ")));
}

bool is_known(const std::string& word) {
  return base_states().count(word) > 0 || flags().count(word) > 0 || causes().count(word) > 0;
}

}  // namespace

JobState state_of(const std::set<std::string>& words) {
  const std::optional<JobState> base = find_in(base_states(), words);
  // "COMPLETED+COMPLETING" has not ended, but "PENDING+COMPLETING" waits for its next run already.
  if (base && is_alive(*base)) {
    return *base == JobState::kRunning && words.count("COMPLETING") > 0 ? JobState::kCompleting
                                                                        : *base;
  }
  if (words.count("COMPLETING") > 0) return JobState::kCompleting;
  if (const auto flag = find_in(flags(), words)) return *flag;
  const bool all_known = std::all_of(words.begin(), words.end(), is_known);
  if (!all_known || words.empty()) return JobState::kUnknownAlive;
  return base ? *base : find_in(causes(), words).value_or(JobState::kUnknownAlive);
}

bool is_over(JobState state) {
  switch (state) {
    case JobState::kPending:
    case JobState::kRunning:
    case JobState::kCompleting:
    case JobState::kUnknownAlive:
      return false;
    case JobState::kCompleted:
    case JobState::kFailed:
    case JobState::kTimeout:
    case JobState::kOutOfMemory:
    case JobState::kNodeFail:
    case JobState::kPreempted:
    case JobState::kCancelled:
      return true;
  }
  return false;
}

std::set<std::string> split_words(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text + "+") {
    if (c != '+' && c != ',') {
      word += c;
      continue;
    }
    word = plain_word(word);
    if (!word.empty()) words.insert(word);
    word.clear();
  }
  return words;
}

std::string join_words(const std::set<std::string>& words) {
  // The base state first, as squeue has it.
  std::vector<std::string> order(words.begin(), words.end());
  std::stable_partition(order.begin(), order.end(),
                        [](const std::string& word) { return base_states().count(word) > 0; });
  return base::joined(order, "+");
}

void set_exit_of_wait_status(int wait_status, JobStatus& job) {
  job.exit_code.reset();
  job.signal.reset();
  if (WIFEXITED(wait_status)) {
    job.exit_code = WEXITSTATUS(wait_status);
  } else {
    job.signal = wait_status & 0x7f;
  }
}

}  // namespace slurm
