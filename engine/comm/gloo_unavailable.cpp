// Implements make_gloo() of engine/comm/factory.h in a build without Gloo.
#include "engine/comm/factory.h"
#include "engine/error.h"

namespace engine::comm {

bool has_gloo() { return false; }

std::unique_ptr<Communicator> make_gloo(const GroupConfig& /*config*/, Store& /*store*/) {
  throw Error(ExitCode::kDeviceFault,
              "this build of margay-engine has no Gloo, by which ranks that search on processors "
              "bring their results together: search with one rank, or build it where libgloo is "
              "installed");
}

}  // namespace engine::comm
