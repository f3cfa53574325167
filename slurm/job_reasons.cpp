// Implements job_states.h: Slurm's reasons in the words of the person who waits: exact words first,
// then families.
#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "slurm/job_states.h"

namespace slurm {
namespace {

struct Meaning {
  std::string_view word;
  std::string_view text;
  bool somebody = false;  // somebody has to act, or the job never starts
};

constexpr Meaning kReasons[] = {
    {"None", "Slurm has not looked at it yet"},
    {"Priority", "other jobs are ahead of it"},
    {"Resources", "waits until enough nodes or GPUs are free"},
    {"Dependency", "waits for another job to end"},
    {"DependencyNeverSatisfied", "waits for a job that did not end as it should: cancel it", true},
    {"BeginTime", "its start time has not come, or it was just requeued"},
    {"JobHeldUser", "held by the user: release it", true},
    {"JobHeldAdmin", "held by an administrator, who alone can release it", true},
    {"JobHoldMaxRequeue", "held because it was requeued too often: release it", true},
    {"Licenses", "waits for a license"},
    {"Reservation", "waits for its reservation to begin"},
    {"ReservationDeleted", "its reservation was deleted: it needs another one", true},
    {"ReservationInvalid", "its reservation cannot be used", true},
    {"ReqNodeNotAvail", "a node that it needs is down, drained or reserved"},
    {"NodeDown", "a node of it is down"},
    {"Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions",
     "the nodes that it needs are down, drained or kept for other jobs"},
    {"PartitionDown", "its partition is closed by the administrator", true},
    {"PartitionInactive", "its partition is switched off by the administrator", true},
    {"PartitionNodeLimit", "asks for more or fewer nodes than its partition allows", true},
    {"PartitionTimeLimit", "asks for a longer time than its partition allows", true},
    {"PartitionConfig", "its partition cannot run it as it is set up", true},
    {"JobArrayTaskLimit", "as many of its array run as are allowed at once"},
    {"AccountNotAllowed", "its account may not use this partition", true},
    {"QOSNotAllowed", "its QOS may not be used here", true},
    {"InvalidAccount", "its account is not valid", true},
    {"InvalidQOS", "its QOS is not valid", true},
    {"BadConstraints", "no node can ever meet what it asks for", true},
    {"MaxMemPerLimit", "asks for more memory than the partition allows", true},
    {"SchedNoEval", "Slurm has not looked at it yet"},
    {"DeadLine", "its deadline has passed"},
    {"TimeLimit", "it ran into its time limit"},
    {"NonZeroExitCode", "its script ended with an error"},
    {"RaisedSignal", "a signal ended it"},
    {"OutOfMemory", "it used more memory than it had"},
    {"JobLaunchFailure", "Slurm could not start it on its node"},
    {"SystemFailure", "the node or Slurm failed"},
    {"NodeFail", "its node failed"},
    {"launch_failed_requeued_held", "Slurm could not start it on its node and holds it: release it",
     true},
    {"job_requeued_in_held_state", "it was requeued and is held: release it", true},
    {"reservation_deleted_job_held", "its reservation was deleted and it is held", true},
};

// What is limited, by a part of the reason's word; the first that it has counts.
constexpr Meaning kKinds[] = {
    {"Submit", " of submitted jobs"},
    {"Minutes", " of computing time"},
    {"RunMin", " of computing time"},
    {"Wall", " of run time"},
    {"Time", " of run time"},
    {"GRES", " of GPUs"},
    {"Gres", " of GPUs"},
    {"Cpu", " of CPUs"},
    {"CPU", " of CPUs"},
    {"Mem", " of memory"},
    {"Node", " of nodes"},
    {"Job", " of running jobs"},
    {"Billing", " of the budget"},
    {"License", " of licenses"},
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Only the part before ", UnavailableNodes:n15", blanks as underscores.
std::string plain_word(const std::string& reason) {
  std::string word = reason.substr(0, reason.find_first_of(",:("));
  while (!word.empty() && word.back() == ' ') word.pop_back();
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

const Meaning* meaning_of(const std::string& word) {
  const auto* found = std::find_if(std::begin(kReasons), std::end(kReasons),
                                   [&](const Meaning& meaning) { return meaning.word == word; });
  return found == std::end(kReasons) ? nullptr : found;
}

// Whose limit a word like QOSMaxJobsPerUserLimit or AssocGrpGRES is about; empty: it is about none.
std::string limit_of(const std::string& word) {
  if (word.starts_with("Assoc")) return "the account's limit";
  return word.starts_with("QOS") ? "the QOS's limit" : "";
}

// A limit on one job alone can never be met by waiting.
bool is_of_one_job(const std::string& word) {
  return has(word, "PerJob") || has(word, "NotSatisfied") || has(word, "WallDuration") ||
         word == "AssociationTimeLimit" || word == "QOSTimeLimit";
}

std::string meaning_of_limit(const std::string& word, std::string limit) {
  if (has(word, "Min") && has(word, "NotSatisfied")) {
    return "asks for less than the least that " + limit + " allows";
  }
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Meaning& one) { return has(word, one.word); });
  if (kind != std::end(kKinds)) limit += kind->text;
  if (is_of_one_job(word)) return "asks for more than " + limit + " for one job";
  return limit + " is reached: waits for other jobs to end";
}

// What Slurm adds to the word: the nodes that are not available, or a sentence.
std::string addition_of(const std::string& reason) {
  constexpr std::string_view kNodes = "UnavailableNodes:";
  const size_t nodes = reason.find(kNodes);
  const size_t more = nodes == std::string::npos ? reason.find(", ") : nodes;
  if (more == std::string::npos) return "";
  const std::string text = reason.substr(more + (nodes == more ? kNodes.size() : 2));
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::string meaning_of_reason(const std::string& reason) {
  const std::string word = plain_word(reason);
  if (const Meaning* meaning = meaning_of(word)) {
    return std::string(meaning->text) + addition_of(reason);
  }
  if (const std::string limit = limit_of(word); !limit.empty()) {
    return meaning_of_limit(word, limit);
  }
  if (word.starts_with("Partition")) return "its partition does not take it (" + reason + ")";
  if (says_held(reason)) return "Slurm holds it (" + reason + "): release it";
  return reason;
}

bool says_held(const std::string& reason) {
  return reason.starts_with("JobHeld") || has(reason, "held");
}

bool needs_somebody(const std::string& reason) {
  const std::string word = plain_word(reason);
  const Meaning* meaning = meaning_of(word);
  if (meaning != nullptr && meaning->somebody) return true;
  if (says_held(reason)) return true;
  return meaning == nullptr && !limit_of(word).empty() && is_of_one_job(word);
}

WaitsFor what_it_waits_for(const std::string& reason) {
  const std::string word = plain_word(reason);
  constexpr std::array<std::string_view, 5> kTurns = {"", "None", "Priority", "Resources",
                                                      "SchedNoEval"};
  constexpr std::array<std::string_view, 8> kPlaces = {
      "Licenses",      "Reservation",       "ReqNodeNotAvail",   "NodeDown",
      "PartitionDown", "PartitionInactive", "JobArrayTaskLimit", "Nodes_required_for_job_are_DOWN"};
  if (std::find(kTurns.begin(), kTurns.end(), word) != kTurns.end()) return WaitsFor::kTurn;
  const bool place = std::any_of(kPlaces.begin(), kPlaces.end(),
                                 [&](std::string_view one) { return word.starts_with(one); });
  const bool limit = !limit_of(word).empty() && !is_of_one_job(word);
  const bool held = says_held(reason) || word.starts_with("ReservationDeleted") ||
                    word.starts_with("ReservationInvalid");
  return (place || limit) && !held ? WaitsFor::kPlace : WaitsFor::kJob;
}

}  // namespace slurm
