// The device memory, in bytes, that a rank needs to exchange data by NCCL.
#pragma once

#include <cstdint>

namespace engine::comm {

// Data between the host's memory and other ranks passes through a stage of this size on the device.
inline constexpr uint64_t kNcclStage = uint64_t{32} << 20;

// The most channels that NCCL may have. Few are enough, since exchanging takes little time beside
// the search; each channel may have eight connections, which take about 10 MB each.
inline constexpr int kNcclChannels = 4;

// The stage, the connections of kNcclChannels channels, and the same amount again for NCCL's
// kernels and its data about ranks, an allowance because NCCL does not document those.
inline constexpr uint64_t kNcclMemory = kNcclStage + (uint64_t{640} << 20);

}  // namespace engine::comm
