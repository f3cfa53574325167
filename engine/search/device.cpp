#include "engine/search/device.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "base/nominal_rate.h"
#include "base/size_text.h"
#include "base/text.h"
#include "engine/backend/available_memory.h"
#include "engine/backend/transform_path.h"
#include "engine/comm/factory.h"
#include "engine/comm/nccl_memory.h"
#include "engine/cpu/fused/backend.h"
#include "engine/cpu/fused/rate.h"
#include "engine/cpu/kernels.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/fused/backend.h"
#include "engine/error.h"
#include "engine/numerics/fft.h"

namespace engine {
namespace {

[[noreturn]] void refuse_for_memory(uint64_t needed, uint64_t free, const std::string& of,
                                    const std::string& remedy) {
  throw Error(ExitCode::kDeviceMemory, "the search needs " + base::megabytes_needed(needed) + of +
                                           " with the smallest batch; " +
                                           base::megabytes_free(free) + " are free. Use " + remedy);
}

DevicePlan plan_processor(const ProblemShape& shape, const DeviceOptions& options) {
  const TransformPath path = choose_transforms("cpu", options.fft, options.precision);
  const auto plan_memory = path.fft == "fused" ? cpu::fused::plan_memory : cpu::plan_memory;
  DevicePlan plan;
  plan.backend = "cpu";
  plan.fft = path.fft;
  const cpu::CpuOptions wanted{options.threads, options.batch,
                               static_cast<uint64_t>(options.memory * 1e9)};
  const uint64_t limit = available_memory();
  const cpu::MemoryPlan unlimited = plan_memory(shape, wanted, 0);
  const cpu::MemoryPlan memory = plan_memory(shape, wanted, limit);
  plan.threads = memory.threads;
  plan.batch = memory.batch;
  plan.memory = memory.items;
  plan.bytes = memory.total();
  plan.memory_limit = limit;
  plan.work = memory;
  if (limit > 0 && plan.bytes > limit) {
    refuse_for_memory(plan.bytes, limit, "",
                      "a machine with more memory, fewer --threads or a smaller micrograph");
  }
  if (memory.total() < unlimited.total()) {
    plan.notes.push_back("batch set to " + std::to_string(plan.batch) + " units and " +
                         std::to_string(memory.transforms) + " transforms to fit " +
                         base::megabytes_free(limit) + " of free memory");
  }
  return plan;
}

uint64_t valid_pixels(const ProblemShape& s) {
  return static_cast<uint64_t>(s.height - s.template_size + 1) *
         static_cast<uint64_t>(s.width - s.template_size + 1);
}

// What a Problem of this shape holds.
uint64_t bytes_of_problem(const ProblemShape& s) {
  const auto n = static_cast<uint64_t>(s.template_size);
  const uint64_t slice = n * (n / 2 + 1) * sizeof(std::complex<float>);
  return (n + static_cast<uint64_t>(s.planes)) * slice +
         static_cast<uint64_t>(s.height) * (static_cast<uint64_t>(s.width) / 2 + 1) *
             sizeof(std::complex<float>) +
         static_cast<uint64_t>(s.orientations) * (2 * sizeof(Orientation) + sizeof(Unit));
}

// What the program itself holds while a device searches.
uint64_t bytes_beside_device(const ProblemShape& s, const cuda::MemoryPlan& plan) {
  const auto n = static_cast<uint64_t>(s.template_size);
  const uint64_t pixels = static_cast<uint64_t>(s.height) * static_cast<uint64_t>(s.width);
  const uint64_t slice = n * (n / 2 + 1) * sizeof(std::complex<float>);
  const uint64_t results = 3 * sizeof(uint64_t) + 8 * sizeof(float);
  uint64_t tiles = 0;
  if (plan.fused) {
    // The image in double, twice while it is made, and one tile on its way to the device.
    const uint64_t tile = static_cast<uint64_t>(plan.fused->tiling.rows.length) *
                          static_cast<uint64_t>(plan.fused->tiling.columns.length);
    tiles = 2 * pixels * sizeof(double) + 4 * tile * sizeof(std::complex<float>);
  }
  return (n + static_cast<uint64_t>(s.planes)) * slice + tiles +
         pixels * (sizeof(std::complex<float>) / 2 + results) +
         static_cast<uint64_t>(s.orientations) * (2 * sizeof(Orientation) + sizeof(Unit));
}

// True when some length of the fused path takes the template.
bool fused_fits(const ProblemShape& shape, const cuda::DeviceFacts& facts) {
  const std::vector<int> lengths =
      cuda::lengths_within(cuda::fused_kernels(Precision::kFp32), facts.shared_bytes);
  return std::any_of(lengths.begin(), lengths.end(),
                     [&](int length) { return length >= shape.template_size; });
}

// Plans one path within `free` bytes of the device's memory; 0: no limit.
class CudaPlanner {
 public:
  CudaPlanner(const ProblemShape& shape, const DeviceOptions& options,
              const cuda::DeviceFacts& facts, const TransformPath& path)
      : shape_(shape),
        batch_(options.batch),
        exchange_(options.exchange),
        kernels_(cuda::fused_kernels(path.precision)) {
    kernels_.block_bytes = facts.shared_bytes;
    if (path.fft == "fused") {
      lengths_ = cuda::require_lengths(kernels_, facts.shared_bytes, shape.template_size,
                                       facts.name + " (" + facts.architecture + ")");
    }
    workspace_ = cuda::transform_workspace(shape, plan(0), options.device);
  }

