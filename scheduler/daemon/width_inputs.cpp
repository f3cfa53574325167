#include "scheduler/daemon/width_inputs.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "db/attempts.h"
#include "db/measures.h"
#include "db/templates.h"
#include "scheduler/daemon/job_requests.h"
#include "scheduler/forecast/cluster_forecast.h"

namespace scheduler {
namespace {

constexpr int64_t kBetweenLooks = 30'000;  // ms
constexpr int64_t kOldest = 300;           // seconds: older facts say nothing of now
// Jobs, nodes and partitions.
constexpr int kRequests = 3;

const SearchTime* time_of(const QueueSnapshot& snapshot, int kind) {
  if (kind < 0 || static_cast<size_t>(kind) >= snapshot.times.size()) return nullptr;
  const auto& time = snapshot.times[static_cast<size_t>(kind)];
  return time ? &*time : nullptr;
}

std::set<std::string> names_of_ours(const slurm::ClusterFacts& facts) {
  std::set<std::string> names;
  for (const auto* jobs : {&facts.running, &facts.waiting}) {
    for (const slurm::QueuedJob& job : *jobs) {
      if (job.ours) names.insert(job.status.name);
    }
  }
  return names;
}

std::string why_no_partition(const ClusterLimits& limits) {
  const auto named = limits.plain_place.find("partition");
  if (named != limits.plain_place.end()) {
    return "'" + named->second +
           "' is not the name of one partition of the cluster; set slurm.options.partition to one";
  }
  return "the cluster does not say which partition is its default, as newer versions of slurmrestd "
         "do not; set slurm.options.partition to the one for searches";
}

void pass(ClusterForecast& forecast, double seconds) {
  for (NodeForecast& node : forecast) {
    for (double& gpu : node) gpu -= seconds;
  }
}

// The one partition in which plain jobs run; null where it is one of several, or nobody says which.
const slurm::PartitionFacts* partition_of(const slurm::SiteFacts& site, const ClusterLimits& limits,
                                          std::string& name) {
  if (!site.partitions.value) return nullptr;
  const auto named = limits.plain_place.find("partition");
  for (const auto& [partition, facts] : *site.partitions.value) {
    const bool is_it =
        named == limits.plain_place.end() ? facts.is_default : named->second == partition;
    if (!is_it) continue;
    name = partition;
    return &facts;
  }
  return nullptr;
}

}  // namespace

void WidthInputs::read_measures() {
  const int64_t now_ms = context_.clock.boot_ms();
  if (measured_ms_ >= 0 && now_ms < measured_ms_ + kBetweenLooks) return;
  measures_ = db::MeasureStore(context_.database).all();
  measured_ms_ = now_ms;
}

void WidthInputs::look(const ClusterLimits& limits) {
  read_measures();
  if (limits.classes.empty()) return;
  const int64_t now_ms = context_.clock.boot_ms();
  if (asked_ms_ >= 0 && now_ms < asked_ms_ + kBetweenLooks) return;
  if (context_.cluster.allowance() < kKeptBySubmissions + kRequests) {
    say("slurm.requests_per_minute leaves no room to ask the cluster; raise it");
    return;
  }
  asked_ms_ = now_ms;
  slurm::ClusterFacts facts = context_.cluster.facts_with_limits();
  if (!facts.complete) {
    say(facts.problem);
    return;
  }
  partition_.clear();
  const slurm::PartitionFacts* partition = partition_of(facts.site, limits, partition_);
  say(partition != nullptr ? "" : why_no_partition(limits));
  const int64_t most_nodes = partition == nullptr ? 0 : partition->most_nodes.value_or(0);
  most_nodes_ = static_cast<int>(
      std::clamp(most_nodes, int64_t{0}, int64_t{std::numeric_limits<int>::max()}));
  facts_ = std::move(facts);
  bounds_.clear();
  forecast_.reset();
  read_ = context_.clock.now();
}

void WidthInputs::say(const std::string& problem) {
  if (problem != problem_ && !problem.empty()) {
    context_.warn(
        "the cluster's GPUs are not known, so that items get slurm.shape and "
        "slurm.urgent_shape: " +
        problem);
  }
  problem_ = problem;
}

void WidthInputs::add_times(QueueSnapshot& snapshot) {
  snapshot.times.clear();
  snapshot.no_time.clear();
  for (const SearchKind& kind : snapshot.kinds) {
    db::SearchCounts& counts = counts_[kind.template_id];
    if (counts.engine.empty()) {
      const auto found = db::TemplateStore(context_.database).find(kind.template_id);
      if (found) counts = found->counts;
    }
    const SearchSize search{.counts = counts,
                            .image = {.width = kind.image_width, .height = kind.image_height}};
    const std::string why = why_unknown(search);
    if (!why.empty()) snapshot.no_time[static_cast<int>(snapshot.times.size())] = why;
    snapshot.times.push_back(search_time(measures_, context_.config.rates, search));
  }
}

GpuForecast WidthInputs::forecast(const QueueSnapshot& snapshot,
                                  const std::vector<db::Attempt>& open) const {
  std::map<int64_t, const PlanItem*> active;
  for (const PlanItem& item : snapshot.items) {
    if (item.state == db::ItemState::kActive) active.emplace(item.id, &item);
  }
  ForecastQuestion question{.partition = partition_};
  const std::set<std::string> seen = names_of_ours(facts_);
  // What has ended since the cluster was asked is free.
  for (const std::string& token : seen) question.ours.emplace(token, JobForecast{});
  struct Missing {
    int64_t item = 0;
    Width width{};
    JobForecast rest{};
  };
  std::vector<Missing> missing;  // submitted since the cluster was asked
  for (const db::Attempt& attempt : open) {
    const auto item = active.find(attempt.item_id);
    const SearchTime* time = item == active.end() ? nullptr : time_of(snapshot, item->second->kind);
    const Width width{.nodes = attempt.nodes, .gpus_per_node = attempt.gpus_per_node};
    if (time == nullptr || width.gpus() == 0) {
      question.ours.erase(attempt.token);  // its time limit counts
      continue;
    }
    const bool runs = attempt.state == db::AttemptState::kRunning && attempt.started > 0;
    const double ran = runs ? static_cast<double>(read_ - attempt.started) : 0;
    const JobForecast rest =
        forecast_job(*time, width, std::max(0.0, ran), item->second->left, attempt.segment);
    if (seen.contains(attempt.token)) {
      question.ours[attempt.token] = rest;
    } else {
      missing.push_back({attempt.item_id, width, rest});
    }
  }
  LaneForecast lane = forecast_lane(facts_, question);
  GpuForecast gpus = std::move(lane.gpus);
  gpus.free_now = std::max(0, gpus.free_now - started_since(open));
  for (const db::Attempt& attempt : open) {
    if (attempt.segment > 0) gpus.segments[attempt.item_id] = attempt.segment;
    const auto start = lane.starts.find(attempt.token);
    if (start != lane.starts.end()) gpus.starts[attempt.item_id] = start->second;
    const auto late = lane.late_starts.find(attempt.token);
    if (late != lane.late_starts.end()) gpus.late_starts[attempt.item_id] = late->second;
  }
  for (const Missing& job : missing) {
    const auto start = place(gpus.likely, job.width, job.rest.likely);
    if (start) gpus.starts[job.item] = *start;
    const auto late = place(gpus.late, job.width, job.rest.late);
    if (late) gpus.late_starts[job.item] = *late;
  }
  return gpus;
}

// The GPUs of our jobs that did not run yet when the cluster was asked.
int WidthInputs::started_since(const std::vector<db::Attempt>& open) const {
  std::set<std::string> ran;
  for (const slurm::QueuedJob& job : facts_.running) ran.insert(job.status.name);
  int gpus = 0;
  for (const db::Attempt& attempt : open) {
    const bool runs = attempt.state == db::AttemptState::kRunning;
    if (runs && !ran.contains(attempt.token)) gpus += attempt.nodes * attempt.gpus_per_node;
  }
  return gpus;
}

void WidthInputs::add_gpus(QueueSnapshot& snapshot) {
  const int64_t age = snapshot.now - read_;
  if (read_ == 0 || std::abs(age) > kOldest || partition_.empty()) return;
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
  for (auto& [item, start] : snapshot.gpus->starts) start -= static_cast<double>(age);
  for (auto& [item, start] : snapshot.gpus->late_starts) start -= static_cast<double>(age);
}

JobBounds WidthInputs::bounds_at(const std::map<std::string, std::string>& place) {
  const auto [known, is_new] = bounds_.try_emplace(place);
  if (is_new) known->second = bounds_of_job(facts_.site, partition_, place);
  return known->second;
}

// Those of an item's own account and QOS go before its class's, and these before the site's.
void WidthInputs::add_bounds(QueueSnapshot& snapshot) {
  const ClusterLimits& limits = snapshot.limits;
  std::map<db::Priority, std::map<std::string, std::string>> places;
  for (const auto& [priority, widths] : limits.classes) {
    auto& place = places[priority] = limits.plain_place;
    const auto options = limits.class_options.find(priority);
    if (options == limits.class_options.end()) continue;
    for (const char* option : {"account", "qos"}) {
      const auto given = options->second.find(option);
      if (given != options->second.end()) place[option] = given->second;
    }
  }
  for (const auto& [priority, place] : places) snapshot.bounds[{priority, {}}] = bounds_at(place);
  // Items of a class that ask the same share what they ask.
  std::set<std::pair<db::Priority, const ItemAsks*>> seen;
  for (const PlanItem& item : snapshot.items) {
    if (!item.asks || item.asks->place.empty()) continue;
    if (!seen.emplace(item.priority, item.asks.get()).second) continue;
    const auto [known, is_new] = snapshot.bounds.try_emplace({item.priority, item.asks->place});
    if (!is_new) continue;
    auto place = item.asks->place;
    place.merge(std::map(places[item.priority]));
    known->second = bounds_at(place);
  }
}

void WidthInputs::add_to(QueueSnapshot& snapshot) {
  snapshot.gpus.reset();
  snapshot.no_gpus = problem_;
  add_times(snapshot);
  if (snapshot.limits.classes.empty()) return;
  snapshot.limits.most_nodes = most_nodes_;
  if (read_ > 0) add_bounds(snapshot);
  add_gpus(snapshot);
}

}  // namespace scheduler
