// The kinds of cluster, and what differs between them. To add one:
// - its enumerator and its facts here, its word in config_reader.cpp;
// - its section of the configuration: a struct in config.h, a file like slurm_section.cpp, its line
//   in complete_config;
// - its code, an implementation of slurm/cluster.h in a room below slurm/, with its lines in
//   slurm/CMakeLists.txt and tests/unit/layering.cpp, run by cluster_contract_test;
// - a case in each switch over the kind, for which the compiler asks (-Wswitch): the cluster object
//   (make_cluster), the script, the limits;
// - what does not switch: check_script_templates and job_environment (job_script.cpp), and the
//   sentences that say Slurm or this machine (plan_text.cpp, transition.cpp, policy_section.cpp,
//   commands/enqueue.cpp, commands/commands.cpp, item_options.cpp);
// - what takes `takes_options` for Slurm, and its absence for this machine: site_size.cpp,
//   local_gpus.cpp, probe_job.cpp, doctor.cpp, process/site.cpp, commands/read_snapshot.cpp; and
//   class_widths.cpp, which chooses widths for Slurm alone;
// - its page in docs/, its keys in docs/daemon.md and packaging/margayd.yaml, and init.cpp.
// A job finds its own id in SLURM_JOB_ID or MARGAY_JOB_ID: another batch system's script sets one.
#pragma once

#include <chrono>

namespace scheduler {

enum class ClusterKind {
  kLocal,  // this machine alone
  kSlurm,
};

struct ClusterFacts {
  // How long after an unanswered submission its job is looked up by name.
  std::chrono::seconds resolve{};
  // Jobs ask for what they need by sbatch's options, and items may have such options: config.slurm
  // and the templates *.sbatch apply.
  bool takes_options = false;
  // Jobs run on other machines: a shared file system may show their files late, and nothing of the
  // daemon's own environment fits there.
  bool is_remote = false;
};

constexpr ClusterFacts facts_of(ClusterKind kind) {
  using std::chrono::seconds;
  switch (kind) {
    case ClusterKind::kLocal:
      return {.resolve = seconds(5)};
    case ClusterKind::kSlurm:
      // A hanging controller may create the job as late as this.
      return {.resolve = seconds(30), .takes_options = true, .is_remote = true};
  }
  return {};
}

}  // namespace scheduler
