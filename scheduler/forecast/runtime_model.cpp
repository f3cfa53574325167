#include "scheduler/forecast/runtime_model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace scheduler {
namespace {

double start_seconds(const RuntimeModel& model, const Width& width) {
  if (width.gpus() == 1) return model.start_seconds_gpu;
  return width.nodes == 1 ? model.start_seconds_node : model.start_seconds_nodes;
}

}  // namespace

double straggler_loss(const RuntimeModel& model, int gpus) {
  const auto& known = model.straggler_loss;
  if (known.empty()) return 0;
  const auto above = known.lower_bound(gpus);
  if (above == known.begin()) return above->second;
  const auto below = std::prev(above);
  if (above == known.end()) return below->second;
  const double way = std::log(static_cast<double>(gpus) / below->first) /
                     std::log(static_cast<double>(above->first) / below->first);
  return below->second + way * (above->second - below->second);
}

double run_seconds(const RuntimeModel& model, double work, const Width& width, Start start) {
  if (!(work >= 0)) throw std::invalid_argument("a search cannot take negative time");
  const double parallel = work / width.gpus() * (1 + straggler_loss(model, width.gpus()));
  switch (start) {
    case Start::kCold:
      return parallel + model.serial_seconds + start_seconds(model, width);
    case Start::kWarm:
      return parallel + model.warm_serial_seconds;
  }
  return parallel;
}

double bounded(double seconds, const RuntimeModel& model, double z) {
  return seconds * std::exp(z * model.sigma);
}

double efficiency(const RuntimeModel& model, double work, const Width& width, Start start) {
  return work / (width.gpus() * run_seconds(model, work, width, start));
}

int64_t time_limit(const RuntimeModel& model, double seconds, double checkpoint_seconds,
                   int64_t longest) {
  constexpr int64_t kStep = 300;
  const double wanted =
      1.15 * bounded(seconds, model, kNinetyFivePercent) + std::max(0.0, checkpoint_seconds);
  const int64_t limit = kStep * static_cast<int64_t>(std::ceil(wanted / kStep));
  return longest > 0 ? std::min(limit, longest) : limit;
}

}  // namespace scheduler
