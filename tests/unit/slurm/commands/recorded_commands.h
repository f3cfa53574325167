// What the commands of a real Slurm 22.05.8 printed.
#pragma once

#include <string>

#include "tests/scratch_folder.h"

namespace slurm {

inline constexpr const char* kPrefix = "margay-lab-";

inline std::string recorded(const std::string& name) {
  return tests::text_of(std::string(MARGAY_TEST_DATA "/slurm/commands/") + name);
}

}  // namespace slurm
