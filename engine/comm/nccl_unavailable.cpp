// Implements make_nccl() of engine/comm/factory.h in a build without NCCL.
#include "engine/comm/factory.h"
#include "engine/error.h"

namespace engine::comm {

bool has_nccl() { return false; }

std::unique_ptr<Communicator> make_nccl(const GroupConfig& /*config*/, Store& /*store*/,
                                        int /*device*/) {
  throw Error(ExitCode::kDeviceFault,
              "this build of margay-engine has no NCCL, by which ranks that search on CUDA devices "
              "bring their results together: search with one rank, or build it with the CUDA "
              "toolkit where nccl.h is installed");
}

}  // namespace engine::comm
