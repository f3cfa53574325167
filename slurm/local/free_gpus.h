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

  // Marks GPUs that a job holds. If the job names one in another way than this machine does now
  // (number or UUID), it is not known which GPU that is, and none counts as free.
  void take(const std::vector<std::string>& held);
  // GPUs that rest, with the time of their failure, are not given while this machine has others,
  // free or not. Where all rest, the one that failed first is given first.
  void let_rest(const std::map<std::string, int64_t>& resting);
  // Takes `count` GPUs and returns their ids; nullopt where fewer are free.
  std::optional<std::vector<std::string>> give(int count);
  int count() const;
  bool all_known() const { return all_known_; }

 private:
  std::vector<std::string> ids_;  // that are free
  std::vector<std::string> all_;
  std::set<std::string> kinds_;  // kinds of names (number or UUID) in `all_`
  bool all_known_ = true;        // whether the names of all held GPUs are
};

}  // namespace slurm
