#include "scheduler/forecast/cluster_forecast.h"

#include <algorithm>
#include <utility>

#include "slurm/job_states.h"

namespace scheduler {
namespace {

using slurm::NodeFacts;
using slurm::QueuedJob;

// What is busy and past its end is free at any moment, but not now.
constexpr double kAnyMoment = 30;
// As long as Slurm itself counts a job without a limit.
constexpr double kNoLimit = 365 * 24 * 3600.0;
// Of the expected time of a search that takes longer.
constexpr double kLeastRest = 0.05;
constexpr int64_t kMostPlaced = 2'000;

enum class Certainty { kLikely, kLate };

double seconds_of(const JobForecast& job, Certainty certainty) {
  return certainty == Certainty::kLate ? job.late : job.likely;
}

// The forecast of one certainty, over all nodes of the cluster that jobs can start on.
class Forecast {
 public:
  Forecast(const slurm::ClusterFacts& facts, const ForecastQuestion& question, Certainty certainty)
      : facts_(facts), question_(question), certainty_(certainty) {
    add_nodes();
    for (const QueuedJob& job : facts_.running) hold(job);
    for (const auto& [name, use] : facts_.unseen) hold_unseen(name, use);
    hold_without_processors();
    count_free();
    for (const QueuedJob& job : facts_.waiting) place_waiting(job);
  }

  // Of the partition alone. Their names are in the same order.
  ClusterForecast of_partition(const std::string& partition,
                               std::vector<std::string>& names) const {
    ClusterForecast lane;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!partition.empty() && nodes_[i].facts->partitions.count(partition) == 0) continue;
      names.push_back(nodes_[i].facts->name);
      lane.push_back(forecast_[i]);
    }
    return lane;
  }
  int64_t not_placed() const { return not_placed_; }
  const std::map<std::string, double>& starts() const { return starts_; }
  // On the partition's nodes.
  int held_by_others(const std::string& partition) const {
    int gpus = 0;
    for (const Node& node : nodes_) {
      if (partition.empty() || node.facts->partitions.count(partition) > 0) gpus += node.by_others;
    }
    return gpus;
  }
  int free_now(const std::string& partition) const {
    int gpus = 0;
    for (const Node& node : nodes_) {
      if (partition.empty() || node.facts->partitions.count(partition) > 0) gpus += node.free;
    }
    return gpus;
  }
  int64_t others_waiting(const std::string& partition) const {
    int64_t jobs = 0;
    for (const QueuedJob& job : facts_.waiting) {
      const bool there = partition.empty() || job.partitions.count(partition) > 0;
      if (!job.ours && there && goes_first(job)) jobs += job.waiting_tasks;
    }
    return jobs;
  }

 private:
  struct Node {
    const NodeFacts* facts = nullptr;
    size_t held = 0;       // its first GPUs, which have an end
    int by_others = 0;     // GPUs that other people's jobs hold
    int free = 0;          // GPUs that no job holds
    double first_end = 0;  // of all that it runs; 0: it runs nothing
  };

  void add_nodes();
  void hold(const QueuedJob& job);
  void hold_unseen(const std::string& name, const slurm::UnseenUse& use);
  void hold_without_processors();
  void count_free();
  void hold_devices(size_t node, int64_t count, double end);
  void place_waiting(const QueuedJob& job);
  bool goes_first(const QueuedJob& job) const;
  const std::vector<size_t>& nodes_of(const slurm::Names& partitions);
  int64_t devices(int gpus, int64_t cpus) const;
  const JobForecast* prediction_of(const QueuedJob& job) const;
  double limit_of(const slurm::Names& partitions) const;
  double rest_of(const QueuedJob& job) const;
  double length_of(const QueuedJob& job) const;
  double ratio() const {
    return certainty_ == Certainty::kLate ? 1 : std::clamp(question_.limit_ratio, 0.0, 1.0);
  }
  double since(int64_t time) const { return static_cast<double>(time - facts_.site.now); }

  const slurm::ClusterFacts& facts_;
  const ForecastQuestion& question_;
  Certainty certainty_;
  std::vector<Node> nodes_;
  ClusterForecast forecast_;  // of the same nodes
  std::map<std::string, size_t> index_;
  std::map<slurm::Names, std::vector<size_t>> nodes_of_;
  int64_t placed_ = 0;
  int64_t not_placed_ = 0;
  std::map<std::string, double> starts_;  // of our jobs that wait
};

