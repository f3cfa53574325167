#include "engine/cuda/cuda_memory.h"

#include <algorithm>
#include <complex>
#include <utility>

#include "engine/error.h"

namespace engine::cuda {
namespace {

using Complex = std::complex<float>;

constexpr int64_t kPassBudget = int64_t{1} << 29;        // bytes of one of the two passes' arrays
constexpr int64_t kProjectionBudget = int64_t{1} << 23;  // bytes of one plan's back-transforms
constexpr int kMostInPass = 16;
constexpr int kMostProjections = 16;
constexpr int64_t kProjectionsInFlight = 64;
// A grid of blocks has no more rows.
constexpr int64_t kMostSlots = 32768;

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

int pass_transforms(const ProblemShape& s) {
  const int64_t bytes = int64_t{s.height} * s.width * static_cast<int64_t>(sizeof(Complex));
  int count = kMostInPass;
  while (count > 1 && count * bytes > kPassBudget) count /= 2;
  return count;
}

int plan_projections(const ProblemShape& s) {
  const int64_t bytes =
      int64_t{s.template_size} * s.template_size * static_cast<int64_t>(sizeof(float));
  return static_cast<int>(std::clamp<int64_t>(kProjectionBudget / bytes, 1, kMostProjections));
}

// Units of a multiple of the transforms, so that no pass runs half empty.
int64_t units_for_passes(int64_t planes, int transforms) {
  return round_up(std::max<int64_t>(1, kProjectionsInFlight / planes), transforms);
}

// A pass of the fused path may have fewer transforms than others, but each one reads and writes the
// statistics: of all numbers of units up to twice the usual one, that with the fullest passes.
int64_t units_for_fused_passes(int64_t planes, int transforms) {
  const int64_t usual = std::max<int64_t>(1, kProjectionsInFlight / planes);
  int64_t best = usual;
  double best_share = 0;
  for (int64_t units = usual; units <= 2 * usual; ++units) {
    // A pair of orientations takes one transform for each plane.
    const auto needed = static_cast<double>(units * planes);
    const double share = needed / static_cast<double>(round_up(units * planes, transforms));
    if (share > best_share) {
      best = units;
      best_share = share;
    }
  }
  return best;
}

// `chosen` where none is wanted.
int limit_batch(const ProblemShape& s, int wanted, int64_t chosen) {
  const int64_t planes = std::max(1, s.planes);
  int64_t batch = wanted > 0 ? wanted : chosen;
  // There are no more units than orientations.
  if (s.orientations > 0) batch = std::min(batch, s.orientations);
  return static_cast<int>(std::clamp<int64_t>(batch, 1, std::max<int64_t>(1, kMostSlots / planes)));
}

// Rows that lines of two lanes hold beyond `count`: see FusedShape::lines.
uint64_t rows_beyond(int count, int lane_step) {
  if (lane_step == 0) return 0;
  const int rest = count % (2 * lane_step);
  return static_cast<uint64_t>(rest < lane_step ? rest : 2 * lane_step - rest);
}

// The memory of the fused path's passes.
std::vector<MemoryItem> fused_items(const ProblemShape& s, const FusedKernels& kernels,
                                    const FusedPlan& plan) {
  std::vector<MemoryItem> items = plan.items;
  int lane_step = 0;
  for (const CompiledLength& each : kernels.lengths) {
    if (each.length == plan.tiling.rows.length) lane_step = each.lane_step;
  }
  const uint64_t beyond =
      rows_beyond(s.template_size, lane_step) +
      plan.tiling.places().size() * rows_beyond(plan.tiling.rows.largest_part(), lane_step);
  if (beyond > 0) {
    items.push_back({"lines filled up", beyond * static_cast<uint64_t>(plan.transforms) *
                                            static_cast<uint64_t>(plan.tiling.columns.length) *
                                            static_cast<uint64_t>(kernels.number_bytes)});
  }
  // On the way to their place, in single precision.
  items.push_back({"a tile's spectrum", static_cast<uint64_t>(plan.tiling.rows.length) *
                                            static_cast<uint64_t>(plan.tiling.columns.length) *
                                            sizeof(Complex)});
  return items;
}

std::vector<MemoryItem> library_items(const ProblemShape& s, int transforms) {
  const uint64_t bytes =
      static_cast<uint64_t>(s.height) * static_cast<uint64_t>(s.width) * sizeof(Complex);
  return {{"image spectrum", bytes},
          {"row and column passes", 2 * static_cast<uint64_t>(transforms) * bytes}};
}

// What does not follow from the search, in bytes.
struct Extras {
  uint64_t workspace = 0;  // of the library transforms
  uint64_t exchange = 0;   // with other ranks
};

// `passes`: what the transforms of a pass take.
void list_items(const ProblemShape& s, const Extras& extras, const std::vector<MemoryItem>& passes,
                MemoryPlan& plan) {
  const auto n = static_cast<uint64_t>(s.template_size);
  const auto batch = static_cast<uint64_t>(plan.batch);
  const auto slots = static_cast<uint64_t>(projection_slots(s, plan));
  const uint64_t slice = n * (n / 2 + 1);
  const uint64_t valid =
      (static_cast<uint64_t>(s.height) - n + 1) * (static_cast<uint64_t>(s.width) - n + 1);
  constexpr uint64_t kMoments = 4 * sizeof(double);   // of a projection
  constexpr uint64_t kRotation = 9 * sizeof(double);  // of a unit
  constexpr uint64_t kTransform = 4 * sizeof(int32_t);
  plan.items = {
      {"template spectrum", n * slice * sizeof(Complex)},
      {"filters", static_cast<uint64_t>(s.planes) * slice * sizeof(Complex)},
      {"statistics", valid * (sizeof(uint64_t) + 2 * sizeof(int64_t))},
      {"projections",
       batch * (slice * sizeof(Complex) + kRotation) +
           slots * (slice * sizeof(Complex) + n * n * sizeof(float) + kMoments + kTransform)},
      {"transforms", extras.workspace},
  };
  plan.items.insert(plan.items.end(), passes.begin(), passes.end());
  if (extras.exchange > 0) plan.items.push_back({"exchange with other ranks", extras.exchange});
}

// `free`: bytes that the device has, 0: no limit.
FusedPlan plan_passes(const ProblemShape& shape, const FusedKernels& kernels,
                      std::span<const int> lengths, int most, uint64_t free) {
  const uint64_t exchange_bytes =
      free == 0 ? UINT64_MAX : static_cast<uint64_t>(kExchangePart * static_cast<double>(free));
  std::optional<FusedPlan> plan =
      plan_fused(shape, lengths, kernels.number_bytes, most, exchange_bytes);
  if (!plan) {
    throw InputError(
        "the fused path would cut this image into too many tiles: search with --fft "
        "cufft (in fp32)");
  }
  plan->rows_ahead = reads_rows_ahead(kernels.precision, kernels.block_bytes);
  return std::move(*plan);
}

}  // namespace

uint64_t MemoryPlan::total() const {
  uint64_t bytes = 0;
  for (const MemoryItem& item : items) bytes += item.bytes;
  return bytes;
}

int64_t projection_slots(const ProblemShape& shape, const MemoryPlan& plan) {
  return round_up(int64_t{plan.batch} * shape.planes, plan.projections);
}

MemoryPlan plan_memory(const ProblemShape& shape, int batch, uint64_t workspace, uint64_t free,
                       uint64_t exchange) {
  MemoryPlan plan;
  plan.transforms = pass_transforms(shape);
  plan.projections = plan_projections(shape);
  plan.batch =
      limit_batch(shape, batch, units_for_passes(std::max(1, shape.planes), plan.transforms));
  const std::vector<MemoryItem> passes = library_items(shape, plan.transforms);
  list_items(shape, {workspace, exchange}, passes, plan);
  while (free > 0 && plan.total() > free && plan.batch > 1) {
    plan.batch /= 2;
    list_items(shape, {workspace, exchange}, passes, plan);
  }
  return plan;
}

MemoryPlan plan_fused_memory(const ProblemShape& shape, const FusedKernels& kernels,
                             std::span<const int> lengths, int batch, uint64_t workspace,
                             uint64_t free, uint64_t exchange) {
  const int planes = std::max(1, shape.planes);
  MemoryPlan plan;
  plan.precision = kernels.precision;
  plan.projections = plan_projections(shape);
  plan.fused = plan_passes(shape, kernels, lengths, kernels.most_transforms, free);
  plan.batch = limit_batch(shape, batch, units_for_fused_passes(planes, plan.fused->transforms));
  // A batch has no more.
  plan.fused = plan_passes(shape, kernels, lengths,
                           std::min(plan.fused->transforms, plan.batch * planes), free);
  list_items(shape, {workspace, exchange}, fused_items(shape, kernels, *plan.fused), plan);
  while (free > 0 && plan.total() > free && (plan.fused->transforms > 1 || plan.batch > 1)) {
    plan.batch = std::max(1, plan.batch / 2);
    plan.fused =
        plan_passes(shape, kernels, lengths, std::max(1, plan.fused->transforms / 2), free);
    list_items(shape, {workspace, exchange}, fused_items(shape, kernels, *plan.fused), plan);
  }
  return plan;
}

}  // namespace engine::cuda
