#include "slurm/job_states.h"

#include <sys/wait.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace slurm {
namespace {

enum class Kind {
  kBase,   // a job has one of these, and flags beside it
  kFlag,   // its state counts for a job that has it beside an end or without a base state
  kCause,  // gives a cause and does not show whether the job is over
};

struct Word {
  const char* word;
  Kind kind;
  JobState state;
};

constexpr Word kWords[] = {
    {"PENDING", Kind::kBase, JobState::kPending},
    {"RUNNING", Kind::kBase, JobState::kRunning},
    {"SUSPENDED", Kind::kBase, JobState::kRunning},
    {"COMPLETED", Kind::kBase, JobState::kCompleted},
    {"CANCELLED", Kind::kBase, JobState::kCancelled},
    {"FAILED", Kind::kBase, JobState::kFailed},
    {"TIMEOUT", Kind::kBase, JobState::kTimeout},
    {"DEADLINE", Kind::kBase, JobState::kTimeout},
    {"NODE_FAIL", Kind::kBase, JobState::kNodeFail},
    {"BOOT_FAIL", Kind::kBase, JobState::kNodeFail},
    {"PREEMPTED", Kind::kBase, JobState::kPreempted},
    {"OUT_OF_MEMORY", Kind::kBase, JobState::kOutOfMemory},
    {"COMPLETING", Kind::kFlag, JobState::kCompleting},
    {"STAGE_OUT", Kind::kFlag, JobState::kCompleting},
    {"CONFIGURING", Kind::kFlag, JobState::kRunning},
    {"POWER_UP_NODE", Kind::kFlag, JobState::kRunning},
    {"RESIZING", Kind::kFlag, JobState::kRunning},
    {"SIGNALING", Kind::kFlag, JobState::kRunning},
    {"STOPPED", Kind::kFlag, JobState::kRunning},
    {"UPDATE_DB", Kind::kFlag, JobState::kRunning},
    {"REQUEUED", Kind::kFlag, JobState::kPending},
    {"REQUEUE_HOLD", Kind::kFlag, JobState::kPending},
    {"REQUEUE_FED", Kind::kFlag, JobState::kPending},
    {"SPECIAL_EXIT", Kind::kFlag, JobState::kPending},
    {"RESV_DEL_HOLD", Kind::kFlag, JobState::kPending},
    {"EXPEDITING", Kind::kFlag, JobState::kPending},
    // Another cluster of the federation started it, and its end is not known here.
    {"REVOKED", Kind::kFlag, JobState::kUnknownAlive},
    {"LAUNCH_FAILED", Kind::kCause, JobState::kNodeFail},
    {"RECONFIG_FAIL", Kind::kCause, JobState::kNodeFail},
};

const Word* find_word(const std::string& word) {
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords),
                                   [&](const Word& known) { return known.word == word; });
  return found == std::end(kWords) ? nullptr : found;
}

bool is_base(const std::string& word) {
  const Word* known = find_word(word);
  return known != nullptr && known->kind == Kind::kBase;
}

// Of the first of the words, by the alphabet, that is of this kind.
std::optional<JobState> find_in(Kind kind, const std::set<std::string>& words) {
  for (const std::string& word : words) {
    const Word* known = find_word(word);
    if (known != nullptr && known->kind == kind) return known->state;
  }
  return std::nullopt;
}

bool is_alive(JobState state) { return state == JobState::kPending || state == JobState::kRunning; }

// "CANCELLED by 1000" -> "CANCELLED".
std::string state_word(const std::string& text) {
  const std::string word = base::trimmed(text);
  return base::upper(word.substr(0, word.find(" by ")));
}

}  // namespace

JobState state_of(const std::set<std::string>& words) {
  const std::optional<JobState> base = find_in(Kind::kBase, words);
  // "COMPLETED+COMPLETING" has not ended, but "PENDING+COMPLETING" waits for its next run already.
  if (base && is_alive(*base)) {
    return *base == JobState::kRunning && words.count("COMPLETING") > 0 ? JobState::kCompleting
                                                                        : *base;
  }
  if (words.count("COMPLETING") > 0) return JobState::kCompleting;
  if (const auto flag = find_in(Kind::kFlag, words)) return *flag;
  const bool all_known = std::all_of(words.begin(), words.end(), find_word);
  if (!all_known || words.empty()) return JobState::kUnknownAlive;
  return base ? *base : find_in(Kind::kCause, words).value_or(JobState::kUnknownAlive);
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
    word = state_word(word);
    if (!word.empty()) words.insert(word);
    word.clear();
  }
  return words;
}

std::string join_words(const std::set<std::string>& words) {
  // The base state first, as squeue has it.
  std::vector<std::string> order(words.begin(), words.end());
  std::stable_partition(order.begin(), order.end(), is_base);
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
