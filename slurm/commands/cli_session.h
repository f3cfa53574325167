// Runs Slurm's commands: from the site's folder, in a known environment, at most
// requests_per_minute of them a minute. Used by one thread; each call blocks for the time-out of a
// command at most. Throws std::system_error when the machine has no process or pipe left.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/run_command.h"
#include "slurm/cluster_options.h"
#include "slurm/commands/parse.h"
#include "slurm/rate_limit.h"

namespace slurm {

inline constexpr const char* kNoBudget =
    "the requests of this minute are used up (requests_per_minute)";

class CliSession {
 public:
  enum class Purpose { kListing, kOther };  // kListing may use the last request of the budget

  explicit CliSession(CliClusterOptions options);

  // nullopt: the minute's requests are used up, and nothing was run.
  std::optional<CommandResult> run(const std::string& command, const Words& arguments,
                                   Purpose purpose = Purpose::kOther);
  // As run(), even beyond the budget: a person waits for the answer.
  CommandResult run_at_once(const std::string& command, const Words& arguments);
  // As run(), in the environment of the future job plus what sbatch itself needs.
  using Environment = std::map<std::string, std::string>;
  std::optional<CommandResult> run_in(const Environment& environment, const std::string& command,
                                      const Words& arguments);
  int allowance();

  // The user who runs this program.
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
