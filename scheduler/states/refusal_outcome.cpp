// Implements transition.h: submissions that the cluster refused.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "scheduler/states/lanes.h"
#include "scheduler/states/transition.h"

namespace scheduler {
namespace {

using db::AttemptState;

// Slurm's refusals name what is wrong by these words, mostly the option's name.
bool is_about(const std::string& message, const std::string& option) {
  const std::string text = base::lower(message);
  static const std::map<std::string, const char*> words = {{"constraint", "feature"},
                                                           {"licenses", "license"}};
  const auto word = words.find(option);
  return text.find(word == words.end() ? option : word->second) != std::string::npos;
}

bool own_option_is_wrong(const slurm::SubmitResult& answer,
                         const std::map<std::string, std::string>& own_options) {
  if (answer.refusal == slurm::Refusal::kJob) {
    return own_options.size() > own_options.count("job-name");  // a label that Margay sets
  }
  // Submissions must not pause for one user's misspelt partition.
  return std::any_of(own_options.begin(), own_options.end(),
                     [&](const auto& option) { return is_about(answer.message, option.first); });
}

Outcome judge_own_option(const slurm::SubmitResult& answer, const Past& past) {
  Outcome outcome = ended(AttemptState::kRejected, "options", answer.message, past);
  outcome.reason += "; use `margay retry` with other options";
  return outcome;
}

Outcome lane_refused(Outcome outcome, const Asked& asked, const std::string& advice = "") {
  return paused(std::move(outcome), SiteFault::kLane,
                "the cluster takes no job of its kind (" + asked.lane + ") now: ", advice);
}

// The configuration's keys that make such jobs differ from plain ones.
std::string keys_of_its_kind(const Asked& asked) {
  std::string keys = asked.shape_keys;
  if (asked.class_name.empty()) return keys;
  return keys + (keys.empty() ? "" : ", ") + "'policy.classes." + asked.class_name + "'";
}

Outcome judge_configuration(const slurm::SubmitResult& answer, const Asked& asked,
                            const Past& past) {
  if (own_option_is_wrong(answer, asked.own_options)) return judge_own_option(answer, past);
  const Outcome outcome = ended(AttemptState::kRejected, "configuration", answer.message, past);
  if (const std::string keys = keys_of_its_kind(asked); !keys.empty()) {
    return lane_refused(outcome, asked, "; correct " + keys + " or what it asks for");
  }
  return paused(outcome, SiteFault::kConfiguration, "the cluster refuses the site's jobs: ",
                "; correct the configuration or the script template");
}

// A partition that is drained, or a reservation that is not usable, keeps nobody waiting but the
// item that asked for it.
bool own_place_is_closed(const slurm::SubmitResult& answer,
                         const std::map<std::string, std::string>& own_options) {
  const auto asked_for = [&](const char* option) {
    return own_options.count(option) > 0 && is_about(answer.message, option);
  };
  return asked_for("partition") || asked_for("reservation");
}

bool is_policy(const slurm::SubmitResult& answer) { return may_be_about_number(answer.message); }

bool may_be_about_size(const slurm::SubmitResult& answer) {
  return answer.refusal == slurm::Refusal::kJob || is_policy(answer);
}

bool is_about_lane(const slurm::SubmitResult& answer) {
  return is_policy(answer) || answer.message.find("usage threshold") != std::string::npos;
}

Outcome judge_busy(const slurm::SubmitResult& answer, const Asked& asked, const Past& past) {
  if (own_place_is_closed(answer, asked.own_options)) return judge_own_option(answer, past);
  const Outcome busy = ended(AttemptState::kRejected, "busy", answer.message, past);
  if (const std::string size = size_of(asked.own_options); is_policy(answer) && !size.empty()) {
    const std::string kind =
        asked.lane.empty() ? "with " + size : "of " + sized_lane(asked.lane, size);
    return paused(ended(AttemptState::kRejected, "own_limit", answer.message, past),
                  SiteFault::kSize, "the cluster takes no job " + kind + " now: ");
  }
  if (!asked.lane.empty() && is_about_lane(answer)) return lane_refused(busy, asked);
  return paused(busy, SiteFault::kTransient, "the cluster takes no more jobs now: ");
}
}  // namespace

bool may_be_about_number(const std::string& message) {
  return message.find("accounting/QOS policy") != std::string::npos;
}

Outcome judge_rejected(const slurm::SubmitResult& answer, const Asked& asked,
                       const Failures& failures, const RetryRules& rules) {
  const Past past{failures, rules};
  if (asked.raised && may_be_about_size(answer)) {
    return ended(AttemptState::kRejected, kRaiseRefused, answer.message, past);
  }
  switch (answer.refusal) {
    case slurm::Refusal::kNone:
      return paused(ended(AttemptState::kRejected, "launch", answer.message, past),
                    SiteFault::kLaunch, "the cluster refused a job: ");
    case slurm::Refusal::kBusy:
      return judge_busy(answer, asked, past);
    case slurm::Refusal::kJob:
    case slurm::Refusal::kConfiguration:
      return judge_configuration(answer, asked, past);
  }
  return {};
}
}  // namespace scheduler
