// Which GPUs of this machine no job of the local cluster holds. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slurm/machine_gpus.h"

namespace slurm {

class FreeGpus {
 public:
  explicit FreeGpus(const std::vector<Gpu>& all);

  // A job holds them. While it holds one under another kind of name than those of this machine have
  // (its number, its UUID), nobody knows which of them that is, and none is free.
  void take(const std::vector<std::string>& held);
  // Those that rest, with the time of their failure, are not given while this machine has others,
  // free or not. Where all rest, the one that failed first is given first.
  void let_rest(const std::map<std::string, int64_t>& resting);
  // The ids of as many, which are taken from here on; nullopt where there are not as many.
  std::optional<std::vector<std::string>> give(int count);
  int count() const;
  bool all_known() const { return all_known_; }

 private:
  std::vector<std::string> ids_;  // that are free
  std::vector<std::string> all_;
  std::set<std::string> kinds_;  // of the names of all
  bool all_known_ = true;        // of those that are held
};

}  // namespace slurm
