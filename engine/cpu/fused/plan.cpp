// Implements the functions of backend.h, except make_backend.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/cpu/fused/backend.h"
#include "engine/cpu/fused/kernels.h"
#include "engine/cpu/fused/layout.h"
#include "engine/cpu/instruction_set.h"
#include "engine/cpu/memory_nodes.h"

namespace engine::cpu::fused {
namespace {

using Complex = std::complex<float>;
// Transforms between the passes may take this much of kUsualMemory, and all memory beyond it
// (docs/cpu.md, Memory).
constexpr uint64_t kUsualForPasses = 820'000'000;

// Maximum, index, sum and sum of squares.
constexpr uint64_t kBytesOfPixel = sizeof(float) + sizeof(int32_t) + 2 * sizeof(int64_t);

int transforms_within(const Layout& layout, uint64_t memory) {
  const uint64_t for_passes = kUsualForPasses + (memory - kUsualMemory);
  const uint64_t each =
      (layout.template_floats() + layout.exchange_floats()) * uint64_t{sizeof(float)};
  return static_cast<int>(std::clamp<uint64_t>(for_passes / each, 1, kMostTransforms));
}

int planes_of(const ProblemShape& s) { return std::max(1, s.planes); }

int64_t divided_up(int64_t count, int64_t by) { return (count + by - 1) / by; }

// Transforms in each group of a batch of `units`, as FusedBackend::correlate() divides them.
int largest_group(int units, int planes, int most) {
  const int64_t transforms = int64_t{units} * planes;
  return static_cast<int>(divided_up(transforms, divided_up(transforms, most)));
}

// Transforms in a group, on average.
double mean_group(const MemoryPlan& plan, int planes) {
  const int64_t transforms = int64_t{plan.batch} * planes;
  return static_cast<double>(transforms) /
         static_cast<double>(divided_up(transforms, plan.transforms));
}

// True where groups of up to `most` transforms are at least nine tenths full.
bool fill_groups(int units, int planes, int most) {
  const int64_t transforms = int64_t{units} * planes;
  return 10 * transforms >= 9 * most * divided_up(transforms, most);
}

// Returns how many units fit into the groups that the fewest units, `least` or more, fill to nine
// tenths.
int units_that_fill(int least, int planes, int most) {
  int units = std::max(1, least);
  while (!fill_groups(units, planes, most)) ++units;  // a multiple of `most` does
  return static_cast<int>(divided_up(int64_t{units} * planes, most) * most / planes);
}

// A thread's own memory for projections, beside a magnified slice.
uint64_t bytes_of_back_transform(const Layout& layout) {
  const uint64_t n = layout.size;
  if (factors_of(static_cast<int>(n)).empty()) {
    // Half-plane, real plane, and lines of kissfft's, of up to 8 times their length.
    return n * (n / 2 + 1) * sizeof(Complex) + n * n * sizeof(float) + 512 * n;
  }
  // A line has at most 16 parts, each with one extra point (Line::working()).
  const uint64_t points = 2 * n + 16;
  return (points * layout.point() + projection_floats(n, layout.lanes) + n + layout.lanes) *
         sizeof(float);
}

// Of so many units and up to so many transforms between the passes.
MemoryPlan plan_with(const ProblemShape& s, const Layout& layout, int threads, int units,
                     int most_transforms) {
  MemoryPlan plan;
  plan.threads = threads;
  plan.batch = units;
  const auto planes = static_cast<uint64_t>(planes_of(s));
  const auto batch = static_cast<uint64_t>(units);
  plan.transforms = largest_group(units, planes_of(s), most_transforms);

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
      {"projections", batch * (slice * sizeof(Complex) + planes * n * n * sizeof(float))},
      {"row and column passes", passes},
      {"per thread", static_cast<uint64_t>(plan.threads) *
                         ((layout.working_floats() + 2 * layout.map_block()) * sizeof(float) +
                          bytes_of_back_transform(layout) + slice * sizeof(Complex))},
      // In the place of the passes.
      {"results", results > passes ? results - passes : 0},
  };
  return plan;
}

// Plans within `memory` bytes, if it can, and in any case within the `limit` that plan_memory()
// has.
MemoryPlan plan_within(uint64_t memory, const ProblemShape& shape, const CpuOptions& options,
                       uint64_t limit) {
  const Layout layout(shape);
  const int threads = options.threads > 0 ? options.threads : available_cores();
  const int most = transforms_within(layout, memory);
  const int planes = planes_of(shape);
  // There are no more units than orientations.
  const auto there_are =
      static_cast<int>(std::min<int64_t>(shape.orientations, std::numeric_limits<int>::max()));
  const auto of_those = [&](int units) {
    return there_are > 0 ? std::min(units, there_are) : units;
  };
  const int full = of_those(units_that_fill(threads, planes, most));
  const int units = options.batch > 0 ? of_those(options.batch) : full;
  // With fewer, threads would have no projection to make.
  const int enough = std::min(units, static_cast<int>(divided_up(threads, planes)));
  const auto with = [&](int batch, int group) {
    return plan_with(shape, layout, threads, batch, group);
  };
  // The largest groups that this memory allows; of equal ones, with a unit for each thread, and no
  // more than that.
  const auto within = [&](uint64_t bytes) {
    std::optional<MemoryPlan> best;
    const auto value = [&](const MemoryPlan& plan) {
      return std::tuple(mean_group(plan, planes), std::min(plan.batch, threads), -plan.batch);
    };
    for (int batch = enough; batch <= std::min(units, full); ++batch) {
      int group = most;
      MemoryPlan plan = with(batch, group);
      while (plan.total() > bytes && group > 1) plan = with(batch, --group);
      if (plan.total() <= bytes && (!best || value(plan) > value(*best))) best = std::move(plan);
    }
    return best;
  };

  MemoryPlan plan = with(units, most);
  // A batch that was asked for gives way only to what there is.
  if (options.batch == 0 && plan.total() > memory) {
    plan = within(memory).value_or(with(of_those(units_that_fill(enough, planes, most)), most));
  }
  if (limit == 0 || plan.total() <= limit) return plan;
  if (plan.batch > full) {
    // The largest batch from `full` on that fits, or `full`.
    int fits = full;
    for (int exceeds = plan.batch; exceeds - fits > 1;) {
      const int between = fits + (exceeds - fits) / 2;
      (with(between, most).total() <= limit ? fits : exceeds) = between;
    }
    plan = with(fits, most);
    if (plan.total() <= limit) return plan;
  }
  if (std::optional<MemoryPlan> less = within(limit)) return *less;
  // What is left are groups partly filled and threads without a projection.
  while (plan.total() > limit && plan.batch > 1) plan = with(plan.batch - 1, plan.transforms);
  while (plan.total() > limit && plan.transforms > 1) plan = with(1, plan.transforms - 1);
  return plan;
}

}  // namespace

MemoryPlan plan_memory(const ProblemShape& shape, const CpuOptions& options, uint64_t limit) {
  MemoryPlan usual = plan_within(kUsualMemory, shape, options, limit);
  if (options.memory <= kUsualMemory) return usual;
  // What a search takes in any case does not limit its groups.
  MemoryPlan more = plan_within(std::max(options.memory, usual.total()), shape, options, limit);
  const int planes = planes_of(shape);
  return mean_group(more, planes) > mean_group(usual, planes) ? more : usual;
}

std::string describe_lengths(const ProblemShape& shape) {
  const Layout layout(shape);
  return std::to_string(layout.height) + " x " + std::to_string(layout.width);
}

std::string instruction_set() { return instruction_set_name(choose_kernels().name()); }

int vector_width() { return static_cast<int>(choose_kernels().lanes); }

}  // namespace engine::cpu::fused
