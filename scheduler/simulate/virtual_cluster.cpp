#include "scheduler/simulate/virtual_cluster.h"

#include <algorithm>
#include <stdexcept>

#include "scheduler/forecast/cluster_forecast.h"
#include "scheduler/forecast/wait_forecast.h"

namespace scheduler {
namespace {

void hold_gpus(ClusterForecast& cluster, const std::vector<int>& nodes, const Width& width,
               double until) {
  for (const int node : nodes) {
    NodeForecast& gpus = cluster[static_cast<size_t>(node)];
    gpus.insert(gpus.end(), static_cast<size_t>(width.gpus_per_node), until);
  }
}

}  // namespace

VirtualCluster::VirtualCluster(int nodes, int gpus_per_node)
    : gpus_per_node_(gpus_per_node), free_(static_cast<size_t>(nodes), gpus_per_node) {}

void VirtualCluster::submit(VirtualJob job) {
  if (job.width.gpus() < 1 || job.width.gpus_per_node > gpus_per_node_ ||
      static_cast<size_t>(job.width.nodes) > free_.size()) {
    throw std::invalid_argument("the simulated cluster has no " + to_string(job.width));
  }
  const Turn turn{job.rank, submitted_++};
  turns_[job.item] = turn;
  ++waiting_of_class_[job.priority];
  waiting_.emplace(turn, std::move(job));
}

void VirtualCluster::hold(const Width& width, double end) {
  std::vector<int> nodes = nodes_for(width);
  if (nodes.empty()) {
    throw std::invalid_argument("the simulated cluster has no " + to_string(width) + " free");
  }
  take_gpus(nodes, width, 1);
  others_.emplace(end, OthersJob{.width = width, .nodes = std::move(nodes)});
}

// The fullest nodes that have room, so that whole ones stay free; empty when there is no room.
std::vector<int> VirtualCluster::nodes_for(const Width& width) const {
  std::vector<int> nodes;
  for (size_t node = 0; node < free_.size(); ++node) {
    if (free_[node] >= width.gpus_per_node) nodes.push_back(static_cast<int>(node));
  }
  const auto wanted = static_cast<size_t>(width.nodes);
  if (nodes.size() < wanted) return {};
  const auto is_fuller = [&](int a, int b) {
    return std::pair(free_[static_cast<size_t>(a)], a) <
           std::pair(free_[static_cast<size_t>(b)], b);
  };
  std::partial_sort(nodes.begin(), nodes.begin() + width.nodes, nodes.end(), is_fuller);
  nodes.resize(wanted);
  return nodes;
}

std::vector<size_t> VirtualCluster::start_waiting(double now) {
  std::vector<size_t> started;
  while (!waiting_.empty()) {
    VirtualJob& first = waiting_.begin()->second;
    first.nodes = nodes_for(first.width);
    if (first.nodes.empty()) break;
    VirtualJob job = std::move(first);
    waiting_.erase(waiting_.begin());
    turns_.erase(job.item);
    --waiting_of_class_[job.priority];
    take_gpus(job.nodes, job.width, 1);
    job.started = now;
    ends_.emplace(now + job.seconds, job.item);
    started.push_back(job.item);
    running_.emplace(job.item, std::move(job));
  }
  return started;
}

std::optional<double> VirtualCluster::next_end() const {
  std::optional<double> next;
  if (!ends_.empty()) next = ends_.begin()->first;
  if (!others_.empty())
    next = std::min(next.value_or(others_.begin()->first), others_.begin()->first);
  return next;
}

// Gives them back where `sign` is -1.
void VirtualCluster::take_gpus(const std::vector<int>& nodes, const Width& width, int sign) {
  for (const int node : nodes) free_[static_cast<size_t>(node)] -= sign * width.gpus_per_node;
}

bool VirtualCluster::release_others(double now) {
  const auto running = others_.upper_bound(now);
  const bool any = running != others_.begin();
  for (auto job = others_.begin(); job != running; ++job) {
    take_gpus(job->second.nodes, job->second.width, -1);
  }
  others_.erase(others_.begin(), running);
  return any;
}

std::vector<VirtualJob> VirtualCluster::take_ended(double now) {
  std::vector<VirtualJob> ended;
  while (!ends_.empty() && ends_.begin()->first <= now)
    ended.push_back(take(ends_.begin()->second));
  return ended;
}

VirtualJob VirtualCluster::take(size_t item) {
  if (const auto turn = turns_.find(item); turn != turns_.end()) {
    VirtualJob job = std::move(waiting_.extract(turn->second).mapped());
    --waiting_of_class_[job.priority];
    turns_.erase(turn);
    return job;
  }
  VirtualJob job = std::move(running_.extract(item).mapped());
  ends_.erase({job.started + job.seconds, item});
  take_gpus(job.nodes, job.width, -1);
  return job;
}

GpuForecast VirtualCluster::forecast(double now) const {
  GpuForecast gpus;
  forecast(now, gpus);
  return gpus;
}

void VirtualCluster::forecast(double now, GpuForecast& gpus) const {
  for (ClusterForecast* cluster : {&gpus.likely, &gpus.late}) {
    cluster->resize(free_.size());
    for (NodeForecast& node : *cluster) node.clear();
  }
  for (const auto& [item, job] : running_) {
    const JobForecast rest =
        forecast_job(*job.time, job.width, now - job.started, job.left, job.segment);
    hold_gpus(gpus.likely, job.nodes, job.width, rest.likely);
    hold_gpus(gpus.late, job.nodes, job.width, rest.late);
  }
  for (const auto& [end, job] : others_) {
    hold_gpus(gpus.likely, job.nodes, job.width, end - now);
    hold_gpus(gpus.late, job.nodes, job.width, end - now);
  }
  for (ClusterForecast* cluster : {&gpus.likely, &gpus.late}) {
    for (NodeForecast& node : *cluster) node.resize(static_cast<size_t>(gpus_per_node_), 0.0);
  }
  for (const auto& [turn, job] : waiting_) {
    const JobForecast whole = forecast_job(*job.time, job.width, 0, job.left, job.segment);
    place(gpus.likely, job.width, whole.likely);
    place(gpus.late, job.width, whole.late);
  }
}

}  // namespace scheduler
