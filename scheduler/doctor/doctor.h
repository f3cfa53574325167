// Checks a site for faults before a search meets them: programs, templates, folders, the cluster,
// and a probe job that reports what a job sees.
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
  std::string instance{};                     // the database's instance; empty: no daemon runs
  bool makes_socket_folder = false;           // margayd does, where it is given no configuration
  std::chrono::milliseconds timeout{60'000};  // limit for the probe job
  std::chrono::milliseconds poll{1000};       // time between two looks at it
  // Makes a separate cluster object for the doctor, as make_cluster().
  std::function<std::unique_ptr<slurm::Cluster>(const Config&, const std::string&)> make;
  // Only tests set it.
  std::function<void(std::chrono::milliseconds)> sleep{};
};

// May take a minute or two. Faults of the site are findings and are never thrown.
std::vector<slurm::Finding> examine_site(const Config& config, const Clock& clock,
                                         const DoctorOptions& options = {});

// The names that the configuration and its script templates use in Slurm. Throws ConfigError or
// slurm::DirectiveError when a template cannot be used.
slurm::Examination names_used(const Config& config);

bool is_bad(const std::vector<slurm::Finding>& findings);

}  // namespace scheduler
