// Which devices computational_config.gpu_ids asks for, and by how many local ranks. Pure. A device
// is an index among those that this process sees.
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

// The first device that gpu_ids names among those that are visible; where none of them is, the
// first that it names; 0 where it names none.
int first_device(const std::vector<std::string>& gpu_ids, int visible);

// For each local rank of a search that was started as one process: the CUDA_VISIBLE_DEVICES by
// which it sees its own device alone. Devices that gpu_ids names and that are not visible have no
// rank. Empty where one process is enough: for fewer than two devices.
std::vector<std::string> devices_of_local_ranks(const std::vector<std::string>& gpu_ids,
                                                const VisibleDevices& visible);

}  // namespace engine