int64_t Forecast::devices(int gpus, int64_t cpus) const {
  if (question_.cpus_per_device < 1) return gpus;
  return (cpus + question_.cpus_per_device - 1) / question_.cpus_per_device;
}

void Forecast::add_nodes() {
  if (!facts_.site.nodes.value) return;
  for (const NodeFacts& node : facts_.site.nodes.value->each) {
    if (node.use != slurm::NodeUse::kUsable) continue;
    const int64_t count =
        question_.cpus_per_device < 1 ? node.gpus : node.cpus / question_.cpus_per_device;
    index_[node.name] = nodes_.size();
    nodes_.push_back({.facts = &node});
    forecast_.emplace_back(static_cast<size_t>(std::max<int64_t>(0, count)), 0.0);
  }
}

void Forecast::hold_devices(size_t node, int64_t count, double end) {
  Node& on = nodes_[node];
  on.first_end = on.first_end > 0 ? std::min(on.first_end, end) : end;
  NodeForecast& ends = forecast_[node];
  for (; count > 0 && on.held < ends.size(); --count) ends[on.held++] = end;
}

void Forecast::hold(const QueuedJob& job) {
  const double end = rest_of(job);
  for (const slurm::NodeShare& share : slurm::shares_of(job)) {
    const auto node = index_.find(share.node);
    if (node == index_.end()) continue;
    const int64_t count = devices(share.gpus, share.cpus);
    if (!job.ours) nodes_[node->second].by_others += static_cast<int>(count);
    hold_devices(node->second, count, end);
  }
}

void Forecast::hold_unseen(const std::string& name, const slurm::UnseenUse& use) {
  const auto node = index_.find(name);
  if (node == index_.end()) return;
  const double limit = limit_of(nodes_[node->second].facts->partitions);
  const bool by_cpu = question_.cpus_per_device > 0;
  const std::vector<int64_t>& busy = by_cpu ? use.cpus : use.gpus;
  // The youngest of the processors that make a device decides when it is free.
  const size_t step = by_cpu ? static_cast<size_t>(question_.cpus_per_device) : 1;
  for (size_t i = 0; i < busy.size(); i += step) {
    const int64_t first_seen = busy[std::min(i + step, busy.size()) - 1];
    hold_devices(node->second, 1, std::max(kAnyMoment, since(first_seen) + limit));
    ++nodes_[node->second].by_others;
  }
  if (by_cpu || use.cpus.empty()) return;
  hold_devices(node->second, 0, std::max(kAnyMoment, since(use.cpus.front()) + limit));
}

// GPUs that nobody holds cannot be used as long as all processors of their node are.
void Forecast::hold_without_processors() {
  if (question_.cpus_per_device > 0) return;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NodeFacts& node = *nodes_[i].facts;
    if (node.cpus == 0 || node.cpus_busy < node.cpus) continue;
    const double end = nodes_[i].first_end > 0 ? nodes_[i].first_end : kAnyMoment;
    hold_devices(i, node.gpus, end);
  }
}

void Forecast::count_free() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].free = static_cast<int>(std::count(forecast_[i].begin(), forecast_[i].end(), 0.0));
  }
}

// Of one of Margay's jobs; nullptr: there is none.
const JobForecast* Forecast::prediction_of(const QueuedJob& job) const {
  const auto found = question_.ours.find(job.status.name);
  return job.ours && found != question_.ours.end() ? &found->second : nullptr;
}

// The longest that they allow.
double Forecast::limit_of(const slurm::Names& partitions) const {
  double longest = 0;
  for (const std::string& name : partitions) {
    if (!facts_.site.partitions.value) break;
    const auto found = facts_.site.partitions.value->find(name);
    if (found == facts_.site.partitions.value->end()) continue;
    const auto& minutes = found->second.most_minutes;
    longest = std::max(longest, minutes ? 60.0 * static_cast<double>(*minutes) : kNoLimit);
  }
  return longest > 0 ? longest : kNoLimit;
}

// Seconds until a job that runs has ended. One that has already run for longer than the ratio
// gives is expected to take as much of what is left of its limit.
double Forecast::rest_of(const QueuedJob& job) const {
  if (const JobForecast* own = prediction_of(job)) {
    return std::max(kAnyMoment, seconds_of(*own, certainty_));
  }
  if (job.status.state == slurm::JobState::kCompleting) return kAnyMoment;
  const double start = job.status.start_time > 0 ? since(job.status.start_time) : 0;
  const double limit = job.limit_end > 0 ? since(job.limit_end) : start + limit_of(job.partitions);
  double rest = start + ratio() * (limit - start);
  if (rest <= 0) rest = ratio() * limit;
  return std::max(kAnyMoment, rest);
}

