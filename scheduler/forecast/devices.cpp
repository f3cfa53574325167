#include "scheduler/forecast/devices.h"

#include <algorithm>

namespace scheduler {

Devices::Devices(ClusterForecast free, int most_jobs, bool counts_gpus)
    : free_(std::move(free)),
      most_jobs_(static_cast<size_t>(std::max(1, most_jobs))),
      counts_gpus_(counts_gpus) {
  for (const NodeForecast& node : free_) count_ += node.size();
}

std::optional<double> Devices::earliest(const Width& width) {
  put_back();
  return earliest_start(free_, taken_by(width));
}

std::optional<double> Devices::resume(const Width& width, double seconds, double stops) {
  put_back();
  return place(free_, taken_by(width), seconds, stops);
}

std::optional<double> Devices::take(const Width& width, double seconds) {
  const Width taken = taken_by(width);
  if (taken.nodes != 1 || !is_unit(taken.gpus_per_node)) {
    put_back();
    return place(free_, taken, seconds);
  }
  if (unit_ != taken.gpus_per_node) build(taken.gpus_per_node);
  if (heap_.empty()) return std::nullopt;
  Unit unit = heap_.top();
  heap_.pop();
  const double start = std::max(0.0, unit.first);
  heap_.emplace(start + seconds, unit.second);
  return start;
}

bool Devices::is_unit(int gpus) const {
  if (gpus == 1) return true;
  return std::all_of(free_.begin(), free_.end(), [gpus](const NodeForecast& node) {
    return node.size() == static_cast<size_t>(gpus);
  });
}

void Devices::build(int gpus) {
  put_back();
  unit_ = gpus;
  std::vector<Unit> units;
  for (size_t node = 0; node < free_.size(); ++node) {
    if (gpus > 1) {
      units.emplace_back(*std::max_element(free_[node].begin(), free_[node].end()), node);
      continue;
    }
    for (size_t gpu = 0; gpu < free_[node].size(); ++gpu) {
      units.emplace_back(free_[node][gpu], units.size());
    }
  }
  std::sort(units.begin(), units.end());
  // No more jobs run at once: the devices that are free last are not needed.
  if (units.size() > most_jobs_) units.resize(most_jobs_);
  heap_ = Heap(std::greater<>(), std::move(units));
}

// What the heap knows, as the forecast of the nodes.
void Devices::put_back() {
  std::vector<double*> single;
  if (unit_ == 1) {
    for (NodeForecast& node : free_) {
      for (double& gpu : node) single.push_back(&gpu);
    }
  }
  for (; unit_ > 0 && !heap_.empty(); heap_.pop()) {
    const auto& [free, which] = heap_.top();
    if (unit_ == 1) {
      *single[which] = free;
    } else {
      std::fill(free_[which].begin(), free_[which].end(), free);
    }
  }
  unit_ = 0;
}

}  // namespace scheduler
