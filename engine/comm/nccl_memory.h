// The device memory, in bytes, that exchanging data by NCCL takes.
#pragma once

#include <cstdint>

namespace engine::comm {

// Data passes through a stage of this size on the device, from and to the host's memory.
inline constexpr uint64_t kNcclStage = uint64_t{32} << 20;

// The most channels that NCCL may have. What ranks exchange is little beside the search, and each
// channel takes about 10 MB for each of its connections, of which it may have eight.
inline constexpr int kNcclChannels = 4;

// The stage, the connections of so many channels, and as much again as these for NCCL's kernels and
// what it keeps of the ranks: an allowance, since NCCL does not document what they take.
inline constexpr uint64_t kNcclMemory = kNcclStage + (uint64_t{640} << 20);

}  // namespace engine::comm
