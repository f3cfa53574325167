#include "scheduler/simulate/virtual_cluster.h"

#include <algorithm>
#include <stdexcept>

#include "scheduler/policy/cluster_forecast.h"
#include "scheduler/policy/wait_forecast.h"

namespace scheduler {
namespace {

void hold(ClusterForecast& cluster, const VirtualJob& job, double until) {
  for (const int node : job.nodes) {
    NodeForecast& gpus = cluster[static_cast<size_t>(node)];
    gpus.insert(gpus.end(), static_cast<size_t>(job.width.gpus_per_node), until);
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
  const Turn turn{job.priority, submitted_++};
  turns_[job.item] = turn;
  ++waiting_of_class_[job.priority];
  waiting_.emplace(turn, std::move(job));
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
    for (const int node : job.nodes) free_[static_cast<size_t>(node)] -= job.width.gpus_per_node;
    job.started = now;
    ends_.emplace(now + job.seconds, job.item);
    started.push_back(job.item);
    running_.emplace(job.item, std::move(job));
  }
  return started;
}

std::optional<double> VirtualCluster::next_end() const {
  return ends_.empty() ? std::nullopt : std::optional(ends_.begin()->first);
}

void VirtualCluster::release(const VirtualJob& job) {
  for (const int node : job.nodes) free_[static_cast<size_t>(node)] += job.width.gpus_per_node;
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
  release(job);
  return job;
}

GpuForecast VirtualCluster::forecast(double now) const {
  GpuForecast gpus{ClusterForecast(free_.size()), ClusterForecast(free_.size())};
  for (const auto& [item, job] : running_) {
    const JobForecast rest = forecast_job(*job.time, job.width, now - job.started);
    hold(gpus.likely, job, rest.likely);
    hold(gpus.late, job, rest.late);
  }
  for (ClusterForecast* cluster : {&gpus.likely, &gpus.late}) {
    for (NodeForecast& node : *cluster) node.resize(static_cast<size_t>(gpus_per_node_), 0.0);
  }
  for (const auto& [turn, job] : waiting_) {
    const JobForecast whole = forecast_job(*job.time, job.width, 0);
    place(gpus.likely, job.width, whole.likely);
    place(gpus.late, job.width, whole.late);
  }
  return gpus;
}

}  // namespace scheduler
