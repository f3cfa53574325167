#include "scheduler/daemon/launcher.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/sha256.h"
#include "db/attempts.h"
#include "db/host_failures.h"
#include "db/items.h"
#include "db/templates.h"
#include "scheduler/commands/plan_attempt.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/daemon/evidence.h"
#include "scheduler/daemon/job_requests.h"
#include "scheduler/daemon/outcomes.h"
#include "scheduler/daemon/search_files.h"
#include "scheduler/daemon/waiting_items.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/forecast/span_text.h"
#include "scheduler/script/engine_config.h"
#include "scheduler/script/job_script.h"
#include "scheduler/script/substitute.h"
#include "slurm/site_facts.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

class Launcher {
 public:
  Launcher(const DaemonContext& context, Gates gates, const ClusterLimits& limits)
      : context_(context),
        breaker_(gates.breaker),
        lanes_(gates.lanes),
        sizes_(gates.sizes),
        limits_(limits) {}

  LaunchResult launch(const JobStart& start) {
    const auto found = db::ItemStore(context_.database).find(start.item_id);
    if (!found) return {};  // cancelled and removed since the plan was made
    const db::Item& item = *found;
    const db::Template search_template =
        db::TemplateStore(context_.database).find(item.template_id).value();
    const std::optional<int64_t> needed = find_files(context_, item, search_template);
    if (!needed) return {};
    const Room room = find_room(context_, item, *needed);
    if (!room.too_little_for_it.empty()) {
      postpone_waiting(context_, item.id, room.too_little_for_it);
      return {};
    }
    if (!room.none_for_all.empty()) return {.hold = room.none_for_all};
    AttemptPlan plan;
    try {
      plan = prepare(item, search_template, start);
    } catch (const SearchSettingsError& error) {
      end_waiting(context_, item.id, db::ItemState::kQuarantined,
                  std::string("search settings of its template: ") + error.what());
      return {};
    } catch (const slurm::DirectiveError& error) {
      return blame_options(item, start, error.what());
    } catch (const ScriptError& error) {
      return blame_options(item, start, error.what());
    }
    if (!store_intent(plan.attempt)) return {};
    reach(context_.crash, "after-attempt-commit");
    // After the intent, before the submission: from here on an older attempt's script stops.
    set_fence(item_folder(context_.config.jobs(), item.id), plan.attempt.number);
    return submit(plan, item, start);
  }

 private:
  PlanContext plan_context() const {
    return {.config = context_.config,
            .database = context_.database,
            .now = context_.clock.now(),
            .nodes = [this] { return context_.cluster.nodes(); }};
  }

  // A cluster refuses to keep a job away from a node that it does not have any more.
  void forget_hosts(const db::Item& item) const {
    const std::set<std::string> hosts = hosts_to_avoid(plan_context(), item.id);
    if (hosts.empty()) return;
    db::HostFailureStore(context_.database).remove_hosts(hosts);
    context_.log("one of " + slurm::list_of(hosts) +
                 " is not a node of the cluster: its failures are dropped");
  }

  AttemptPlan prepare(const db::Item& item, const db::Template& search_template,
                      const JobStart& start) const {
    AttemptPlan plan = plan_attempt(plan_context(), item, start);
    db::Attempt& attempt = plan.attempt;
    attempt.shape = text_of(limits_, start.width);
    attempt.explanation = start.explanation;
    if (asks_for_width(item.options)) {
      attempt.shape = plan.width_text;
      attempt.explanation += ": " + plan.width_text;
    } else {
      attempt.nodes = start.width.nodes;
      attempt.gpus_per_node = start.width.gpus_per_node;
    }
    if (!attempt.resume_from.empty()) attempt.explanation += "; resumes from its checkpoint";
    if (attempt.segment > 0) {
      attempt.explanation += "; it runs for " + span_text(static_cast<double>(attempt.segment)) +
                             " and then has its turn again, so that GPUs come free for others";
    }
    if (!plan.excluded_hosts.empty()) {
      attempt.explanation +=
          "; not at " + slurm::list_of(plan.excluded_hosts) + ", where searches failed";
    }
    for (const auto& [option, value] : plan.raised) {
      attempt.explanation += "; with --" + option + "=" + value + ", since the last one " +
                             (option == "time" ? "was stopped for its time" : "ran out of memory");
    }
    const std::string config = engine_config({.search_yaml = search_template.search_yaml,
                                              .template_path = search_template.volume_path,
                                              .micrograph_path = item.micrograph_path,
                                              .template_sha256 = search_template.volume_sha256,
                                              .micrograph_sha256 = item.micrograph_sha256,
                                              .ctf = item.ctf,
                                              .folder = attempt.directory});
    attempt.config_sha256 = base::sha256_of_text(config);
    let_owner_read(item);
    make_attempt_folder(attempt.directory);
    base::write_file_atomically(attempt.directory + "/" + kEngineConfigFile, config,
                                {.mode = 0640});
    base::write_file_atomically(attempt.directory + "/" + kScriptFile, attempt.script,
                                {.mode = 0750});
    return plan;
  }

