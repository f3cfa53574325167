// Implements plan_memory and what is told about the path of backend.h.
#include <algorithm>
#include <complex>

#include "engine/cpu/fused/backend.h"
#include "engine/cpu/fused/kernels.h"
#include "engine/cpu/fused/layout.h"

namespace engine::cpu::fused {
namespace {

using Complex = std::complex<float>;
// For the transforms that are between the passes: with this much a search in 4096 x 4096 pixels
// stays within 2 GB.
constexpr uint64_t kPassesBudget = 820'000'000;

// Maximum, index, sum and sum of squares.
constexpr uint64_t kBytesOfPixel = sizeof(float) + sizeof(int32_t) + 2 * sizeof(int64_t);

uint64_t transforms_within(const Layout& layout, uint64_t budget) {
  const uint64_t each =
      (layout.template_floats() + layout.exchange_floats()) * uint64_t{sizeof(float)};
  return std::clamp<uint64_t>(budget / each, 1, kMostTransforms);
}

MemoryPlan plan_with(const ProblemShape& s, const CpuOptions& options, uint64_t budget) {
  const Layout layout(s);
  MemoryPlan plan;
  plan.threads = options.threads > 0 ? options.threads : available_cores();
  const auto planes = static_cast<uint64_t>(std::max(1, s.planes));
  const uint64_t transforms = transforms_within(layout, budget);
  plan.batch = options.batch > 0
                   ? options.batch
                   : std::max(plan.threads, static_cast<int>((transforms + planes - 1) / planes));
  // There are no more units than orientations.
  if (s.orientations > 0 && s.orientations < plan.batch)
    plan.batch = static_cast<int>(s.orientations);
  const auto batch = static_cast<uint64_t>(plan.batch);
  plan.transforms = static_cast<int>(std::min(transforms, batch * planes));

  const auto n = static_cast<uint64_t>(s.template_size);
  const uint64_t pixels = static_cast<uint64_t>(s.height) * static_cast<uint64_t>(s.width);
  const uint64_t slice = n * (n / 2 + 1);
  const uint64_t valid = static_cast<uint64_t>(layout.valid_height) * layout.valid_width;
  const uint64_t passes = static_cast<uint64_t>(plan.transforms) *
                          (layout.template_floats() + layout.exchange_floats()) * sizeof(float);
  // After the search: the accumulators handed over, and eight maps.
  const uint64_t results = valid * (3 * sizeof(uint64_t) + 8 * sizeof(float));
  plan.items = {
      {"template spectrum", n * slice * sizeof(Complex)},
      {"image spectrum", pixels / 2 * sizeof(Complex) + layout.image_floats() * sizeof(float)},
      {"filters", planes * slice * sizeof(Complex)},
      {"statistics", layout.map_values() * kBytesOfPixel},
      // The list, the problem's copy and the units.
      {"orientations",
       static_cast<uint64_t>(s.orientations) * (2 * sizeof(Orientation) + sizeof(Unit))},
      {"projections", batch * (slice * sizeof(Complex) + planes * 2 * n * n * sizeof(float))},
      {"row and column passes", passes},
      {"per thread", static_cast<uint64_t>(plan.threads) *
                         ((layout.working_floats() + 2 * layout.map_block()) * sizeof(float) +
                          slice * sizeof(Complex) + n * n * sizeof(float))},
      // In the place of the passes.
      {"results", results > passes ? results - passes : 0},
  };
  return plan;
}

}  // namespace

MemoryPlan plan_memory(const ProblemShape& shape, const CpuOptions& options, uint64_t limit) {
  CpuOptions wanted = options;
  uint64_t budget = kPassesBudget;
  MemoryPlan plan = plan_with(shape, wanted, budget);
  while (limit > 0 && plan.total() > limit && (plan.transforms > 1 || plan.batch > 1)) {
    if (plan.transforms > 1) {
      budget /= 2;
    } else {
      wanted.batch = plan.batch / 2;
    }
    plan = plan_with(shape, wanted, budget);
  }
  return plan;
}

std::string describe_lengths(const ProblemShape& shape) {
  const Layout layout(shape);
  return std::to_string(layout.height) + " x " + std::to_string(layout.width);
}

std::string instruction_set() { return choose_kernels().name(); }

int vector_width() { return static_cast<int>(choose_kernels().lanes); }

}  // namespace engine::cpu::fused
