#include "scheduler/commands/plan_attempt.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <thread>
#include <utility>

#include "base/sha256.h"
#include "db/attempts.h"
#include "db/host_failures.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/script/job_script.h"
#include "scheduler/states/causes.h"
#include "scheduler/states/host_exclusion.h"

namespace scheduler {
namespace {

// Fewer correlations in flight each time the device's memory was too small.
std::string batch_after(const Failures& failures) {
  int too_large = 0;
  for (const char* cause : {"device_memory", "memory"}) {
    const auto found = failures.find(cause);
    if (found != failures.end()) too_large += found->second;
  }
  if (too_large == 0) return "";
  return too_large == 1 ? "4" : "1";
}

int threads_of(const LocalOptions& local) {
  if (local.threads > 0) return local.threads;
  const int ranks = local.searches() * std::max(1, local.gpus_of_search());
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks);
}

std::string checkpoint_of(const db::Attempt& attempt) {
  const std::string checkpoint = attempt.directory + "/" + kCheckpointFile;
  return std::filesystem::exists(checkpoint) ? checkpoint : "";
}

// Somebody had its job cancelled, and its search stopped with a checkpoint of the micrograph as it
// still is. (Of another one the engine would refuse it.)
bool was_only_interrupted(const db::Attempt& attempt, const db::Item& item) {
  constexpr int kStopped = 85;
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return attempt.state == db::AttemptState::kCancelled && attempt.exit_code == kStopped &&
         item.micrograph_mtime_ns < attempt.created * kNanoseconds;
}

// A job resumes from a checkpoint of its own where it was requeued, and else from the one that it
// was given.
std::set<std::string> refused_checkpoints(const std::vector<db::Attempt>& earlier) {
  std::set<std::string> refused;
  for (const db::Attempt& attempt : earlier) {
    if (attempt.cause != kCheckpointCause) continue;
    const std::string own = checkpoint_of(attempt);
    refused.insert(own.empty() ? attempt.resume_from : own);
  }
  return refused;
}

// The newest attempt need not have one: it may have failed before its first checkpoint. After a
// `margay retry` the search begins anew, unless it had only been interrupted.
std::string newest_checkpoint(const std::vector<db::Attempt>& earlier, const db::Item& item) {
  const std::set<std::string> refused = refused_checkpoints(earlier);
  const auto fits = [&](const std::string& checkpoint) {
    return !checkpoint.empty() && refused.count(checkpoint) == 0;
  };
  for (auto attempt = earlier.rbegin(); attempt != earlier.rend(); ++attempt) {
    const bool counts = attempt->number > item.exempt_through;
    if (!counts && !was_only_interrupted(*attempt, item)) break;
    const std::string checkpoint = checkpoint_of(*attempt);
    if (fits(checkpoint)) return checkpoint;
    if (!counts) {
      const std::string& given = attempt->resume_from;
      return fits(given) && std::filesystem::exists(given) ? given : "";
    }
  }
  return "";
}

std::string width_text(const JobScript& script) {
  const std::string devices = script.gpus == 0   ? "CPU"
                              : script.gpus == 1 ? "1 GPU"
                                                 : std::to_string(script.gpus) + " GPUs";
  if (script.nodes == 1) return devices;
  return std::to_string(script.nodes) + " nodes (" + devices + ")";
}

db::Attempt next_attempt(const PlanContext& context, const db::Item& item,
                         const std::vector<db::Attempt>& earlier) {
  const std::string jobs = context.config.jobs();
  db::Attempt attempt;
  attempt.item_id = item.id;
  // A script may have run of which the database knows nothing: after a restore, for example.
  attempt.number =
      1 + std::max(earlier.empty() ? 0 : earlier.back().number, highest_claimed(jobs, item.id));
  attempt.token = db::make_token(context.database.instance(), item.id, attempt.number);
  attempt.directory = attempt_folder(jobs, item.id, attempt.number);
  attempt.resume_from = newest_checkpoint(earlier, item);
  return attempt;
}

}  // namespace

AttemptPlan plan_attempt(const PlanContext& context, const db::Item& item, JobShape shape,
                         JobTime time) {
  shape.priority = item.priority;
  const auto earlier = db::AttemptStore(context.database).of_item(item.id);
  const Failures failures = failures_of(earlier, item.exempt_through);
  AttemptPlan plan{.attempt = next_attempt(context, item, earlier),
                   .excluded_hosts = hosts_to_avoid(context, item.id)};
  const double longer = time_factor(failures_in_row(earlier, item.exempt_through));
  // What the limit was computed from is then not what is left.
  const bool begins_anew = plan.attempt.resume_from.empty() && item.searched > 0;
  JobScript script = render_job(
      context.config, {.item = item,
                       .attempt = plan.attempt,
                       .shape = shape,
                       .batch = batch_after(failures),
                       .threads = threads_of(context.config.local),
                       .excluded_hosts = plan.excluded_hosts,
                       .time_factor = time_factor(failures),
                       .memory_factor = memory_factor(failures),
                       .segment = std::llround(static_cast<double>(time.segment) * longer),
                       .limit = begins_anew ? 0 : time.limit,
                       .longest = time.longest});
  plan.width_text = width_text(script);
  plan.raised = std::move(script.raised);
  plan.attempt.script = std::move(script.text);
  plan.attempt.script_sha256 = base::sha256_of_text(plan.attempt.script);
  plan.attempt.gpus = script.gpus;
  plan.attempt.nodes = script.nodes;
  plan.attempt.gpus_per_node = script.gpus / std::max(1, script.nodes);
  plan.attempt.release_due = script.wide;
  plan.attempt.segment = script.segment;
  return plan;
}

AttemptPlan plan_attempt(const PlanContext& context, const db::Item& item, const JobStart& start) {
  JobShape shape = job_shape_of(context.config.slurm, start.width);
  shape.nice_of = start.floor_over;
  AttemptPlan plan =
      plan_attempt(context, item, shape,
                   {.segment = start.segment, .limit = start.limit, .longest = start.longest});
  plan.attempt.by_floor = start.floor_over.has_value();
  return plan;
}

std::set<std::string> hosts_to_avoid(const PlanContext& context, int64_t item_id) {
  const HostExclusionRules rules{.window = std::chrono::duration_cast<std::chrono::seconds>(
                                     context.config.intervals.host_failures)};
  const auto failures =
      db::HostFailureStore(context.database).since(context.now - rules.window.count());
  if (failures.empty()) return {};
  return excluded_hosts(failures, item_id, context.now, context.nodes(), rules);
}

Failures failures_in_row(const std::vector<db::Attempt>& attempts, int exempt_through) {
  const auto last = std::find_if(attempts.rbegin(), attempts.rend(),
                                 [](const db::Attempt& attempt) { return attempt.got_further; });
  const auto first = last == attempts.rend() ? attempts.begin() : std::prev(last.base());
  return failures_of({first, attempts.end()}, exempt_through);
}

Failures failures_of(const std::vector<db::Attempt>& attempts, int exempt_through) {
  Failures failures;
  bool limited = false;  // the attempt before
  for (const db::Attempt& attempt : attempts) {
    if (attempt.number <= exempt_through || attempt.exempt || attempt.cause.empty() ||
        db::is_open(attempt.state)) {
      continue;
    }
    if (limited) --failures[kRaiseRefused];
    limited = attempt.cause == kRaiseRefused && may_be_about_number(attempt.message);
    ++failures[attempt.cause];
  }
  std::erase_if(failures, [](const auto& failure) { return failure.second == 0; });
  return failures;
}

}  // namespace scheduler
