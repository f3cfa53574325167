// Implements plan_memory and processor_name of cpu_backend.h.
#include <algorithm>
#include <complex>
#include <fstream>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/layout.h"
#include "engine/cpu/memory_nodes.h"

namespace engine::cpu {
namespace {

using Complex = std::complex<float>;
constexpr uint64_t kExchangeBudget = uint64_t{1} << 30;

MemoryPlan plan_with(const ProblemShape& s, int threads, int in_flight, uint64_t exchange_budget) {
  MemoryPlan plan;
  plan.threads = threads;
  plan.batch = in_flight;
  const auto n = static_cast<uint64_t>(s.template_size);
  const auto height = static_cast<uint64_t>(s.height);
  const auto width = static_cast<uint64_t>(s.width);
  const auto planes = static_cast<uint64_t>(s.planes);
  const auto orientations = static_cast<uint64_t>(s.orientations);
  const auto batch = static_cast<uint64_t>(plan.batch);
  const uint64_t slice = n * (n / 2 + 1);
  const uint64_t valid = (height - n + 1) * (width - n + 1);
  const uint64_t rows = width * padded(s.template_size) * sizeof(Complex);
  const uint64_t exchange = (height - n + 1) * padded(s.width) * sizeof(Complex);
  constexpr uint64_t kMostTransforms = 8;
  const uint64_t transforms = std::clamp<uint64_t>(exchange_budget / (rows + exchange), 1,
                                                   std::min(kMostTransforms, batch * planes));
  plan.transforms = static_cast<int>(transforms);
  plan.items = {
      {"template spectrum", n * slice * sizeof(Complex)},
      {"image spectrum",
       height * (width / 2 + 1) * sizeof(Complex) + width * padded(s.height) * sizeof(Complex)},
      {"filters", planes * slice * sizeof(Complex)},
      {"statistics", valid * (sizeof(float) + sizeof(int32_t) + 2 * sizeof(int64_t))},
      // The list, the problem's copy and the units.
      {"orientations", orientations * (2 * sizeof(Orientation) + sizeof(Unit))},
      {"projections", batch * (slice * sizeof(Complex) + planes * n * n * sizeof(float))},
      {"row and column passes", transforms * (rows + exchange)},
      {"per thread", static_cast<uint64_t>(plan.threads) *
                         (slice * sizeof(Complex) + (n * n + 2 * n) * sizeof(float) +
                          (kBlock + 2) * (height + width + 4 * kPad) * sizeof(Complex))},
      // After the search: the accumulators handed over, and eight maps.
      {"results", valid * (3 * sizeof(uint64_t) + 8 * sizeof(float))},
  };
  return plan;
}

}  // namespace

uint64_t MemoryPlan::total() const {
  uint64_t bytes = 0;
  for (const MemoryItem& item : items) bytes += item.bytes;
  return bytes;
}

MemoryPlan plan_memory(const ProblemShape& shape, const CpuOptions& options, uint64_t limit) {
  const int threads = options.threads > 0 ? options.threads : available_cores();
  int batch = options.batch > 0 ? options.batch : std::max(4, threads);
  // There are no more units than orientations.
  if (shape.orientations > 0 && shape.orientations < batch) {
    batch = static_cast<int>(shape.orientations);
  }
  uint64_t budget = kExchangeBudget;
  MemoryPlan plan = plan_with(shape, threads, batch, budget);
  while (limit > 0 && plan.total() > limit && (plan.transforms > 1 || plan.batch > 1)) {
    if (plan.transforms > 1) {
      budget /= 2;
    } else {
      batch /= 2;
    }
    plan = plan_with(shape, threads, batch, budget);
  }
  return plan;
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t value = line.find(": ");
    if (value != std::string::npos) return line.substr(value + 2);
  }
  return "unknown processor";
}

}  // namespace engine::cpu
