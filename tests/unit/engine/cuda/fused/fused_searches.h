// The fused path with a few lengths, and small searches by it beside the CPU backend's.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "engine/cuda/fused/correlator.h"
#include "tests/unit/engine/cuda/search_cases.h"

namespace tests {

template <cuda::ColumnKernel kKernel, typename Storage, int... kLengths>
struct FusedBy {
  static constexpr cuda::ColumnKernel kColumns = kKernel;
  template <typename Device>
  using Correlator = cuda::FusedCorrelator<Device, Storage, cuda::LengthList<kLengths...>>;

  static std::optional<cuda::FusedPlan> plan(const engine::ProblemShape& shape) {
    return cuda::plan_fused(shape, cuda::LengthList<kLengths...>::kLengths, Storage::kNumberBytes,
                            cuda::kMostTransforms);
  }
};

template <typename Storage, int... kLengths>
using Fused = FusedBy<cuda::ColumnKernel::kInThree, Storage, kLengths...>;
template <typename Storage, int... kLengths>
using FusedInTwo = FusedBy<cuda::ColumnKernel::kInTwo, Storage, kLengths...>;

constexpr int kShort = 64;  // the length along one axis, so that a search stays small

// One tile of kRows x kWidth, one of them kShort.
template <typename Storage, int kRows, int kWidth,
          cuda::ColumnKernel kKernel = cuda::ColumnKernel::kInThree>
struct OneTile : FusedBy<kKernel, Storage, kShort, kRows + kWidth - kShort> {
  static cuda::FusedPlan plan(const engine::ProblemShape& shape) {
    const auto axis = [&](int extent, int length) {
      return cuda::tile_axis(extent, shape.template_size, std::array{length}).value();
    };
    return {.tiling = {.rows = axis(shape.height, kRows), .columns = axis(shape.width, kWidth)},
            .transforms = 3};
  }
};

template <typename Maker>
class CudaFused : public OnDevice<Maker> {
 protected:
  template <typename Path>
  static std::unique_ptr<engine::Backend> backend(
      const engine::Search& search, int batch,
      cuda::ColumnGrid grid = cuda::ColumnGrid::kTransformsFirst,
      cuda::ColumnKernel columns = Path::kColumns, bool rows_ahead = false) {
    using FusedBackend = cuda::DeviceBackend<typename Maker::Device, Path::template Correlator>;
    cuda::MemoryPlan plan = cuda::plan_memory(shape_of(search.problem), batch);
    plan.projections = 5;
    plan.fused = Path::plan(shape_of(search.problem));
    plan.fused->grid = grid;
    plan.fused->columns = columns;
    plan.fused->rows_ahead = rows_ahead;
    return std::make_unique<FusedBackend>(Maker::make(), search.problem, plan);
  }
  // How much larger `found` is than `expected`, as a whole.
  static double gain(const engine::Accumulators& found, const engine::Accumulators& expected) {
    double product = 0;
    double square = 0;
    for (size_t i = 0; i < expected.best.size(); ++i) {
      const double value = engine::best_value(expected.best[i]);
      product += value * engine::best_value(found.best[i]);
      square += value * value;
    }
    return product / square;
  }
  // What the first units of the search leave.
  static engine::Accumulators maps(engine::Backend& backend, const engine::Search& search,
                                   size_t units) {
    backend.correlate(std::span<const engine::Unit>(search.space.units).first(units));
    return backend.accumulators();
  }

  template <typename Path>
  static void expect_maps_of_the_cpu(const SearchCase& c, double bound, size_t units = 12) {
    const engine::Search search = search_of(c);
    const auto cpu = engine::cpu::make_cpu_backend(
        search.problem,
        engine::cpu::plan_memory(shape_of(search.problem), {.threads = 1, .batch = 4}));
    const engine::Accumulators expected = maps(*cpu, search, units);
    const engine::Accumulators found = maps(*backend<Path>(search, 4), search, units);
    const int64_t count =
        static_cast<int64_t>(units) * search.problem.planes() * (c.paired ? 2 : 1);
    const Deviations d = deviations(found, expected, count);
    EXPECT_LT(d.mip, bound) << c.name;
    EXPECT_LT(d.mean, bound) << c.name;
    EXPECT_LT(d.sd, bound) << c.name;
    EXPECT_LT(d.other_index, 30 * bound) << c.name;
    EXPECT_GT(engine::best_z(expected, count), 0.5) << c.name << ": nothing to compare";
  }
  // Of each of the paths.
  template <typename... Paths>
  static void expect_the_gain_of_one(const SearchCase& c) {
    const engine::Search search = search_of(c);
    const auto cpu = engine::cpu::make_cpu_backend(
        search.problem, engine::cpu::plan_memory(shape_of(search.problem), {.threads = 1}));
    const engine::Accumulators expected = maps(*cpu, search, 1);
    const auto expect = [&](engine::Backend& path) {
      EXPECT_NEAR(gain(maps(path, search, 1), expected), 1, 1e-4) << c.name;
    };
    (expect(*backend<Paths>(search, 1)), ...);
  }
};

}  // namespace tests
