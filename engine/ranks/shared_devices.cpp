#include "engine/ranks/shared_devices.h"

namespace engine {
namespace {

std::string name_of(const RankDevice& one) {
  return "rank " + std::to_string(one.rank) + " on " + one.host;
}

}  // namespace

std::string shared_device(const std::vector<RankDevice>& ranks) {
  for (size_t first = 0; first < ranks.size(); ++first) {
    if (ranks[first].identity.empty()) continue;
    std::string others;
    for (size_t k = first + 1; k < ranks.size(); ++k) {
      if (ranks[k].identity == ranks[first].identity) others += " and " + name_of(ranks[k]);
    }
    if (others.empty()) continue;
    return name_of(ranks[first]) + others + " have the same device, " + ranks[first].identity +
           ": give each rank its own, by another CUDA_VISIBLE_DEVICES or --local-rank for each "
           "(nvidia-smi -L lists the devices) or by srun --gpus-per-task=1, or start fewer ranks";
  }
  return "";
}

}  // namespace engine