// Seconds that a job that waits will run.
double Forecast::length_of(const QueuedJob& job) const {
  if (const JobForecast* own = prediction_of(job)) return seconds_of(*own, certainty_);
  const double limit =
      job.limit_minutes ? 60.0 * static_cast<double>(*job.limit_minutes) : limit_of(job.partitions);
  return ratio() * limit;
}

bool Forecast::goes_first(const QueuedJob& job) const {
  if (job.status.held) return false;
  if (slurm::what_it_waits_for(job.status.reason) != slurm::WaitsFor::kTurn) return false;
  if (job.ours) return prediction_of(job) != nullptr;
  return !question_.priority || job.priority >= *question_.priority;
}

const std::vector<size_t>& Forecast::nodes_of(const slurm::Names& partitions) {
  const auto known = nodes_of_.find(partitions);
  if (known != nodes_of_.end()) return known->second;
  std::vector<size_t>& found = nodes_of_[partitions];
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const slurm::Names& has = nodes_[i].facts->partitions;
    const bool one = std::any_of(partitions.begin(), partitions.end(),
                                 [&](const std::string& name) { return has.count(name) > 0; });
    if (one) found.push_back(i);
  }
  return found;
}

// A job that no node of its partitions has room for takes nothing.
void Forecast::place_waiting(const QueuedJob& job) {
  const int64_t wanted = devices(job.status.gpus.value_or(0), job.cpus);
  if (wanted < 1 || !goes_first(job)) return;
  const int nodes = std::max(1, job.nodes);
  const Width width{.nodes = nodes,
                    .gpus_per_node = static_cast<int>((wanted + nodes - 1) / nodes)};
  const double not_before = job.expected_start > 0 ? since(job.expected_start) : 0;
  const std::vector<size_t>& eligible = nodes_of(job.partitions);
  ClusterForecast part;
  for (const size_t i : eligible) part.push_back(std::move(forecast_[i]));
  int tasks = job.waiting_tasks;
  for (; tasks > 0 && placed_ < kMostPlaced; --tasks, ++placed_) {
    const auto start = place(part, width, length_of(job), not_before);
    if (!start) break;
    if (job.ours) starts_[job.status.name] = *start;
  }
  if (placed_ >= kMostPlaced) not_placed_ += tasks;
  for (size_t i = 0; i < eligible.size(); ++i) forecast_[eligible[i]] = std::move(part[i]);
}

std::string default_partition(const slurm::SiteFacts& site) {
  if (!site.partitions.value) return "";
  for (const auto& [name, partition] : *site.partitions.value) {
    if (partition.is_default) return name;
  }
  return "";
}

}  // namespace

JobForecast forecast_job(const SearchTime& time, const Width& width, double ran, double left,
                         int64_t segment) {
  double likely = run_seconds(time.model, time.work * left, width);
  double late = bounded(likely, time.model, kNinetyPercent);
  if (segment > 0) {
    likely = std::min(likely, static_cast<double>(segment));
    late = std::min(late, static_cast<double>(segment));
  }
  return {.likely = std::max(likely - ran, kLeastRest * likely),
          .late = std::max(late - ran, kLeastRest * late)};
}

LaneForecast forecast_lane(const slurm::ClusterFacts& facts, const ForecastQuestion& question) {
  const std::string partition =
      question.partition.empty() ? default_partition(facts.site) : question.partition;
  const Forecast likely(facts, question, Certainty::kLikely);
  const Forecast late(facts, question, Certainty::kLate);
  LaneForecast lane;
  lane.gpus.likely = likely.of_partition(partition, lane.nodes);
  std::vector<std::string> same;
  lane.gpus.late = late.of_partition(partition, same);
  lane.gpus.not_placed = late.not_placed();
  lane.starts = likely.starts();
  lane.late_starts = late.starts();
  lane.gpus.free_now = likely.free_now(partition);
  lane.gpus.held_by_others = late.held_by_others(partition);
  lane.gpus.others_waiting = late.others_waiting(partition);
  return lane;
}

}  // namespace scheduler
