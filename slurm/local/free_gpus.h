// Which GPUs of this machine no job of the local cluster holds. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "slurm/machine_gpus.h"

namespace slurm {

class FreeGpus {
 public:
  explicit FreeGpus(const std::vector<Gpu>& all);

  // A job holds them. One that is not of this machine may be one of its own under another name (its
  // number, its UUID), so that one GPU fewer is given out.
  void take(const std::vector<std::string>& held);
  // The ids of as many, which are taken from here on; nullopt where there are not as many.
  std::optional<std::vector<std::string>> give(int count);
  int count() const;

 private:
  std::vector<std::string> ids_;
  size_t unknown_ = 0;  // that are held
};

}  // namespace slurm
