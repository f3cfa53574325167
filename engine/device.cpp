#include "engine/device.h"

#include <complex>
#include <filesystem>

#include "engine/cpu/cpu_backend.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/error.h"
#include "engine/fft.h"
#include "engine/free_memory.h"
#include "engine/human_text.h"

namespace engine {
namespace {

std::string megabytes(uint64_t bytes) {
  return grouped_number(static_cast<int64_t>((bytes + 999999) / 1000000)) + " MB";
}

// The kernel driver's own word; a device node alone may be left over in a container.
bool kernel_driver_present() {
  std::error_code ignored;
  return std::filesystem::exists("/dev/nvidia0", ignored) &&
         std::filesystem::exists("/proc/driver/nvidia/version", ignored);
}

[[noreturn]] void refuse_for_memory(uint64_t needed, uint64_t free, const std::string& of,
                                    const std::string& remedy) {
  throw Error(ExitCode::kDeviceMemory, "the search needs " + megabytes(needed) + of +
                                           " with the smallest batch; " + megabytes(free) +
                                           " are free. Use " + remedy);
}

DevicePlan plan_processor(const ProblemShape& shape, const DeviceOptions& options) {
  DevicePlan plan;
  plan.backend = "cpu";
  const cpu::CpuOptions wanted{options.threads, options.batch};
  const uint64_t limit = available_memory();
  const cpu::MemoryPlan unlimited = cpu::plan_memory(shape, wanted);
  const cpu::MemoryPlan memory = cpu::plan_memory(shape, wanted, limit);
  plan.threads = memory.threads;
  plan.batch = memory.batch;
  plan.memory = memory.items;
  plan.bytes = memory.total();
  plan.memory_limit = limit;
  if (limit > 0 && plan.bytes > limit) {
    refuse_for_memory(plan.bytes, limit, "",
                      "a machine with more memory, fewer --threads or a smaller micrograph");
  }
  if (memory.total() < unlimited.total()) {
    plan.notes.push_back("batch shrunk to " + std::to_string(plan.batch) + " units and " +
                         std::to_string(memory.transforms) + " transforms to fit " +
                         megabytes(limit) + " of free memory");
  }
  return plan;
}

// What the program itself holds while a device searches.
uint64_t bytes_beside_device(const ProblemShape& s) {
  const auto n = static_cast<uint64_t>(s.template_size);
  const uint64_t pixels = static_cast<uint64_t>(s.height) * static_cast<uint64_t>(s.width);
  const uint64_t slice = n * (n / 2 + 1) * sizeof(std::complex<float>);
  const uint64_t results = 3 * sizeof(uint64_t) + 8 * sizeof(float);
  return (n + static_cast<uint64_t>(s.planes)) * slice +
         pixels * (sizeof(std::complex<float>) / 2 + results) +
         static_cast<uint64_t>(s.orientations) * (2 * sizeof(Orientation) + sizeof(Unit));
}

DevicePlan plan_cuda(const ProblemShape& shape, const DeviceOptions& options) {
  const cuda::DeviceFacts facts = cuda::require_device(options.device);
  const uint64_t workspace = cuda::transform_workspace(shape, options.device);
  const cuda::MemoryPlan unlimited = cuda::plan_memory(shape, options.batch, workspace);
  const cuda::MemoryPlan memory =
      cuda::plan_memory(shape, options.batch, workspace, facts.free_memory);
  DevicePlan plan{.backend = "cuda",
                  .batch = memory.batch,
                  .device = options.device,
                  .memory = memory.items,
                  .bytes = memory.total(),
                  .memory_limit = facts.free_memory};
  if (plan.bytes > plan.memory_limit) {
    refuse_for_memory(plan.bytes, plan.memory_limit, " of device memory",
                      "a device with more memory, a smaller micrograph or a smaller template, and "
                      "see with nvidia-smi whether another process holds memory");
  }
  const uint64_t here = bytes_beside_device(shape);
  const uint64_t free_here = available_memory();
  if (free_here > 0 && here > free_here) {
    refuse_for_memory(here, free_here, " of the machine's memory beside the device",
                      "a machine or a job with more memory, or a smaller micrograph");
  }
  if (memory.batch < unlimited.batch) {
    plan.notes.push_back("batch shrunk from " + std::to_string(unlimited.batch) + " to " +
                         std::to_string(memory.batch) + " units to fit " +
                         megabytes(facts.free_memory) + " of free device memory");
  }
  return plan;
}

}  // namespace

bool nvidia_device_present() { return kernel_driver_present() || cuda::device_visible(); }

int first_device(const std::vector<std::string>& gpu_ids) {
  for (const std::string& id : gpu_ids) {
    const std::string number = id.starts_with("cuda:") ? id.substr(5) : id;
    if (number.find_first_not_of("0123456789") == std::string::npos) return std::stoi(number);
  }
  return 0;
}

std::string choose_backend(const std::string& wanted, int device) {
  if (wanted == "cpu") return wanted;
  if (wanted != "auto" && wanted != "cuda") {
    throw UsageError("--backend: '" + wanted + "' is not one of auto, cuda, cpu");
  }
  if (wanted == "auto" && !nvidia_device_present()) return "cpu";
  cuda::require_device(device);
  return "cuda";
}

DevicePlan plan_device(const ProblemShape& shape, const DeviceOptions& options) {
  const std::string backend = choose_backend(options.backend, options.device);
  return backend == "cpu" ? plan_processor(shape, options) : plan_cuda(shape, options);
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
    return "computational_config.gpu_ids says cpu" + here +
           ", and on the processor with --backend "
           "cpu";
  }
  const bool one = gpu_ids.size() == 1 && gpu_ids.front() != "all";
  return one ? "" : "computational_config.gpu_ids names several devices" + here + " alone";
}

DeviceInfo describe_device(const DevicePlan& plan) {
  if (plan.backend == "cuda") {
    const cuda::DeviceFacts facts = cuda::require_device(plan.device);
    return {.backend = plan.backend,
            .name = facts.name,
            .instruction_set = facts.architecture,
            .threads = plan.threads,
            .libraries = facts.libraries};
  }
  return {.backend = plan.backend,
          .name = cpu::processor_name(),
          .instruction_set = cpu::kernel_instruction_set(),
          .threads = plan.threads,
          .libraries = {{"fftw", fft_library_version()}}};
}

std::unique_ptr<Backend> make_backend(const Problem& problem, const DevicePlan& plan) {
  const ProblemShape shape{problem.height, problem.width, problem.template_size, problem.planes(),
                           static_cast<int64_t>(problem.orientations.size())};
  if (plan.backend == "cuda") {
    return cuda::make_cuda_backend(problem, cuda::plan_memory(shape, plan.batch), plan.device);
  }
  return cpu::make_cpu_backend(
      problem, cpu::plan_memory(shape, {plan.threads, plan.batch}, plan.memory_limit));
}

std::string describe_memory(const DevicePlan& plan) {
  std::string text =
      (plan.backend == "cuda" ? "device memory: " : "memory: ") + megabytes(plan.bytes) + " (";
  for (const MemoryItem& item : plan.memory) {
    text += (&item == plan.memory.data() ? "" : ", ") + item.name + " " + megabytes(item.bytes);
  }
  return text + ")";
}

}  // namespace engine