  // An attempt's number does not say that it is the first: scripts of another database's item may
  // have run in the folder.
  void let_owner_read(const db::Item& item) const {
    const std::string folder = item_folder(context_.config.jobs(), item.id);
    if (context_.config.readers == ResultsReaders::kOwner) {
      context_.readers->prepare(folder, item.owner_uid, "", KnownReaders::kOwnerAlone);
      return;
    }
    const bool first = db::AttemptStore(context_.database).of_item(item.id).empty();
    context_.readers->prepare(folder, item.owner_uid, item.group,
                              first ? KnownReaders::kLeave : KnownReaders::kStay);
  }

  bool store_intent(db::Attempt& attempt) const {
    db::Transaction transaction(context_.database);
    db::ItemStore items(context_.database);
    const auto found = items.find(attempt.item_id);
    // Held, cancelled or removed since the plan was made.
    if (!found || found->state != db::ItemState::kQueued) return false;
    db::Item item = *found;
    attempt.created = context_.clock.now();
    attempt.id = db::AttemptStore(context_.database).insert(attempt);
    item.state = db::ItemState::kActive;
    if (attempt.resume_from.empty()) item.searched = 0;
    item.reason = attempt.explanation;
    item.changed = attempt.created;
    items.update(item);
    reach(context_.crash, "before-attempt-commit");
    transaction.commit();
    return true;
  }

  void accept(db::Attempt attempt, const slurm::SubmitResult& answer) {
    attempt.job_id = answer.job_id;
    Outcome outcome;
    outcome.message = answer.message;
    store_outcome(context_, attempt, outcome, {"before-answer-commit", "after-answer-commit"});
    for (const std::string& warning : answer.warnings) {
      context_.warn(attempt.token + ": the cluster warns: " + warning);
    }
    breaker_.accepted(attempt.token);
    // Several nodes are too dear for a job that nobody knows of: it was submitted held.
    attempt.state = outcome.attempt;
    attempt.message = outcome.message;
    if (attempt.release_due) release_job(context_, attempt);
  }

  // The configuration's keys that a width comes from which plain jobs do not have.
  std::string keys_of_width(const Width& width) const {
    if (width == limits_.width) return "";
    if (limits_.urgent == width) return "'slurm.urgent_shape'";
    return "'slurm.gpus_per_node', the cap of its class in 'policy.classes'";
  }

  // An option that names what plain jobs ask for, too, is not the item's own.
  Asked asked_for(const AttemptPlan& plan, const db::Item& item, const JobStart& start) const {
    Asked asked{
        .own_options = item.options,
        .lane = start.lane,
        .shape_keys = keys_of_width(start.width),
        .class_name = limits_.class_options.contains(item.priority) ? to_string(item.priority) : "",
        .raised = !plan.raised.empty()};
    std::erase_if(asked.own_options, [&](const auto& option) {
      const auto plain = limits_.plain_place.find(option.first);
      return plain != limits_.plain_place.end() && plain->second == option.second;
    });
    return asked;
  }

  void refuse(const db::Attempt& attempt, const db::Item& item, const slurm::SubmitResult& answer,
              const Asked& asked) {
    if (answer.message.find("Invalid node name") != std::string::npos) forget_hosts(item);
    const auto earlier = db::AttemptStore(context_.database).of_item(attempt.item_id);
    const Outcome outcome = judge_rejected(answer, asked, failures_of(earlier, item.exempt_through),
                                           retry_rules(context_.config));
    const bool known =
        outcome.site_fault != SiteFault::kNone && breaker_.is_known(outcome.pause_reason);
    store_outcome(context_, attempt, outcome, {"before-answer-commit", "after-answer-commit"},
                  std::nullopt, known);
    if (is_of_the_moment(outcome.cause) && earlier.size() >= 2) {
      forget_busy(earlier[earlier.size() - 2]);
    }
    pause(outcome, attempt, asked);
  }

