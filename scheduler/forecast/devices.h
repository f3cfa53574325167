// The devices on which jobs run, and when each is free: list scheduling of one job after the other.
// Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "scheduler/config/width.h"
#include "scheduler/forecast/wait_forecast.h"

namespace scheduler {

// Most jobs take one device or one whole node and find their devices in a heap; a wider one
// rebuilds it. Times are seconds from the plan.
class Devices {
 public:
  // At most `most_jobs` jobs run at once. Where GPUs are not counted, a device is the place of one
  // job, whatever its width.
  Devices(ClusterForecast free, int most_jobs, bool counts_gpus);

  double count() const { return static_cast<double>(count_); }
  std::optional<double> earliest(const Width& width);
  // The start of the next job, of this width and run time, of a search whose present job stops with
  // a checkpoint at `stops`; nullopt: there is no room.
  std::optional<double> resume(const Width& width, double seconds, double stops);
  // Places a job of this width that runs for `seconds`, and returns its start; nullopt: there is no
  // room.
  std::optional<double> take(const Width& width, double seconds);

 private:
  using Unit = std::pair<double, size_t>;  // when it is free, and its index
  using Heap = std::priority_queue<Unit, std::vector<Unit>, std::greater<>>;

  Width taken_by(const Width& width) const { return counts_gpus_ ? width : Width{}; }
  bool is_unit(int gpus) const;
  void build(int gpus);
  void put_back();

  ClusterForecast free_;
  size_t most_jobs_;
  bool counts_gpus_;
  size_t count_ = 0;
  int unit_ = 0;  // GPUs of a unit in the heap; 0: the heap is empty
  Heap heap_{};
};

}  // namespace scheduler
