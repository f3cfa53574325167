// What can be wrong with a site, found before a search finds it: programs, templates, folders, the
// cluster, and a tiny job that tells what it sees.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/clock.h"
#include "scheduler/config/config.h"
#include "slurm/cluster.h"

namespace scheduler {

struct DoctorOptions {
  std::string instance{};                      // of the database; empty: no daemon runs
  std::chrono::milliseconds patience{60'000};  // for the tiny job
  std::chrono::milliseconds look{1000};        // between looks at it
  // A cluster object of its own, as make_cluster.
  std::function<std::unique_ptr<slurm::Cluster>(const Config&, const std::string&)> make;
  // Tests set it.
  std::function<void(std::chrono::milliseconds)> sleep{};
};

// Takes a minute or two. Never throws for what is wrong with the site: that is a finding.
std::vector<slurm::Finding> examine_site(const Config& config, const Clock& clock,
                                         const DoctorOptions& options = {});

// Partitions, accounts and QOS that the configuration and its script templates name.
slurm::Examination names_used(const Config& config);

bool is_bad(const std::vector<slurm::Finding>& findings);

}  // namespace scheduler
