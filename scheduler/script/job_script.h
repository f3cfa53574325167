// The script of one attempt, from the site's template, its configuration, the item's own options
// and what follows from the last failures.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "db/records.h"
#include "scheduler/config/config.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {

struct ScriptInputs {
  db::Item item{};
  db::Attempt attempt{};            // number, token, directory, resume_from
  std::optional<JobShape> shape{};  // unset: the configuration's
  std::string batch{};              // correlations per batch; empty: the engine's choice
  int threads = 1;                  // CPU threads of a local job
  std::set<std::string> excluded_hosts{};
  double time_factor = 1;    // raises the time limit after jobs that ran into it
  double memory_factor = 1;  // raises the memory after jobs that needed more
  int64_t segment = 0;  // seconds after which it stops with a checkpoint; 0: it runs to its end
  int64_t limit = 0;    // time limit by the model, seconds; 0: its options decide
  int64_t longest = 0;  // longest time limit of such a job, seconds; 0: not limited
};

struct JobScript {
  std::string text{};
  int gpus = 0;       // of the whole job
  int nodes = 1;      // at most
  bool wide = false;  // several nodes: submitted held, released when its id is stored
  // Options whose values are higher than the item's and site's: time, memory.
  slurm::Directives raised{};
  // Seconds until its checkpoint; 0: it runs to its end, since it gets no warning, or a shorter
  // time or one of the item's own options applies.
  int64_t segment = 0;
};

// Throws ScriptError or slurm::DirectiveError.
JobScript render_job(const Config& config, const ScriptInputs& inputs);

// What a job of this shape asks of the cluster: the shape, the script template, the configuration
// and the item's own options, each overriding the ones before. Throws as render_job().
slurm::Directives directives_of(const Config& config, const JobShape& shape,
                                const std::map<std::string, std::string>& item_options);
slurm::Directives directives_of(const Config& config, Shape shape,
                                const std::map<std::string, std::string>& item_options);

// Small JSON for the administrator, at most 1024 bytes, since Slurm refuses more.
std::string job_comment(const std::string& instance, const db::Item& item,
                        const db::Attempt& attempt);

// The script's environment in addition to the cluster's own variables.
std::map<std::string, std::string> job_environment(const Config& config);

// Checks that the program by which job scripts run the engine exists. Throws ConfigError saying
// where it was looked for.
void check_job_program(const Config& config);

// Checks at start every script template that the configuration can choose: it can be read, its
// #SBATCH lines are valid and do not contradict the configuration. Throws ConfigError.
void check_script_templates(const Config& config);

}  // namespace scheduler
