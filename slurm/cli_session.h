// Slurm's commands with their settings: where they are, their environment, how many a minute.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "slurm/cli_cluster.h"
#include "slurm/cli_text.h"
#include "slurm/request_budget.h"
#include "slurm/run_command.h"

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
  int allowance();

  // Who runs this.
  const std::string& user() const { return user_; }
  // What a job finds beside what its request says.
  std::map<std::string, std::string> job_environment() const;
  const CliClusterOptions& options() const { return options_; }
  int64_t steady_ms() const { return options_.steady_ms(); }

 private:
  CommandResult start(const std::string& command, const Words& arguments) const;

  CliClusterOptions options_;
  RequestBudget budget_;
  int reserve_;
  std::string user_;
};

}  // namespace slurm
