#include "slurm/local/free_gpus.h"

#include <algorithm>

namespace slurm {

namespace {

// "GPU", "MIG"; empty for a number.
std::string kind_of(const std::string& id) {
  const size_t end = id.find('-');
  return end == std::string::npos ? "" : id.substr(0, end);
}

}  // namespace

FreeGpus::FreeGpus(const std::vector<Gpu>& all) {
  for (const Gpu& gpu : all) {
    ids_.push_back(gpu.id);
    all_.push_back(gpu.id);
    kinds_.insert(kind_of(gpu.id));
  }
}

void FreeGpus::take(const std::vector<std::string>& held) {
  for (const std::string& id : held) {
    std::erase(ids_, id);
    if (kinds_ != std::set<std::string>{kind_of(id)}) all_known_ = false;
  }
}

void FreeGpus::let_rest(const std::map<std::string, int64_t>& resting) {
  const auto rests = [&](const std::string& id) { return resting.contains(id); };
  if (std::all_of(all_.begin(), all_.end(), rests)) {
    std::stable_sort(ids_.begin(), ids_.end(), [&](const std::string& a, const std::string& b) {
      return resting.at(a) < resting.at(b);
    });
  } else {
    std::erase_if(ids_, rests);
  }
}

int FreeGpus::count() const { return all_known_ ? static_cast<int>(ids_.size()) : 0; }

std::optional<std::vector<std::string>> FreeGpus::give(int count) {
  if (count > this->count()) return std::nullopt;
  const auto end = ids_.begin() + count;
  std::vector<std::string> given(ids_.begin(), end);
  ids_.erase(ids_.begin(), end);
  return given;
}

}  // namespace slurm
