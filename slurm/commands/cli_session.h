// Slurm's commands with their settings: where they are, their environment, how many a minute.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "slurm/cluster_options.h"
#include "slurm/commands/parse.h"
#include "slurm/commands/run_command.h"
#include "slurm/rate_limit.h"

namespace slurm {

class CliSession {
 public:
  enum class Purpose { kListing, kOther };  // kListing may use the last request of the budget

  explicit CliSession(CliClusterOptions options);

  // nullopt: the minute's requests are used up, and nothing was run.
  std::optional<CommandResult> run(const std::string& command, const Words& arguments,
                                   Purpose purpose = Purpose::kOther);
  // For a person who waits: whatever the budget says.
  CommandResult run_at_once(const std::string& command, const Words& arguments);
  // For sbatch: the environment of the job that is to be, and what it needs itself.
  using Environment = std::map<std::string, std::string>;
  std::optional<CommandResult> run_in(const Environment& environment, const std::string& command,
                                      const Words& arguments);
  int allowance();

  // Who runs this.
  const std::string& user() const { return user_; }
  const CliClusterOptions& options() const { return options_; }
  int64_t steady_ms() const { return options_.steady_ms(); }

 private:
  CommandResult start(const std::string& command, const Words& arguments,
                      const Environment& environment) const;

  CliClusterOptions options_;
  RequestBudget budget_;
  int reserve_;
  std::string user_;
};

}  // namespace slurm
