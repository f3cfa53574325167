// The NVIDIA GPUs of this machine, as the local cluster gives them to its jobs.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace slurm {

struct Gpu {
  // As CUDA_VISIBLE_DEVICES takes it: a UUID; a number where none is known.
  std::string id{};
  std::string model{};  // "NVIDIA H100 80GB HBM3"; empty: not known

  bool operator==(const Gpu&) const = default;
};

// A GPU with the parts into which MIG has split it; if there are parts, jobs get these.
struct ListedGpu {
  Gpu whole{};
  std::vector<Gpu> parts{};

  bool operator==(const ListedGpu&) const = default;
};

// Parses what `nvidia-smi -L` prints, in its order; lines of any other form are ignored. Pure.
std::vector<ListedGpu> parse_gpu_list(const std::string& text);

// The GPUs do not match the configuration. The message is a clause about them, without the key.
class GpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// GPUs are missing; they may still appear.
class GpuAbsent : public GpuError {
 public:
  using GpuError::GpuError;
};

// Which GPUs are for jobs: all, unless one of these is set.
struct GpuChoice {
  std::optional<int> count{};        // the first ones; 0: none
  std::vector<std::string> named{};  // numbers from 0 on, or UUIDs or beginnings of these
};

// Throws GpuAbsent when there are too few GPUs or a named one is missing, and GpuError when one is
// named twice. A number names a GPU with all its parts. Pure.
std::vector<Gpu> choose_gpus(const std::vector<ListedGpu>& found, const GpuChoice& choice);

// The GPUs that CUDA_VISIBLE_DEVICES (`names`) leaves visible: its entries up to the first invalid
// one, as CUDA reads it. Unless CUDA_DEVICE_ORDER (`order`) is PCI_BUS_ID, CUDA numbers GPUs of
// different models differently from nvidia-smi: then numbers are refused (GpuError). Pure.
std::vector<ListedGpu> visible_gpus(const std::vector<ListedGpu>& found, const std::string& names,
                                    const std::string& order);

// Where GPUs are looked for.
struct GpuSources {
  std::string nvidia_smi = "nvidia-smi";   // a path, or a name that is looked for in PATH
  std::filesystem::path devices = "/dev";  // where the driver's files nvidia0, nvidia1, ... are
  std::optional<std::string> visible{};    // CUDA_VISIBLE_DEVICES, where it is set
  std::string order{};                     // CUDA_DEVICE_ORDER
};

// The sources for this process, from its environment.
GpuSources gpu_sources();

struct MachineGpus {
  std::vector<ListedGpu> gpus{};
  std::string note{};  // how they were found, if the administrator should know; may be empty
};

// Runs nvidia-smi, for 30 s at most. If it lists none, the driver's files are counted, and GPUs are
// named by number. Throws GpuError as visible_gpus().
MachineGpus find_gpus(const GpuSources& sources);

}  // namespace slurm