  static bool is_of_the_moment(const std::string& cause) {
    return cause == "busy" || cause == "own_limit" || cause == kRaiseRefused;
  }

  // A limit of the moment leaves one attempt, the last, however often it is met. A script that was
  // run by hand meanwhile keeps its folder.
  void forget_busy(const db::Attempt& attempt) const {
    if (!is_of_the_moment(attempt.cause) || fs::exists(attempt.directory + "/" + kClaimFolder))
      return;
    db::AttemptStore(context_.database).remove(attempt.id);
    fs::remove_all(attempt.directory);
  }

  void pause(const Outcome& outcome, const db::Attempt& attempt, const Asked& asked) {
    const int64_t now_ms = context_.clock.boot_ms();
    const std::string& why = outcome.pause_reason;
    bool news = false;
    switch (outcome.site_fault) {
      case SiteFault::kNone:
        return;
      case SiteFault::kLane:
        if (lanes_.hold(asked.lane, why, now_ms)) context_.warn("submissions held: " + why);
        return;
      case SiteFault::kSize:
        if (sizes_.hold(sized_lane(asked.lane, size_of(asked.own_options)), why, now_ms)) {
          context_.warn("submissions held: " + why);
        }
        return;
      case SiteFault::kTransient:
        news = breaker_.reach_limit(why, now_ms);
        break;
      case SiteFault::kLaunch:
      case SiteFault::kHardware:
      case SiteFault::kConfiguration:
        news = breaker_.trip(outcome.site_fault, why, attempt.token, now_ms);
        break;
    }
    if (news) context_.warn("submissions paused: " + why);
  }

  LaunchResult submit(const AttemptPlan& plan, const db::Item& item, const JobStart& start) {
    db::Attempt attempt = plan.attempt;
    const slurm::JobRequest request{
        .name = attempt.token,
        .comment = job_comment(context_.database.instance(), item, attempt),
        .script = attempt.script,
        .directory = attempt.directory,
        .output_path = attempt.directory + "/" + kLogFile,
        .environment = job_environment(context_.config),
        .hold = attempt.release_due};
    reach(context_.crash, "before-submit");
    const slurm::SubmitResult answer = context_.cluster.submit(request);
    reach(context_.crash, "after-submit");
    attempt.submitted = context_.clock.now();
    switch (answer.outcome) {
      case slurm::SubmitOutcome::kAccepted:
        accept(std::move(attempt), answer);
        lanes_.accepted(start.lane);
        sizes_.accepted(sized_lane(start.lane, start.size));
        return {.submitted = true, .job_id = answer.job_id};
      case slurm::SubmitOutcome::kUnknown:
        store_outcome(context_, attempt,
                      {.attempt = db::AttemptState::kUnknown, .message = answer.message},
                      {"before-answer-commit", "after-answer-commit"});
        breaker_.accepted(attempt.token);
        return {.submitted = true, .unanswered = true};
      case slurm::SubmitOutcome::kRejected:
        refuse(attempt, item, answer, asked_for(plan, item, start));
        return {.submitted = true};
    }
    return {};
  }

  // What is wrong with the site's own lines stops everybody; with an item's, that item.
  LaunchResult blame_options(const db::Item& item, const JobStart& start,
                             const std::string& problem) const {
    if (item.options.empty()) return {.hold = problem};
    db::Item plain = item;
    plain.options.clear();
    try {
      plan_attempt(plan_context(), plain, start);
    } catch (const slurm::DirectiveError& error) {
      return {.hold = error.what()};
    } catch (const ScriptError& error) {
      return {.hold = error.what()};
    }
    end_waiting(
        context_, item.id, db::ItemState::kFailed,
        "its options cannot be met: " + problem + "; use `margay retry` with other options");
    return {};
  }

  const DaemonContext& context_;
  CircuitBreaker& breaker_;
  Lanes& lanes_;
  Lanes& sizes_;
  const ClusterLimits& limits_;
};

}  // namespace

LaunchResult launch_item(const DaemonContext& context, Gates gates, const ClusterLimits& limits,
                         const JobStart& start) {
  return Launcher(context, gates, limits).launch(start);
}

}  // namespace scheduler
