// How fast a search is on a CUDA device: correlations per second of every path and precision, in
// turn, through the very backends that a search uses; each kernel's time beside its floor.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/gpu_device.h"
#include "bench/gpu_options.h"
#include "bench/gpu_report.h"
#include "bench/kernel_bytes.h"
#include "bench/noise.h"
#include "bench/rounds.h"
#include "engine/backend/transforms.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/error.h"
#include "engine/search/device.h"

namespace bench {
namespace {

using engine::Unit;

constexpr double kSecondsOfRound = 0.25;
constexpr int kMostCalls = 50;
constexpr int kTimedCalls = 4;
constexpr size_t kComparedUnits = 16;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int64_t correlations_of(std::span<const Unit> units, int planes) {
  int64_t count = 0;
  for (const Unit& unit : units) count += unit.second >= 0 ? 2 : 1;
  return count * planes;
}

Work work_of(const engine::Problem& p, const engine::DevicePlan& device,
             std::span<const Unit> units) {
  const auto& plan = std::get<engine::cuda::MemoryPlan>(device.work);
  Work work{.height = p.height,
            .width = p.width,
            .n = p.template_size,
            .planes = p.planes(),
            .units = static_cast<int64_t>(units.size()),
            .in_pass = plan.fused ? plan.fused->transforms : plan.transforms};
  const auto orientations = static_cast<int64_t>(p.orientations.size());
  work.transforms =
      static_cast<int64_t>(engine::list_transforms(units, p.planes(), orientations).size());
  if (plan.fused) {
    const engine::cuda::Tiling& tiling = plan.fused->tiling;
    work.tiles = static_cast<int64_t>(tiling.places().size());
    work.row_length = tiling.columns.length;
    work.column_length = tiling.rows.length;
    work.kept_rows = tiling.rows.largest_part();
    work.number_bytes = device.precision == "fp32" ? 8 : 4;
  }
  return work;
}

// One side of a case, at work.
class Runner {
 public:
  Runner(const Noise& noise, const SideOptions& wanted) : noise_(noise), wishes_(wanted.columns) {
    side_.fft = wanted.fft;
    side_.precision = wanted.precision;
    side_.columns = words_of(wishes_);
  }

  // Returns false where this side cannot run; `side_.refused` has the reason.
  bool start() {
    try {
      open();
    } catch (const engine::Error& error) {
      side_.refused = error.what();
      code_ = error.code();
      backend_.reset();
    }
    return backend_ != nullptr;
  }
  engine::ExitCode code() const { return code_; }

  // So that the rounds have the rate of a long search, where a new maximum is rare.
  void seed_statistics() { backend_->restore(noise_.after_a_million()); }
  void calibrate() {
    call();
    wait_for_device();
    const Stopwatch watch;
    call();
    wait_for_device();
    calls_ = calls_for(kSecondsOfRound, watch.seconds(), kMostCalls);
  }
  void run_round() {
    wait_for_device();
    const Stopwatch watch;
    int64_t correlations = 0;
    for (int i = 0; i < calls_; ++i) correlations += call();
    wait_for_device();
    side_.rates.push_back(static_cast<double>(correlations) / watch.seconds());
  }
  void time_kernels() {
    wait_for_device();
    // So that the device has work while the first of the timed kernels are asked for.
    call();
    times_.switch_on();
    std::span<const Unit> units;
    for (int i = 0; i < kTimedCalls; ++i) {
      units = next_units();
      backend_->correlate(units);
    }
    side_.kernels = times_.take();
    side_.correlations = correlations_of(units, noise_.problem().planes());
    const Work work = work_of(noise_.problem(), plan_, units);
    for (KernelTime& kernel : side_.kernels) {
      kernel.launches /= kTimedCalls;
      kernel.seconds /= kTimedCalls;
      kernel.bytes = kernel_bytes(kernel.name, work, kernel.launches);
    }
  }
  std::vector<float> mip() const {
    std::vector<float> values;
    for (const uint64_t key : backend_->accumulators().best) {
      values.push_back(engine::best_value(key));
    }
    return values;
  }
  Side& side() { return side_; }

 private:
  void open() {
    const Stopwatch watch;
    const uint64_t free_before = free_device_memory();
    plan_ = engine::plan_device(
        noise_.shape(), {.backend = "cuda", .fft = side_.fft, .precision = side_.precision});
    auto& work = std::get<engine::cuda::MemoryPlan>(plan_.work);
    work.watch = &times_;
    if (work.fused) {
      engine::cuda::grant(wishes_, *work.fused);
      side_.columns = words_of({work.fused->grid, work.fused->columns, work.fused->rows_ahead});
    }
    backend_ = engine::make_backend(noise_.problem(), plan_);
    const std::span<const Unit> units = noise_.units();
    backend_->correlate(units.first(std::min(kComparedUnits, units.size())));
    wait_for_device();
    side_.start_seconds = watch.seconds();
    side_.device_bytes = free_before - std::min(free_before, free_device_memory());
    side_.planned_bytes = plan_.bytes;
    side_.batch = plan_.batch;
    side_.tiling = plan_.tiling;
    side_.notes = plan_.notes;
  }
  std::span<const Unit> next_units() {
    const auto batch = static_cast<size_t>(backend_->batch());
    const std::span<const Unit> units = noise_.units();
    if (next_ + batch > units.size()) next_ = 0;
    const auto taken = units.subspan(next_, std::min(batch, units.size() - next_));
    next_ += batch;
    return taken;
  }
  int64_t call() {
    const std::span<const Unit> units = next_units();
    backend_->correlate(units);
    return correlations_of(units, noise_.problem().planes());
  }

