// How fast one whole search step is: correlations per second with everything that a search does per
// correlation (slice, projection, transforms, statistics), and what it holds in memory.
//
// Sizes are micrograph / template / threads. The floor is the time of the row and column transforms
// alone, measured in the same run; the ratio is what to compare between machines and versions.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <random>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/kernels.h"
#include "engine/numerics/fft_plan.h"

namespace {

using engine::Problem;
using engine::Unit;

constexpr int kPlanes = 5;

// Noise stands in for spectra: speed does not depend on the values.
Problem noise_problem(int size, int template_size, const engine::OrientationList& list) {
  std::mt19937 random(1);
  std::normal_distribution<float> gaussian;
  const auto fill = [&](size_t count) {
    std::vector<std::complex<float>> out(count);
    for (auto& value : out) value = {gaussian(random), gaussian(random)};
    return out;
  };
  const auto n = static_cast<size_t>(template_size);
  Problem p;
  p.height = p.width = size;
  p.template_size = template_size;
  p.image_spectrum = fill(static_cast<size_t>(size) * (static_cast<size_t>(size) / 2 + 1));
  p.image_spectrum[0] = 0;
  p.volume_spectrum = fill(n * n * (n / 2 + 1));
  p.filters.assign(kPlanes, std::vector<std::complex<float>>(n * (n / 2 + 1), {1, 0}));
  p.orientations = list.orientations;
  return p;
}

// Seconds that the transforms of one pair need: template rows and all columns forward, all columns
// and the valid rows back.
double transform_floor(int size, int template_size) {
  const auto length = static_cast<size_t>(size);
  engine::cpu::AlignedArray<engine::cpu::Complex> in(length), out(length);
  const engine::cpu::LinePlan plan(size, engine::cpu::Direction::kForward);
  constexpr int kRepeats = 200;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRepeats; ++i) {
    plan.execute(in.data(), out.data());
    benchmark::DoNotOptimize(out.data());
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kRepeats;
  return seconds * (template_size + 2.0 * size + (size - template_size + 1));
}

void correlate(benchmark::State& state) {
  const int size = static_cast<int>(state.range(0));
  const int template_size = static_cast<int>(state.range(1));
  const int threads = static_cast<int>(state.range(2));
  const auto list = engine::make_orientations({engine::OrientationGrid{}});
  const std::vector<Unit> units = engine::make_units(list, true);
  const Problem problem = noise_problem(size, template_size, list);
  const auto plan = engine::cpu::plan_memory({size, size, template_size, kPlanes}, {threads, 0});
  const auto backend = engine::cpu::make_cpu_backend(problem, plan);
  const auto batch = static_cast<size_t>(plan.batch);
  size_t next = 0;
  for (auto _ : state) {
    backend->correlate(std::span(units).subspan(next, batch));
    next = (next + batch) % (units.size() - batch);
  }
  const double pairs =
      static_cast<double>(state.iterations()) * static_cast<double>(batch) * kPlanes;
  const double floor = transform_floor(size, template_size) / threads;
  state.counters["CC/s"] = benchmark::Counter(2 * pairs, benchmark::Counter::kIsRate);
  state.counters["Gpix/s"] =
      benchmark::Counter(2 * pairs * size * size * 1e-9, benchmark::Counter::kIsRate);
  state.counters["of_floor"] = benchmark::Counter(pairs * floor, benchmark::Counter::kIsRate);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1000.0;
  state.counters["planned_MB"] = static_cast<double>(plan.total()) / 1e6;
  state.SetLabel(engine::cpu::processor_name() + ", " + engine::cpu::kernel_instruction_set());
}

BENCHMARK(correlate)
    ->ArgNames({"image", "template", "threads"})
    ->Args({512, 128, 1})
    ->Args({1024, 128, 1})
    ->Args({1024, 128, 2})
    ->Args({4096, 512, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