  cuda::MemoryPlan plan(uint64_t free) const {
    return lengths_.empty() ? cuda::plan_memory(shape_, batch_, workspace_, free, exchange_)
                            : cuda::plan_fused_memory(shape_, kernels_, lengths_, batch_,
                                                      workspace_, free, exchange_);
  }

 private:
  const ProblemShape& shape_;
  int batch_;
  uint64_t exchange_;
  cuda::FusedKernels kernels_;
  std::vector<int> lengths_;  // of the fused path
  uint64_t workspace_ = 0;
};

// What was done about too little memory; empty: nothing.
std::string shrinking_note(const cuda::MemoryPlan& wanted, const cuda::MemoryPlan& found,
                           uint64_t free) {
  std::string what;
  const auto note = [&](int from, int to, const std::string& of) {
    if (to == from) return;
    what += (what.empty() ? " from " : " and from ") + std::to_string(from) + " to " +
            std::to_string(to) + of;
  };
  note(wanted.batch, found.batch, " units");
  if (found.fused) note(wanted.fused->transforms, found.fused->transforms, " transforms at once");
  return what.empty() ? ""
                      : "batch shrunk" + what + " to fit " + base::megabytes_free(free) +
                            " of free device memory";
}

void require_memory_beside_device(const ProblemShape& shape, const cuda::MemoryPlan& plan) {
  const uint64_t here = bytes_beside_device(shape, plan);
  const uint64_t free_here = available_memory();
  if (free_here == 0 || here <= free_here) return;
  refuse_for_memory(here, free_here, " of the machine's memory beside the device",
                    "a machine or a job with more memory, or a smaller micrograph");
}

DevicePlan plan_cuda(const ProblemShape& shape, const DeviceOptions& options) {
  const cuda::DeviceFacts facts = cuda::require_device(options.device);
  const TransformPath path =
      choose_transforms("cuda", options.fft, options.precision, fused_fits(shape, facts));
  const CudaPlanner planner(shape, options, facts, path);
  cuda::MemoryPlan work = planner.plan(facts.free_memory);
  DevicePlan plan{.backend = "cuda",
                  .batch = work.batch,
                  .device = options.device,
                  .fft = path.fft,
                  .precision = precision_name(path.precision),
                  .tiling = work.fused ? cuda::describe_tiling(work.fused->tiling) : "",
                  .memory = work.items,
                  .bytes = work.total(),
                  .memory_limit = facts.free_memory};
  if (plan.bytes > plan.memory_limit) {
    refuse_for_memory(plan.bytes, plan.memory_limit, " of device memory",
                      "a device with more memory, a smaller micrograph or a smaller template, and "
                      "see with nvidia-smi whether another process holds memory");
  }
  require_memory_beside_device(shape, work);
  const std::string note = shrinking_note(planner.plan(0), work, facts.free_memory);
  if (!note.empty()) plan.notes.push_back(note);
  plan.work = std::move(work);
  return plan;
}

// Found out before a device is looked for.
void check_transforms(const ProblemShape& shape, const DeviceOptions& options) {
  const TransformPath path =
      choose_transforms(options.backend, options.fft, options.precision, false);
  if (path.fft != "fused" || !cuda::built_in()) return;
  const cuda::FusedKernels kernels = cuda::fused_kernels(path.precision);
  cuda::require_lengths(kernels, std::numeric_limits<uint64_t>::max(), shape.template_size,
                        "any device");
}

std::vector<std::string> processor_transforms() {
  std::vector<std::string> all = {"fused fp32 of every length"};
  if (fft_library().name == kFftw) all.push_back("fftw fp32");
  return all;
}

std::string kernels_text(const cuda::FusedKernels& kernels) {
  std::string text = "fused " + precision_name(kernels.precision);
  for (const cuda::CompiledLength& each : kernels.lengths) {
    text += " " + std::to_string(each.length);
  }
  return text;
}

}  // namespace

VisibleDevices devices_for(const std::string& backend) {
  if (backend == "cpu") return {};
  return {.count = cuda::visible_devices(), .names = process_environment()("CUDA_VISIBLE_DEVICES")};
}

int device_of(const RankPlace& place, const std::string& backend) {
  const int visible = devices_for(backend).count;
  // None is visible: opening device 0 throws the reason.
  return visible == 0 ? 0 : device_of_rank(place, visible);
}

uint64_t exchange_memory(const std::string& collectives, int ranks) {
  if (ranks == 1) return 0;
  const bool by_nccl = collectives == "nccl" || (collectives == "auto" && comm::has_nccl());
  return by_nccl ? comm::kNcclMemory : 0;
}

std::string identity_of(const DeviceOptions& options) {
  return devices_for(options.backend).count == 0 ? "" : cuda::device_identity(options.device);
}

std::string choose_backend(const std::string& wanted, int device) {
  if (wanted == "cpu") return wanted;
  if (wanted != "auto" && wanted != "cuda") {
    throw UsageError("--backend: '" + wanted + "' is not one of auto, cuda, cpu");
  }
  if (wanted == "auto" && !cuda::nvidia_device_present()) return "cpu";
  cuda::require_device(device);
  return "cuda";
}

DevicePlan plan_device(const ProblemShape& shape, const DeviceOptions& options) {
  check_transforms(shape, options);
  const std::string backend = choose_backend(options.backend, options.device);
  if (backend == "cuda") return plan_cuda(shape, options);
  return plan_processor(shape, options);
}

ProblemShape on_grid(ProblemShape shape, const std::optional<SearchGrid>& grid) {
  if (!grid) return shape;
  shape.height = grid->height;
  shape.width = grid->width;
  shape.template_size = grid->template_size;
  return shape;
}

DeviceOptions in_single_precision(DeviceOptions options) {
  if (options.precision == "fp32") return options;
  options.fft = "fused";
  options.precision = "fp32";
  return options;
}

void add_crop_memory(DevicePlan& plan, const ProblemShape& whole, const SearchGrid& grid,
                     const DeviceOptions& sample) {
  const ProblemShape shape = on_grid(whole, grid);
  const SearchGrid part = grid_of_sample(grid, whole.height, whole.width);
  ProblemShape measured = whole;
  measured.height = part.padded_height;
  measured.width = part.padded_width;
  constexpr uint64_t kMaps = 8 * sizeof(float);
  const uint64_t after = bytes_of_problem(shape) +
                         valid_pixels(shape) * (3 * sizeof(uint64_t) + kMaps) +
                         valid_pixels(whole) * kMaps;
  const bool on_processor = plan.backend == "cpu";
  const uint64_t free_here = available_memory();
  const uint64_t before =
      plan_device(measured, sample).bytes + (on_processor ? bytes_of_problem(shape) : 0);
  const uint64_t most = on_processor ? std::max(before, after) : before;
  const uint64_t most_here = on_processor ? most : after;
  if (free_here > 0 && most_here > free_here) {
    throw Error(
        ExitCode::kDeviceMemory,
        "fourier_crop needs " + base::megabytes_needed(most_here) +
            " to measure its error and to write maps of the micrograph's pixels; " +
            base::megabytes_free(free_here) +
            " are free. Use a machine or a job with more memory, or leave fourier_crop out");
  }
  if (most <= plan.bytes) return;
  plan.memory.push_back({"before and after the search", most - plan.bytes});
  plan.bytes = most;
}

std::string devices_note(const DevicePlan& plan, const std::vector<std::string>& gpu_ids) {
  const bool wants_processor = gpu_ids == std::vector<std::string>{"cpu"};
  if (plan.backend == "cpu") {
    return wants_processor ? ""
                           : "computational_config.gpu_ids names devices; this search runs on the "
                             "processor";
  }
  const std::string here = "; this search runs on device " + std::to_string(plan.device);
  if (wants_processor) {
    return "computational_config.gpu_ids is cpu" + here +
           ", and on the processor with --backend "
           "cpu";
  }
  const bool one = gpu_ids.size() == 1 && gpu_ids.front() != "all";
  return one ? "" : "computational_config.gpu_ids names several devices" + here + " alone";
}

DeviceInfo describe_device(const DevicePlan& plan) {
  if (plan.backend == "cuda") {
    const cuda::DeviceFacts facts = cuda::require_device(plan.device);
    auto libraries = facts.libraries;
    libraries.emplace_back(fft_library().name, fft_library().version);
    return {.backend = plan.backend,
            .name = facts.name,
            .instruction_set = facts.architecture,
            .threads = plan.threads,
            .libraries = std::move(libraries),
            .transforms = transforms_of_this_build()};
  }
  return {.backend = plan.backend,
          .name = cpu::processor_name(),
          .instruction_set =
              plan.fft == "fused" ? cpu::fused::instruction_set() : cpu::kernel_instruction_set(),
          .threads = plan.threads,
          .libraries = {{fft_library().name, fft_library().version}},
          .transforms = processor_transforms()};
}

std::vector<std::string> transforms_of_this_build() {
  std::vector<std::string> all = processor_transforms();
  if (!cuda::built_in()) return all;
  all.push_back("cufft fp32");
  for (const Precision precision : {Precision::kFp32, Precision::kFp16}) {
    const cuda::FusedKernels kernels = cuda::fused_kernels(precision);
    if (!kernels.lengths.empty()) all.push_back(kernels_text(kernels));
  }
  return all;
}

std::unique_ptr<Backend> make_backend(const Problem& problem, const DevicePlan& plan) {
  if (const auto* work = std::get_if<cuda::MemoryPlan>(&plan.work)) {
    return work->fused ? cuda::make_fused_backend(problem, *work, plan.device)
                       : cuda::make_cuda_backend(problem, *work, plan.device);
  }
  const auto& work = std::get<cpu::MemoryPlan>(plan.work);
  return plan.fft == "fused" ? cpu::fused::make_backend(problem, work)
                             : cpu::make_cpu_backend(problem, work);
}

std::string describe_workers(const DevicePlan& plan) {
  const std::string transforms = plan.fft + " " + plan.precision;
  if (plan.backend == "cuda") {
    return "cuda, device " + std::to_string(plan.device) + ", " + transforms +
           (plan.tiling.empty() ? "" : " in " + plan.tiling);
  }
  const std::string vectors =
      plan.fft == "fused" ? " in vectors of " + base::counted(cpu::fused::vector_width(), "float") +
                                " (" + cpu::fused::instruction_set() + ")"
                          : "";
  return plan.backend + ", " + transforms + vectors + ", " + base::counted(plan.threads, "thread");
}

PredictedRate predict_rate(const ProblemShape& shape, const DevicePlan& plan, bool may_measure) {
  const double pixels = static_cast<double>(shape.height) * shape.width;
  if (plan.backend == "cuda") {
    const double fused = plan.precision == "fp32" ? base::kFusedBytes : base::kFusedFp16Bytes;
    return {.correlations_per_second =
                1 / base::seconds_on_gpu(pixels, plan.fft == "fused" ? fused : base::kCufftBytes)};
  }
  if (may_measure && plan.fft == "fused") {
    return {.correlations_per_second =
                cpu::fused::measure_rate(shape, std::get<cpu::MemoryPlan>(plan.work)),
            .measured = true};
  }
  const double on_core = plan.fft == "fused" ? base::kFusedOnCore : base::kFftwOnCore;
  return {.correlations_per_second = 1 / base::seconds_on_cores(pixels, plan.threads, on_core)};
}

std::string describe_memory(const DevicePlan& plan) {
  std::string text = (plan.backend == "cuda" ? "device memory: " : "memory: ") +
                     base::megabytes_needed(plan.bytes) + " (";
  for (const MemoryItem& item : plan.memory) {
    text += (&item == plan.memory.data() ? "" : ", ") + item.name + " " +
            base::megabytes_needed(item.bytes);
  }
  return text + ")";
}

}  // namespace engine
