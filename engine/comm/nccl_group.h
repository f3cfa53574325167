// The collectives of ranks on CUDA devices. NCCL's functions and the stage on this rank's device
// are parameters, so that lost ranks and failing devices can be tested without a device.
#pragma once

#include <memory>

#include "engine/comm/factory.h"
#include "engine/comm/nccl_functions.h"
#include "engine/comm/nccl_stage.h"

namespace engine::comm {

// Waits for the group's other ranks, and throws as make_nccl() does. When a device fails or a rank
// is silent, the group is aborted at once, so that no other rank waits for its own timeout.
std::unique_ptr<Communicator> make_nccl_group(const GroupConfig& config, Store& store,
                                              const NcclFunctions& functions,
                                              std::unique_ptr<NcclStage> stage);

}  // namespace engine::comm
