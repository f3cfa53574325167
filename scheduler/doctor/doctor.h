// Checks a site before a search runs into its faults: programs, templates, folders, the cluster,
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
  std::string instance{};                     // of the database; empty: no daemon runs
  std::chrono::milliseconds timeout{60'000};  // of the probe job
  std::chrono::milliseconds poll{1000};       // between two looks at it
  // Makes a cluster object for the doctor alone, as make_cluster does.
  std::function<std::unique_ptr<slurm::Cluster>(const Config&, const std::string&)> make;
  // Tests set it.
  std::function<void(std::chrono::milliseconds)> sleep{};
};

// May take a minute or two. What is wrong with the site is a finding and never thrown.
std::vector<slurm::Finding> examine_site(const Config& config, const Clock& clock,
                                         const DoctorOptions& options = {});

// What the configuration and its script templates ask of Slurm. Throws ConfigError or
// slurm::DirectiveError when a template cannot be used.
slurm::Examination names_used(const Config& config);

bool is_bad(const std::vector<slurm::Finding>& findings);

}  // namespace scheduler
