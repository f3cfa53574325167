// Slurm's reasons in the words of the person who waits: exact words first, then families.
#include <algorithm>
#include <string_view>

#include "slurm/job_states.h"

namespace slurm {
namespace {

struct Meaning {
  std::string_view word;
  std::string_view text;
  bool somebody = false;  // has to do something
};

constexpr Meaning kWords[] = {
    {"None", "Slurm has not looked at it yet"},
    {"Priority", "other jobs are ahead of it"},
    {"Resources", "waits until enough nodes or GPUs are free"},
    {"Dependency", "waits for another job to end"},
    {"DependencyNeverSatisfied", "waits for a job that did not end as it should: cancel it", true},
    {"BeginTime", "its start time has not come, or it was just requeued"},
    {"JobHeldUser", "held by the user: release it", true},
    {"JobHeldAdmin", "held by an administrator: only he can release it", true},
    {"JobHoldMaxRequeue", "held because it was requeued too often: release it", true},
    {"Licenses", "waits for a license"},
    {"LicensesUnavailable", "waits for a license"},
    {"Reservation", "waits for its reservation to begin"},
    {"ReservationDeleted", "its reservation was deleted: it needs another one", true},
    {"ReservationInvalid", "its reservation cannot be used", true},
    {"ReqNodeNotAvail", "a node that it needs is down, drained or reserved"},
    {"NodeDown", "a node of it is down"},
    {"FrontEndDown", "the cluster's front end is down"},
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
    {"Cleaning", "its last run is still being cleaned up"},
    {"Prolog", "the site's prolog prepares its nodes"},
    {"SchedDefer", "Slurm puts off starting jobs for the moment"},
    {"SchedNoEval", "Slurm has not looked at it yet"},
    {"InactiveLimit", "the site's limit of inactivity was reached"},
    {"FedJobLock", "another cluster of the federation looks at it"},
    {"MaxPoweredUpNodes", "as many nodes are switched on as the site allows"},
    {"MpiPortsBusy", "the ports that it needs are in use"},
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
    {"user_env_retrieval_failed_requeued_held",
     "the user's environment could not be read, and it is held: release it", true},
    {"burst_buffer_pre_run_stage-in_error", "staging its data in failed", true},
};

struct Family {
  std::string_view prefix;
  std::string_view whose;
};

constexpr Family kFamilies[] = {
    {"Association", "the account's limit"},
    {"Assoc", "the account's limit"},
    {"QOS", "the QOS's limit"},
};

struct Kind {
  std::string_view part;
  std::string_view what;
};

// What is limited; the first that stands in the word counts.
constexpr Kind kKinds[] = {
    {"Submit", "of submitted jobs"},
    {"Minutes", "of computing time"},
    {"RunMin", "of computing time"},
    {"Wall", "of run time"},
    {"Time", "of run time"},
    {"GRES", "of GPUs"},
    {"Gres", "of GPUs"},
    {"Cpu", "of CPUs"},
    {"CPU", "of CPUs"},
    {"Mem", "of memory"},
    {"Node", "of nodes"},
    {"Job", "of running jobs"},
    {"Billing", "of the site's budget"},
    {"BB", "of burst buffer"},
    {"License", "of licenses"},
    {"Energy", "of energy"},
    {"UsageThreshold", "of usage"},
    {"Resource", "of resources"},
};

// Only the part before ", UnavailableNodes:n15", blanks as underscores.
std::string plain_word(const std::string& reason) {
  std::string word = reason.substr(0, reason.find_first_of(",:("));
  while (!word.empty() && word.back() == ' ') word.pop_back();
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

const Meaning* meaning_of(const std::string& word) {
  for (const Meaning& meaning : kWords) {
    if (meaning.word == word) return &meaning;
  }
  return nullptr;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const Family* family_of(const std::string& word) {
  for (const Family& family : kFamilies) {
    if (word.starts_with(family.prefix)) return &family;
  }
  return nullptr;
}

// A limit on one job alone can never be met by waiting.
bool is_of_one_job(const std::string& word) {
  return has(word, "PerJob") || has(word, "NotSatisfied") || has(word, "WallDuration") ||
         word == "AssociationTimeLimit" || word == "QOSTimeLimit";
}

std::string meaning_in_family(const std::string& word, const Family& family) {
  const std::string whose(family.whose);
  if (has(word, "Min") && has(word, "NotSatisfied")) {
    return "asks for less than the least that " + whose + " allows";
  }
  std::string text = whose;
  for (const Kind& kind : kKinds) {
    if (has(word, kind.part)) {
      text += " " + std::string(kind.what);
      break;
    }
  }
  if (is_of_one_job(word)) return "asks for more than " + text + " for one job";
  return text + " is reached: waits for other jobs to end";
}

}  // namespace

std::string meaning_of_reason(const std::string& reason) {
  const std::string word = plain_word(reason);
  if (const Meaning* meaning = meaning_of(word)) {
    std::string text(meaning->text);
    // Slurm names the nodes behind the word.
    const size_t more = reason.find(", ");
    const size_t nodes = reason.find("UnavailableNodes:");
    if (nodes != std::string::npos) {
      const std::string names = reason.substr(nodes + 17);
      if (!names.empty()) text += " (" + names + ")";
    } else if (more != std::string::npos && more + 2 < reason.size()) {
      text += " (" + reason.substr(more + 2) + ")";
    }
    return text;
  }
  if (const Family* family = family_of(word)) return meaning_in_family(word, *family);
  if (word.starts_with("BurstBuffer")) return "waits for its burst buffer";
  if (word.starts_with("Partition")) return "its partition does not take it (" + reason + ")";
  if (has(word, "requeued_held") || has(word, "held_state")) {
    return "Slurm holds it (" + reason + "): release it";
  }
  return reason;
}

bool needs_somebody(const std::string& reason) {
  const std::string word = plain_word(reason);
  // "JobHeldUser, job requeued in held state"
  if (has(word, "requeued_held") || has(word, "held_state")) return true;
  if (const Meaning* meaning = meaning_of(word)) return meaning->somebody;
  return family_of(word) != nullptr && is_of_one_job(word);
}

}  // namespace slurm
