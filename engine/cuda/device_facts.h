// The facts about a CUDA device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/residence.h"

namespace engine::cuda {

// A device that works.
struct DeviceFacts {
  int number = 0;             // index among the visible devices (CUDA_VISIBLE_DEVICES)
  std::string name;           // "NVIDIA H200"
  std::string architecture;   // "sm_90"
  uint64_t free_memory = 0;   // bytes
  uint64_t shared_bytes = 0;  // shared memory that a block may have
  Multiprocessor multiprocessor;
  std::vector<std::pair<std::string, std::string>> libraries;  // name, version
};

}  // namespace engine::cuda
