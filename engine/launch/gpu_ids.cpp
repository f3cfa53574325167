#include "engine/launch/gpu_ids.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace engine {
namespace {

// "2" and "cuda:2"; nothing for all, cpu and cuda.
std::optional<int> number_of(const std::string& id) {
  const std::string number = id.starts_with("cuda:") ? id.substr(5) : id;
  if (number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoi(number);
}

// Each once, in the order in which they are named.
std::vector<int> visible_among(const std::vector<std::string>& gpu_ids, int visible) {
  std::vector<int> devices;
  for (const std::string& id : gpu_ids) {
    if (id == "all") {
      devices.resize(static_cast<size_t>(visible));
      std::iota(devices.begin(), devices.end(), 0);
      return devices;
    }
    const int device = id == "cuda" ? 0 : number_of(id).value_or(visible);
    if (device < visible && std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  }
  return devices;
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) {
    const size_t begin = name.find_first_not_of(' ');
    if (begin == std::string::npos) break;  // CUDA, too, stops at what is no device
    names.push_back(name.substr(begin, name.find_last_not_of(' ') - begin + 1));
  }
  return names;
}

}  // namespace

int first_device(const std::vector<std::string>& gpu_ids, int visible) {
  const std::vector<int> devices = visible_among(gpu_ids, visible);
  if (!devices.empty()) return devices.front();
  for (const std::string& id : gpu_ids) {
    if (const std::optional<int> device = number_of(id)) return *device;
  }
  return 0;
}

std::vector<std::string> devices_of_local_ranks(const std::vector<std::string>& gpu_ids,
                                                const VisibleDevices& visible) {
  int count = visible.count;
  std::vector<std::string> names;
  if (visible.names) {
    names = split_names(*visible.names);
    count = std::min(count, static_cast<int>(names.size()));
  }
  const std::vector<int> devices = visible_among(gpu_ids, count);
  if (devices.size() < 2) return {};
  std::vector<std::string> of_ranks;
  for (const int device : devices) {
    of_ranks.push_back(visible.names ? names[static_cast<size_t>(device)] : std::to_string(device));
  }
  return of_ranks;
}

}  // namespace engine
