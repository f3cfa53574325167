#include "scheduler/process/local_gpus.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/run_command.h"
#include "base/text.h"
#include "scheduler/config/config_reader.h"
#include "slurm/machine_gpus.h"

namespace scheduler {
namespace {

base::CommandResult run_info(const std::string& engine, const std::vector<std::string>& arguments) {
  return base::run_command(
      {.program = engine,
       .arguments = arguments,
       .environment = {{"PATH", base::variable("PATH", "/usr/bin:/bin")}, {"LC_ALL", "C"}},
       .most_output = 1U << 20U});
}

// False only where the engine says so; one that does not run is a matter of its own.
bool may_use_cuda(const std::string& engine) {
  base::CommandResult info = run_info(engine, {"info", "--build"});
  // One of an earlier version does not know the option.
  if (!info.ok()) info = run_info(engine, {"info"});
  for (const std::string& line : base::split(info.output, '\n')) {
    if (!base::trimmed(line).starts_with("backends ")) continue;
    return line.find("cuda") != std::string::npos;
  }
  return true;
}

slurm::MachineGpus usable_gpus(const Config& config) {
  try {
    slurm::MachineGpus machine = slurm::find_gpus(slurm::gpu_sources());
    if (machine.gpus.empty() || may_use_cuda(config.engine)) return machine;
    return {.note = "'" + config.engine + "' was built without CUDA and cannot use the " +
                    base::counted(static_cast<int64_t>(machine.gpus.size()), "GPU") +
                    " of this machine"};
  } catch (const slurm::GpuError& error) {
    throw ConfigError(std::string("GPUs ") + error.what());
  }
}

}  // namespace

void find_local_gpus(Config& config) {
  if (facts_of(config.cluster).takes_options) return;
  set_local_gpus(config.local,
                 config.local.gpus.count == 0 ? slurm::MachineGpus() : usable_gpus(config));
}

}  // namespace scheduler
