// The script of one attempt, from the site's template, its configuration, the item's own options
// and what the last failures taught.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/config.h"

namespace scheduler {

struct ScriptInputs {
  db::Item item{};
  db::Attempt attempt{};  // number, token, directory, resume_from, shape
  std::string batch{};    // of correlations, empty: the engine's choice
  int threads = 1;        // of a local job
  std::set<std::string> excluded_hosts{};
  double time_factor = 1;  // of the time limit, after jobs that ran into it
};

struct JobScript {
  std::string text{};
  int gpus = 0;       // of the whole job
  bool wide = false;  // several nodes: submitted held, released when its id is stored
};

// Throws ScriptError or slurm::DirectiveError.
JobScript render_job(const Config& config, const ScriptInputs& inputs);

// Every script template that the configuration can choose, tried at start: read, its #SBATCH lines
// understood and without contradiction to the configuration. Throws ConfigError.
void check_script_templates(const Config& config);

}  // namespace scheduler
