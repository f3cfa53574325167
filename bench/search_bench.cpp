// How fast one whole search step is: correlations per second with everything that a search does per
// correlation (slice, projection, transforms, statistics), and what it holds in memory.
//
// In one run: our transforms, FFTW's, and FFTW's bare transforms of one image. The ratios are what
// to compare between machines and versions. bench/search_table.py lets the sides take turns and
// makes a table.

#include <benchmark/benchmark.h>
#include <fftw3.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "bench/machine_peak.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/fused/backend.h"
#include "engine/cpu/kernels.h"
#include "engine/numerics/fft_plan.h"
#include "engine/numerics/statistics.h"

namespace {

using engine::Problem;
using engine::Unit;

constexpr int kPlanes = 5;

// Noise stands in for spectra: speed does not depend on the values.
Problem noise_problem(int height, int width, int template_size,
                      const engine::OrientationList& list) {
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto fill = [&](size_t count) {
    std::vector<std::complex<float>> out(count);
    for (auto& value : out) value = {uniform(random), uniform(random)};
    return out;
  };
  const auto n = static_cast<size_t>(template_size);
  Problem p;
  p.height = height;
  p.width = width;
  p.template_size = template_size;
  p.image_spectrum = fill(static_cast<size_t>(height) * (static_cast<size_t>(width) / 2 + 1));
  p.image_spectrum[0] = 0;
  p.volume_spectrum = fill(n * n * (n / 2 + 1));
  p.filters.assign(kPlanes, std::vector<std::complex<float>>(n * (n / 2 + 1), {1, 0}));
  p.orientations = list.orientations;
  return p;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The rates of `pairs` pairs that took so much of the processor. On a machine that does other work,
// too, the rate of a second of processor time is what to compare.
void report(benchmark::State& state, double pairs, double cpu, double pixels) {
  state.counters["CC/s"] = benchmark::Counter(2 * pairs, benchmark::Counter::kIsRate);
  state.counters["Gpix/s"] =
      benchmark::Counter(2 * pairs * pixels * 1e-9, benchmark::Counter::kIsRate);
  state.counters["CC/cpu_s"] = 2 * pairs / cpu;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) * 1024e-6;
}

struct Side {
  decltype(&engine::cpu::plan_memory) plan;
  decltype(&engine::cpu::make_cpu_backend) make;
  std::string (*instruction_set)();
};
constexpr Side kFused = {engine::cpu::fused::plan_memory, engine::cpu::fused::make_backend,
                         engine::cpu::fused::instruction_set};
constexpr Side kFftw = {engine::cpu::plan_memory, engine::cpu::make_cpu_backend,
                        engine::cpu::kernel_instruction_set};

void correlate(benchmark::State& state, const Side& side) {
  const int height = static_cast<int>(state.range(0));
  const int width = static_cast<int>(state.range(1));
  const int template_size = static_cast<int>(state.range(2));
  const int threads = static_cast<int>(state.range(3));
  const auto list = engine::make_orientations({engine::OrientationGrid{}});
  const std::vector<Unit> units = engine::make_units(list, true);
  const Problem problem = noise_problem(height, width, template_size, list);
  const auto plan = side.plan({height, width, template_size, kPlanes}, {threads, 0}, 0);
  const auto backend = side.make(problem, plan);
  const auto batch = static_cast<size_t>(plan.batch);
  size_t next = 0;
  // The first batch touches all memory. Then the maxima are what they are when a search is on its
  // way: hardly a correlation is larger.
  backend->correlate(std::span(units).subspan(next, batch));
  engine::Accumulators later = backend->accumulators();
  std::fill(later.best.begin(), later.best.end(), engine::pack_best(6.0f, 0));
  backend->restore(later);
  later = {};
  backend->correlate(std::span(units).subspan(next, batch));
  const double start = cpu_seconds();
  for (auto _ : state) {
    backend->correlate(std::span(units).subspan(next, batch));
    next = (next + batch) % (units.size() - batch);
  }
  const double pairs =
      static_cast<double>(state.iterations()) * static_cast<double>(batch) * kPlanes;
  report(state, pairs, cpu_seconds() - start, static_cast<double>(height) * width);
  state.counters["planned_MB"] = static_cast<double>(plan.total()) / 1e6;
  state.SetLabel(engine::cpu::processor_name() + ", " + side.instruction_set());
}

// FFTW's transforms of one real image forward and back, and nothing else, on one core: the least
// that a correlation takes by them.
void bare(benchmark::State& state) {
  const int height = static_cast<int>(state.range(0));
  const int width = static_cast<int>(state.range(1));
  const auto rows = static_cast<size_t>(height);
  engine::cpu::AlignedArray<float> image(rows * static_cast<size_t>(width));
  engine::cpu::AlignedArray<engine::cpu::Complex> spectrum(rows *
                                                           (static_cast<size_t>(width) / 2 + 1));
  auto* half = reinterpret_cast<fftwf_complex*>(spectrum.data());
  fftwf_plan forward = fftwf_plan_dft_r2c_2d(height, width, image.data(), half, FFTW_MEASURE);
  fftwf_plan inverse = fftwf_plan_dft_c2r_2d(height, width, half, image.data(), FFTW_MEASURE);
  const double start = cpu_seconds();
  for (auto _ : state) {
    fftwf_execute(forward);
    fftwf_execute(inverse);
  }
  report(state, 0.5 * static_cast<double>(state.iterations()), cpu_seconds() - start,
         static_cast<double>(height) * width);
  fftwf_destroy_plan(forward);
  fftwf_destroy_plan(inverse);
}

// What the machine can do, from which bench/search_table.py computes the floor.
void peak(benchmark::State& state) {
  bench::MachinePeak peak{};
  for (auto _ : state) peak = bench::measure_peak(static_cast<int>(state.range(0)));
  state.counters["operations/s"] = peak.operations;
  state.counters["read_B/s"] = peak.read;
  state.counters["write_B/s"] = peak.write;
}

void sizes(benchmark::internal::Benchmark* one, const std::vector<int>& threads) {
  one->ArgNames({"height", "width", "template", "threads"})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  for (const int count : threads) {
    for (const std::vector<int64_t>& size : std::vector<std::vector<int64_t>>{{512, 512, 128},
                                                                              {1024, 1024, 128},
                                                                              {2048, 2048, 256},
                                                                              {4096, 4096, 512},
                                                                              {4092, 5760, 512},
                                                                              {3838, 3710, 384}}) {
      one->Args({size[0], size[1], size[2], count});
    }
  }
}
void sizes_on_cores(benchmark::internal::Benchmark* one) { sizes(one, {1, 2}); }
void sizes_on_one_core(benchmark::internal::Benchmark* one) { sizes(one, {1}); }

BENCHMARK_CAPTURE(correlate, fused, kFused)->Apply(sizes_on_cores);
BENCHMARK_CAPTURE(correlate, fftw, kFftw)->Apply(sizes_on_cores);
BENCHMARK(bare)->Apply(sizes_on_one_core);
BENCHMARK(peak)->ArgName("threads")->Arg(1)->Arg(2)->Iterations(1);

// Takes --instruction_set=NAME out of the arguments: the widest instructions of this program, by
// Highway's name (AVX2, AVX3, ...). FFTW chooses its own.
bool restrict_instructions(int& count, char** arguments) {
  const std::string option = "--instruction_set=";
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (!argument.starts_with(option)) continue;
    std::copy(arguments + i + 1, arguments + count, arguments + i);
    --count;
    // Better targets have lower bits.
    for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
      if (argument.substr(option.size()) != hwy::TargetName(left & -left)) continue;
      hwy::SetSupportedTargetsForTest(left);
      return true;
    }
    std::cerr << "search_bench: this processor has no '" << argument.substr(option.size()) << "'\n";
    return false;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (!restrict_instructions(count, arguments)) return 2;
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("fftw", fftwf_version);
  benchmark::AddCustomContext("highway", std::to_string(HWY_MAJOR) + "." +
                                             std::to_string(HWY_MINOR) + "." +
                                             std::to_string(HWY_PATCH));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
