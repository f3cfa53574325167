#include "slurm/commands/cli_doctor.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string>

#include "slurm/commands/cli_inquiry.h"
#include "slurm/commands/parse.h"
#include "slurm/site_facts.h"

namespace slurm {
namespace {

constexpr int64_t kNoLimit = INT64_MAX;

void check_scratch(const std::string& folder, Findings& findings) {
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  findings.bad("scratch folder", folder + " cannot be written to",
               "sbatch reads its scripts there: correct its owner and mode");
}

// Runs each command, and says of which release of Slurm they are. False: one that the daemon needs
// does not run; sacctmgr is the doctor's alone.
bool check_commands(CliSession& session, Findings& findings) {
  Names commands = {"sbatch", "squeue", "scancel", "scontrol", "sinfo"};
  if (session.options().accounting != Accounting::kOff) commands.insert({"sacct", "sacctmgr"});
  std::map<std::string, Names> releases;
  bool all = true;
  for (const std::string& command : commands) {
    const CommandResult result = session.run_at_once(command, {"--version"});
    if (result.ok()) {
      releases[release_of(result.output)].insert(command);
    } else {
      const bool needed = command != "sacctmgr";
      all = all && !needed;
      findings.judge(false, needed ? Finding::Level::kBad : Finding::Level::kWarning, command,
                     complaint_of(result),
                     "install Slurm's client commands, set slurm.commands to their folder, and "
                     "SLURM_CONF where slurm.conf is in no usual place");
    }
  }
  if (!all) return false;
  const std::string where = session.options().commands;
  if (releases.size() == 1) {
    findings.good("commands", "Slurm " + releases.begin()->first +
                                  (where.empty() ? ", in PATH" : " in " + where));
    return true;
  }
  std::string says;
  for (const auto& [release, names] : releases) {
    says += (says.empty() ? "" : "; ") + list_of(names) + " of Slurm " + release;
  }
  findings.warn("commands", says, "set slurm.commands to the folder of one release");
  return true;
}

// slurm.conf as the controller has it. nullopt: there is no controller to ask.
std::optional<Settings> check_controller(CliSession& session, Findings& findings) {
  const CommandResult ping = session.run_at_once("scontrol", {"ping"});
  // With a backup controller there is a line for each.
  if (ping.output.find("is UP") == std::string::npos) {
    findings.bad("controller", complaint_of(ping) + ": slurmctld does not answer",
                 "run scontrol ping; is slurmctld up, and munged on this machine?");
    return std::nullopt;
  }
  const CommandResult result = session.run_at_once("scontrol", {"show", "config"});
  if (!result.ok()) {
    findings.bad("controller", complaint_of(result), "run scontrol show config");
    return std::nullopt;
  }
  Settings config = parse_config(result.output);
  findings.good("controller", "Slurm " + config["SLURM_VERSION"] + " of cluster " +
                                  config["ClusterName"] + " answers");
  findings.good("user", "jobs belong to " + session.user());
  return config;
}

SiteFacts facts_of(CliSession& session, const Settings& config) {
  SiteFacts facts{.user = session.user(), .now = int64_t{std::time(nullptr)}};
  facts.controller_time = {.value = leading_number(setting_of(config, "as of")),
                           .problem = "scontrol show config has none"};
  CliInquiry inquiry(session, CliInquiry::Budget::kBeyond);
  facts.partitions = inquiry.partitions();
  inquiry.ask_accounting(config, facts);
  facts.nodes = inquiry.nodes();
  return facts;
}

void check_seconds(const std::string& name, const std::string& text, int64_t least, int64_t most,
                   const std::string& advice, Findings& findings) {
  const auto value = leading_number(text);
  if (!value) return;
  findings.judge(*value >= least && *value <= most, Finding::Level::kWarning, name,
                 std::to_string(*value) + " s", advice);
}

void check_limits(const CliClusterOptions& options, const Examination& what, Settings config,
                  Findings& findings) {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  const auto poll = what.poll.count() > 0 ? what.poll : options.poll;
  const int64_t polls = duration_cast<seconds>(3 * poll).count();
  check_seconds("MinJobAge", config["MinJobAge"], polls, kNoLimit,
                "an end may be missed between two polls: raise it to " + std::to_string(polls) +
                    " s at least, or lower slurm.poll",
                findings);
  const int64_t timeout = duration_cast<seconds>(options.timeout).count();
  check_seconds("MessageTimeout", config["MessageTimeout"], 0, timeout - 1,
                "raise slurm.timeout (" + std::to_string(timeout) +
                    " s) above it, or Margay gives up on answers that still come",
                findings);
  if (config["EnforcePartLimits"] == "NO") {
    findings.good("EnforcePartLimits",
                  "NO: Slurm accepts a job beyond its partition's limits and never starts it; "
                  "margay show says so");
  }
  if (config.count("MaxArraySize") > 0) {
    findings.good("MaxArraySize", config["MaxArraySize"] + " (no array is used)");
  }
}

}  // namespace

std::vector<Finding> examine_cli(CliSession& session, const Examination& what) {
  Findings findings;
  check_scratch(session.options().scratch, findings);
  if (!check_commands(session, findings)) return findings.all();
  const std::optional<Settings> config = check_controller(session, findings);
  if (!config) return findings.all();
  judge_site(facts_of(session, *config), what, findings);
  check_limits(session.options(), what, *config, findings);
  return findings.all();
}

}  // namespace slurm
