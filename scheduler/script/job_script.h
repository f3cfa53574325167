// The script of one attempt, from the site's template, its configuration, the item's own options
// and what the last failures taught.
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
  std::optional<JobShape> shape{};  // none: the configuration's
  std::string batch{};              // of correlations, empty: the engine's choice
  int threads = 1;                  // of a local job
  std::set<std::string> excluded_hosts{};
  double time_factor = 1;    // of the time limit, after jobs that ran into it
  double memory_factor = 1;  // of the memory, after jobs that needed more
  int64_t segment = 0;       // seconds after which it stops with a checkpoint; 0: it runs whole
  int64_t limit = 0;         // seconds that the model gives it; 0: its options say
  int64_t longest = 0;       // seconds that such a job may ask for; 0: not limited
};

struct JobScript {
  std::string text{};
  int gpus = 0;                // of the whole job
  int nodes = 1;               // at most
  bool wide = false;           // several nodes: submitted held, released when its id is stored
  slurm::Directives raised{};  // what it asks for more of than its options do: time, memory
  // Seconds until its checkpoint; 0: it runs whole, since nothing warns it, or a shorter time or
  // one of the item's own options holds.
  int64_t segment = 0;
};

// Throws ScriptError or slurm::DirectiveError.
JobScript render_job(const Config& config, const ScriptInputs& inputs);

// What a job of this shape asks of the cluster: the shape, the script template, the configuration
// and the item's own options, each over the ones before. Throws as render_job().
slurm::Directives directives_of(const Config& config, const JobShape& shape,
                                const std::map<std::string, std::string>& item_options);
slurm::Directives directives_of(const Config& config, Shape shape,
                                const std::map<std::string, std::string>& item_options);

// Small JSON for the administrator, at most 1024 bytes: Slurm refuses more.
std::string job_comment(const std::string& instance, const db::Item& item,
                        const db::Attempt& attempt);

// What the script finds in its environment besides the cluster's own variables.
std::map<std::string, std::string> job_environment(const Config& config);

// The program that job scripts run the engine by must be there. Throws ConfigError saying where it
// was looked for.
void check_job_program(const Config& config);

// Every script template that the configuration can choose, tried at start: read, its #SBATCH lines
// understood and without contradiction to the configuration. Throws ConfigError.
void check_script_templates(const Config& config);

}  // namespace scheduler
