// The collectives of ranks on CUDA devices, over the functions of NCCL and a stage on this rank's
// device, both of which are given: what is done when a rank is gone or a device fails can be tried
// without a device.
#pragma once

#include <memory>

#include "engine/comm/factory.h"
#include "engine/comm/nccl_functions.h"
#include "engine/comm/nccl_stage.h"

namespace engine::comm {

// Waits for the group's other ranks. Throws as make_nccl does. When a device fails or a rank is
// silent, the group is aborted at once, so that no rank waits for another until its timeout.
std::unique_ptr<Communicator> make_nccl_group(const GroupConfig& config, Store& store,
                                              const NcclFunctions& functions,
                                              std::unique_ptr<NcclStage> stage);

}  // namespace engine::comm
