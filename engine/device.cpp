#include "engine/device.h"

#include <filesystem>

#include "engine/cpu/cpu_backend.h"
#include "engine/error.h"
#include "engine/fft.h"
#include "engine/free_memory.h"
#include "engine/human_text.h"

namespace engine {
namespace {

std::string megabytes(uint64_t bytes) {
  return grouped_number(static_cast<int64_t>((bytes + 999999) / 1000000)) + " MB";
}

}  // namespace

// The kernel driver's own word; a device node alone may be left over in a container.
bool nvidia_device_present() {
  std::error_code ignored;
  return std::filesystem::exists("/dev/nvidia0", ignored) &&
         std::filesystem::exists("/proc/driver/nvidia/version", ignored);
}

std::string choose_backend(const std::string& wanted) {
  if (wanted == "cpu") return wanted;
  if (wanted == "cuda") {
    if (nvidia_device_present()) {
      throw Error(ExitCode::kDeviceFault,
                  "--backend cuda: this machine has an NVIDIA device, but this build of "
                  "margay-engine has no CUDA backend; use --backend cpu");
    }
    throw InputError(
        "--backend cuda: this build of margay-engine has no CUDA backend and this machine has no "
        "NVIDIA device; use --backend cpu");
  }
  if (wanted != "auto") {
    throw UsageError("--backend: '" + wanted + "' is not one of auto, cuda, cpu");
  }
  if (nvidia_device_present()) {
    throw Error(ExitCode::kDeviceFault,
                "this machine has an NVIDIA device, but this build of margay-engine has no CUDA "
                "backend; to search on the processor all the same, say --backend cpu");
  }
  return "cpu";
}

DevicePlan plan_device(const ProblemShape& shape, const DeviceOptions& options) {
  DevicePlan plan;
  plan.backend = choose_backend(options.backend);
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
    throw Error(ExitCode::kDeviceMemory,
                "the search needs " + megabytes(plan.bytes) + " with the smallest batch; " +
                    megabytes(limit) +
                    " are free. Use a machine with more memory, fewer --threads "
                    "or a smaller micrograph");
  }
  if (memory.total() < unlimited.total()) {
    plan.notes.push_back("batch shrunk to " + std::to_string(plan.batch) + " units and " +
                         std::to_string(memory.transforms) + " transforms to fit " +
                         megabytes(limit) + " of free memory");
  }
  return plan;
}

DeviceInfo describe_device(const DevicePlan& plan) {
  return {.backend = plan.backend,
          .name = cpu::processor_name(),
          .instruction_set = cpu::kernel_instruction_set(),
          .threads = plan.threads,
          .libraries = {{"fftw", fft_library_version()}}};
}

std::unique_ptr<Backend> make_backend(const Problem& problem, const DevicePlan& plan) {
  const ProblemShape shape{problem.height, problem.width, problem.template_size, problem.planes(),
                           static_cast<int64_t>(problem.orientations.size())};
  return cpu::make_cpu_backend(
      problem, cpu::plan_memory(shape, {plan.threads, plan.batch}, plan.memory_limit));
}

std::string describe_memory(const DevicePlan& plan) {
  std::string text = "memory: " + megabytes(plan.bytes) + " (";
  for (const MemoryItem& item : plan.memory) {
    text += (&item == plan.memory.data() ? "" : ", ") + item.name + " " + megabytes(item.bytes);
  }
  return text + ")";
}

}  // namespace engine
