// The arguments and the output of Slurm's commands: pure text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/run_command.h"
#include "slurm/cluster.h"
#include "slurm/queued_job.h"
#include "slurm/site_facts.h"
#include "slurm/slurm_cluster.h"

namespace slurm {

using base::CommandResult;
using Words = std::vector<std::string>;

// --- squeue, sacct: SLURM_TIME_FORMAT=%s must be in their environment ---------------------------

Words squeue_arguments();
struct QueueText {
  std::vector<JobStatus> jobs{};
  std::string problem{};  // why it may be incomplete; empty: it is whole
};
// Jobs whose name begins with `name_prefix`; lines of other jobs are not parsed.
QueueText parse_squeue(std::string_view text, const std::string& name_prefix);

// For the running and waiting jobs of all users.
Words squeue_arguments_of_everybody();
struct EverybodyText {
  std::vector<QueuedJob> jobs{};
  std::string problem{};  // why it may be incomplete; empty: it is whole
};
// Another user's job that cannot be read is left out.
EverybodyText parse_squeue_of_everybody(std::string_view text, const std::string& name_prefix);

Words sacct_arguments(const std::string& name, int days);
// One entry for each job id: its last run. nullopt: a line cannot be read.
std::optional<std::vector<JobStatus>> parse_sacct(std::string_view text, const std::string& name);
bool says_accounting_is_off(const std::string& error);
bool says_too_many_days(const std::string& error);

// --- sbatch
// ---------------------------------------------------------------------------------------

// All arguments but the script's path. The job gets sbatch's own environment. `chdir` is empty when
// the script sets the folder.
Words sbatch_arguments(const JobRequest& request, const std::string& chdir);
SubmitResult classify_sbatch(const CommandResult& result);

// --- the others
// -----------------------------------------------------------------------------------

CancelAnswer classify_scancel(const CommandResult& result);

// The command's error text in one line, without "squeue: error: "; if it has none, how the command
// failed.
std::string complaint_of(const CommandResult& result);
// stdout and stderr, without "sbatch: " at the start of lines.
std::string words_of(const CommandResult& result);

// Each node with its state and what of it is busy, one line for each of its partitions.
Words sinfo_node_arguments();
NodeTotals parse_sinfo_nodes(std::string_view text);

// "slurm-wlm 22.05.8" -> "22.05.8".
std::string release_of(const std::string& version_text);
// `scontrol show config`: name -> value as printed; "as of" -> the time of the listing.
std::map<std::string, std::string> parse_config(std::string_view text);
// "30 sec" -> 30.
std::optional<int64_t> leading_number(const std::string& value);
// `scontrol -o show partition`: partitions by name.
std::map<std::string, PartitionFacts> parse_partitions_text(std::string_view text);

// --- sacctmgr: QOS and associations -------------------------------------------------------------

Words qos_arguments();
QosByName parse_qos_text(std::string_view text);
Words default_account_arguments(const std::string& user);
// With an empty `cluster`: associations of all clusters.
Words association_arguments(const std::string& cluster);
// The associations of `user` and of accounts.
AssociationFacts parse_associations_text(std::string_view text, const std::string& user);

}  // namespace slurm
