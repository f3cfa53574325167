// Finds the devices that computational_config.gpu_ids names, and the local ranks for them. Pure
// functions. A device is an index among the devices that this process sees.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace engine {

// The CUDA devices that this process sees.
struct VisibleDevices {
  int count = 0;
  std::optional<std::string> names;  // CUDA_VISIBLE_DEVICES, if it is set
};

// Returns the first visible device that gpu_ids names, or the first that it names where none is
// visible, or 0 where it names none.
int first_device(const std::vector<std::string>& gpu_ids, int visible);

// Returns for each local rank of a search that was started as one process the CUDA_VISIBLE_DEVICES
// that shows it only its own device. Named devices that are not visible get no rank. Returns
// nothing for fewer than two devices, since one process is enough.
std::vector<std::string> devices_of_local_ranks(const std::vector<std::string>& gpu_ids,
                                                const VisibleDevices& visible);

}  // namespace engine