  const Noise& noise_;
  const engine::cuda::KernelWishes wishes_;
  KernelTimes times_;
  engine::DevicePlan plan_;
  std::unique_ptr<engine::Backend> backend_;
  Side side_;
  engine::ExitCode code_ = engine::ExitCode::kDone;
  int calls_ = 1;
  size_t next_ = 0;
};

double rms_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

using Runners = std::vector<std::unique_ptr<Runner>>;

// Before the rounds: all sides have done the same work.
void compare(Runners& runners) {
  if (!runners.front()->side().refused.empty()) return;
  const std::vector<float> first = runners.front()->mip();
  for (auto& runner : runners) {
    if (runner == runners.front() || !runner->side().refused.empty()) continue;
    runner->side().mip_rms = rms_difference(runner->mip(), first);
  }
}

void measure(Runners& runners, int rounds) {
  std::vector<Runner*> running;
  for (auto& runner : runners) {
    if (runner->side().refused.empty()) running.push_back(runner.get());
  }
  for (Runner* runner : running) {
    runner->seed_statistics();
    runner->calibrate();
  }
  start_profiler();
  for (int round = 0; round < rounds; ++round) {
    for (const int i : order_of_round(round, static_cast<int>(running.size()))) {
      running[static_cast<size_t>(i)]->run_round();
    }
  }
  for (Runner* runner : running) runner->time_kernels();
}

// Throws what a side was refused for where none can run.
Case run_case(const CaseOptions& wanted, const Options& options) {
  // Before noise is made for what does not fit.
  engine::plan_device(Noise::shape_of(wanted), {.backend = "cuda"});
  const Noise noise(wanted);
  Runners runners;
  bool any = false;
  for (const SideOptions& side : options.sides) {
    runners.push_back(std::make_unique<Runner>(noise, side));
    any = runners.back()->start() || any;
  }
  if (!any) throw engine::Error(runners.front()->code(), runners.front()->side().refused);
  compare(runners);
  measure(runners, options.rounds);
  Case out{.height = wanted.height,
           .width = wanted.width,
           .n = wanted.n,
           .planes = noise.problem().planes()};
  for (auto& runner : runners) out.sides.push_back(std::move(runner->side()));
  return out;
}

void write_json(const std::string& path, const Report& report) {
  std::ofstream stream(path);
  stream << report_json(report);
  if (!stream.flush()) throw engine::InputError("cannot write " + path);
}

engine::ExitCode run(const Options& options) {
  const Stopwatch watch;
  const engine::cuda::DeviceFacts facts = engine::cuda::require_device(0);
  open_device(facts.number);
  Report report{.device = facts.name + " (" + facts.architecture + ")",
                .versions = facts.libraries,
                .open_seconds = watch.seconds()};
  report.versions.emplace_back("margay", MARGAY_VERSION);
  report.properties = device_properties(facts.number);
  report.copy_bytes_per_second = measure_copy();
  std::cout << report_head(report) << std::flush;
  if (options.facts) {
    if (!options.json.empty()) write_json(options.json, report);
    return engine::ExitCode::kDone;
  }
  for (const CaseOptions& wanted : options.cases) {
    std::cerr << "gpu_bench: " << wanted.width << " x " << wanted.height << ", template "
              << wanted.n << '\n';
    report.cases.push_back(run_case(wanted, options));
    // Now, so that a run that is stopped leaves what it had.
    std::cout << case_table(report.cases.back(), report.copy_bytes_per_second) << std::flush;
    if (!options.json.empty()) write_json(options.json, report);
  }
  const std::vector<std::string> wrong = complaints(report);
  for (const std::string& sentence : wrong) std::cerr << "gpu_bench: " << sentence << '\n';
  return wrong.empty() ? engine::ExitCode::kDone : engine::ExitCode::kDeviceFault;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  engine::ExitCode code = engine::ExitCode::kDeviceFault;
  try {
    const bench::Options options = bench::parse_options({argv + 1, argv + argc});
    if (options.help) {
      std::cout << bench::usage();
      return 0;
    }
    return static_cast<int>(bench::run(options));
  } catch (const engine::Error& error) {
    std::cerr << "gpu_bench: " << error.what() << '\n';
    code = error.code();
  } catch (const std::exception& error) {
    std::cerr << "gpu_bench: unexpected failure: " << error.what() << '\n';
  }
  return static_cast<int>(code);
}
