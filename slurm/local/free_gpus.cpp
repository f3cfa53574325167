#include "slurm/local/free_gpus.h"

#include <algorithm>

namespace slurm {

FreeGpus::FreeGpus(const std::vector<Gpu>& all) {
  for (const Gpu& gpu : all) ids_.push_back(gpu.id);
}

void FreeGpus::take(const std::vector<std::string>& held) {
  for (const std::string& id : held) {
    if (std::erase(ids_, id) == 0) ++unknown_;
  }
}

int FreeGpus::count() const {
  return static_cast<int>(ids_.size() - std::min(ids_.size(), unknown_));
}

std::optional<std::vector<std::string>> FreeGpus::give(int count) {
  if (count > this->count()) return std::nullopt;
  const auto end = ids_.begin() + count;
  std::vector<std::string> given(ids_.begin(), end);
  ids_.erase(ids_.begin(), end);
  return given;
}

}  // namespace slurm
