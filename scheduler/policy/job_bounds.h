// Limits of one job in Slurm: those of its partition, of its QOS and the partition's, and of its
// account and user. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "slurm/site_facts.h"

namespace scheduler {

// 0: not limited, or not known.
struct JobBounds {
  int most_nodes = 0;
  int most_gpus = 0;
  int64_t most_seconds = 0;

  bool operator==(const JobBounds&) const = default;
};

// The bounds of a job in this partition that asks for the account and QOS in `place`, if it names
// them.
JobBounds bounds_of_job(const slurm::SiteFacts& site, const std::string& partition,
                        const std::map<std::string, std::string>& place);

}  // namespace scheduler
