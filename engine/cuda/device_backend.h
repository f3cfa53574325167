// The backend on a device. It makes projections, correlates them by a Correlator (PlaneCorrelator
// or a class with the same functions), and keeps the statistics on the device until they are read.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/transforms.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/cuda/map_statistics.h"
#include "engine/cuda/projector.h"

namespace engine::cuda {

template <typename Device, template <typename> typename Correlator>
class DeviceBackend : public Backend {
 public:
  // `problem` must outlive the backend.
  DeviceBackend(std::unique_ptr<Device> device, const Problem& problem, const MemoryPlan& plan)
      : device_(std::move(device)),
        problem_(problem),
        batch_(plan.batch),
        fft_(plan.fused ? "fused" : "cufft"),
        precision_(precision_name(plan.precision)),
        statistics_(*device_, problem.valid_height(), problem.valid_width()),
        projector_(*device_, problem, plan),
        correlator_(*device_, problem, plan,
                    static_cast<size_t>(plan.batch) * static_cast<size_t>(problem.planes())) {
    device_->allocate_workspace();
  }

  std::string name() const override { return "cuda"; }
  std::string fft() const override { return fft_; }
  std::string precision() const override { return precision_; }
  int batch() const override { return batch_; }

  void correlate(std::span<const Unit> units) override {
    const auto most = static_cast<size_t>(batch_);
    for (size_t begin = 0; begin < units.size(); begin += most) {
      const auto batch = units.subspan(begin, std::min(most, units.size() - begin));
      const Projections projections = projector_.project(batch);
      const std::vector<Transform> transforms = list_transforms(
          batch, problem_.planes(), static_cast<int64_t>(problem_.orientations.size()));
      correlator_.add(projections, transforms, statistics_.on_device());
    }
    statistics_.check_earlier(problem_.extreme_pixel);
  }

  Accumulators accumulators() const override { return statistics_.read(problem_.extreme_pixel); }
  double best_z(int64_t correlations) const override { return statistics_.best_z(correlations); }
  void restore(const Accumulators& accumulators) override { statistics_.restore(accumulators); }

 private:
  std::unique_ptr<Device> device_;
  const Problem& problem_;
  const int batch_;
  const std::string fft_;
  const std::string precision_;
  mutable MapStatistics<Device> statistics_;
  Projector<Device> projector_;
  Correlator<Device> correlator_;
};

}  // namespace engine::cuda
