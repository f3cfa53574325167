#include "scheduler/daemon/width_inputs.h"

#include <algorithm>
#include <optional>

#include "db/attempts.h"
#include "db/measures.h"
#include "db/templates.h"
#include "scheduler/daemon/job_requests.h"
#include "scheduler/policy/cluster_forecast.h"

namespace scheduler {
namespace {

constexpr int64_t kBetweenLooks = 30'000;  // ms
constexpr int64_t kOldest = 300;           // seconds: older facts say nothing of now
// Jobs, nodes and partitions, and once in a while what slurmdbd keeps.
constexpr int kRequests = 8;
// A search that takes longer than expected still has this part of the expected time left.
constexpr double kLeastRest = 0.05;

const SearchTime* time_of(const QueueSnapshot& snapshot, int kind) {
  if (kind < 0 || static_cast<size_t>(kind) >= snapshot.times.size()) return nullptr;
  const auto& time = snapshot.times[static_cast<size_t>(kind)];
  return time ? &*time : nullptr;
}

// Until the end of a search that has run for so many seconds.
JobForecast rest_of(const SearchTime& time, const Width& width, double ran) {
  const double likely = run_seconds(time.model, time.work, width);
  const double late = bounded(likely, time.model, kNinetyPercent);
  return {.likely = std::max(likely - ran, kLeastRest * likely),
          .late = std::max(late - ran, kLeastRest * late)};
}

bool is_known(const slurm::ClusterFacts& facts, const std::string& token) {
  const auto is_it = [&](const slurm::QueuedJob& job) { return job.status.name == token; };
  return std::any_of(facts.running.begin(), facts.running.end(), is_it) ||
         std::any_of(facts.waiting.begin(), facts.waiting.end(), is_it);
}

void pass(ClusterForecast& forecast, double seconds) {
  for (NodeForecast& node : forecast) {
    for (double& gpu : node) gpu -= seconds;
  }
}

std::string partition_of(const ClusterLimits& limits) {
  const auto named = limits.plain_place.find("partition");
  return named == limits.plain_place.end() ? "" : named->second;
}

}  // namespace

void WidthInputs::look(const ClusterLimits& limits) {
  if (limits.classes.empty()) return;
  const int64_t now_ms = context_.clock.boot_ms();
  if (asked_ms_ >= 0 && now_ms < asked_ms_ + kBetweenLooks) return;
  if (context_.cluster.allowance() < kKeptBySubmissions + kRequests) return;
  asked_ms_ = now_ms;
  measures_ = db::MeasureStore(context_.database).all();
  slurm::ClusterFacts facts = context_.cluster.facts();
  const std::string problem = facts.complete ? "" : facts.problem;
  if (problem != problem_ && !problem.empty()) {
    context_.log("the cluster's GPUs are not known, so that items get the site's widths: " +
                 problem);
  }
  problem_ = problem;
  if (!facts.complete) return;
  facts_ = std::move(facts);
  forecast_.reset();
  read_ = context_.clock.now();
}

void WidthInputs::add_times(QueueSnapshot& snapshot) {
  snapshot.times.clear();
  for (const SearchKind& kind : snapshot.kinds) {
    db::SearchCounts& counts = counts_[kind.template_id];
    if (counts.engine.empty()) {
      const auto found = db::TemplateStore(context_.database).find(kind.template_id);
      if (found) counts = found->counts;
    }
    const SearchSize search{.counts = counts,
                            .image = {.width = kind.image_width, .height = kind.image_height}};
    snapshot.times.push_back(search_time(measures_, context_.config.rates, search));
  }
}

GpuForecast WidthInputs::forecast(const QueueSnapshot& snapshot,
                                  const std::vector<db::Attempt>& open) const {
  std::map<int64_t, int> kinds;
  for (const PlanItem& item : snapshot.items) {
    if (item.state == db::ItemState::kActive) kinds.emplace(item.id, item.kind);
  }
  ForecastQuestion question{.partition = partition_of(snapshot.limits)};
  struct Missing {
    Width width{};
    JobForecast rest{};
  };
  std::vector<Missing> missing;  // submitted since the cluster was asked
  for (const db::Attempt& attempt : open) {
    const auto kind = kinds.find(attempt.item_id);
    const SearchTime* time = kind == kinds.end() ? nullptr : time_of(snapshot, kind->second);
    const Width width{.nodes = attempt.nodes, .gpus_per_node = attempt.gpus_per_node};
    if (time == nullptr || width.gpus() == 0) continue;
    const bool runs = attempt.state == db::AttemptState::kRunning && attempt.started > 0;
    const double ran = runs ? static_cast<double>(read_ - attempt.started) : 0;
    const JobForecast rest = rest_of(*time, width, std::max(0.0, ran));
    if (is_known(facts_, attempt.token)) {
      question.ours.emplace(attempt.token, rest);
    } else {
      missing.push_back({width, rest});
    }
  }
  GpuForecast gpus = forecast_lane(facts_, question).gpus;
  for (const Missing& job : missing) {
    place(gpus.likely, job.width, job.rest.likely);
    place(gpus.late, job.width, job.rest.late);
  }
  return gpus;
}

void WidthInputs::add_gpus(QueueSnapshot& snapshot) {
  const int64_t age = snapshot.now - read_;
  if (read_ == 0 || age < 0 || age > kOldest) return;
  const auto open = db::AttemptStore(context_.database).open();
  std::vector<std::pair<std::string, db::AttemptState>> jobs;
  for (const db::Attempt& attempt : open) jobs.emplace_back(attempt.token, attempt.state);
  if (!forecast_ || jobs != forecast_for_) {
    forecast_ = forecast(snapshot, open);
    forecast_for_ = std::move(jobs);
  }
  snapshot.gpus = forecast_;
  pass(snapshot.gpus->likely, static_cast<double>(age));
  pass(snapshot.gpus->late, static_cast<double>(age));
}

void WidthInputs::add_to(QueueSnapshot& snapshot) {
  snapshot.gpus.reset();
  if (snapshot.limits.classes.empty()) return;
  add_times(snapshot);
  add_gpus(snapshot);
}

}  // namespace scheduler
