#include "slurm/commands/cli_doctor.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "slurm/commands/parse.h"

namespace slurm {
namespace {

using Level = Finding::Level;
using Names = std::set<std::string>;

constexpr int64_t kMostSkew = 30;
constexpr const char* kCorrectNames = "correct slurm.options or the script template";

std::string list_of(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

class Examiner {
 public:
  Examiner(CliSession& session, const Examination& what) : session_(session), what_(what) {}

  std::vector<Finding> all() {
    check_scratch();
    if (check_commands() && check_controller()) {
      check_partitions();
      check_accounting();
      check_nodes();
      check_limits();
    }
    return std::move(findings_);
  }

 private:
  void say(Level level, const std::string& subject, const std::string& says,
           const std::string& advice = "") {
    findings_.push_back({.level = level, .subject = subject, .says = says, .advice = advice});
  }

  void check_scratch();
  bool check_commands();
  bool check_controller();
  void check_clock();
  void check_partitions();
  void check_names(const std::string& kind, const Names& wanted, const Names& there,
                   const std::string& advice);
  void check_accounting();
  void check_accounting_names();
  void check_nodes();
  void check_limits();
  void check_seconds(const std::string& name, int64_t least, int64_t most,
                     const std::string& advice);

  CliSession& session_;
  const Examination& what_;
  std::map<std::string, std::string> config_;
  std::vector<Finding> findings_;
};

void Examiner::check_scratch() {
  const std::string& folder = session_.options().scratch;
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    say(Level::kBad, "scratch folder", folder + " cannot be written to",
        "sbatch gets its scripts there: see its owner and mode");
  }
}

bool Examiner::check_commands() {
  Names commands = {"sbatch", "squeue", "scancel", "scontrol", "sinfo"};
  if (session_.options().accounting != Accounting::kOff) commands.insert({"sacct", "sacctmgr"});
  std::map<std::string, Names> releases;
  bool all = true;
  for (const std::string& command : commands) {
    const CommandResult result = session_.run_at_once(command, {"--version"});
    if (result.ok()) {
      releases[release_of(result.output)].insert(command);
    } else {
      all = false;
      say(Level::kBad, command, complaint_of(result),
          "install Slurm's client commands, set slurm.commands to their folder, and SLURM_CONF "
          "where slurm.conf is in no usual place");
    }
  }
  if (!all) return false;
  const std::string where = session_.options().commands;
  if (releases.size() == 1) {
    say(Level::kGood, "commands",
        "Slurm " + releases.begin()->first + (where.empty() ? ", in PATH" : " in " + where));
    return true;
  }
  std::string says;
  for (const auto& [release, names] : releases) {
    says += (says.empty() ? "" : "; ") + list_of(names) + " of Slurm " + release;
  }
  say(Level::kWarning, "commands", says, "set slurm.commands to the folder of one release");
  return true;
}

bool Examiner::check_controller() {
  const CommandResult ping = session_.run_at_once("scontrol", {"ping"});
  // With a backup controller there is a line for each.
  if (ping.output.find("is UP") == std::string::npos) {
    say(Level::kBad, "controller", complaint_of(ping) + ": slurmctld does not answer",
        "see scontrol ping; is slurmctld up, and munged on this machine?");
    return false;
  }
  const CommandResult config = session_.run_at_once("scontrol", {"show", "config"});
  if (!config.ok()) {
    say(Level::kBad, "controller", complaint_of(config), "see scontrol show config");
    return false;
  }
  config_ = parse_config(config.output);
  say(Level::kGood, "controller",
      "Slurm " + config_["SLURM_VERSION"] + " of cluster " + config_["ClusterName"] + " answers");
  say(Level::kGood, "user", "jobs belong to " + session_.user());
  check_clock();
  return true;
}

void Examiner::check_clock() {
  const auto theirs = leading_number(config_["as of"]);
  if (!theirs) return;
  const int64_t skew = *theirs - int64_t{std::time(nullptr)};
  const std::string says = "the controller's clock is " + std::to_string(std::llabs(skew)) + " s " +
                           (skew < 0 ? "behind" : "ahead of") + " this machine's";
  const bool far = std::llabs(skew) > kMostSkew;
  say(far ? Level::kWarning : Level::kGood, "clock", says,
      far ? "see that both machines keep their time by NTP" : "");
}

void Examiner::check_names(const std::string& kind, const Names& wanted, const Names& there,
                           const std::string& advice) {
  for (const std::string& name : wanted) {
    const std::string subject = kind + " '" + name + "'";
    if (there.count(name) > 0) {
      say(Level::kGood, subject, "exists");
    } else {
      say(Level::kBad, subject, "does not exist; there are: " + list_of(there), advice);
    }
  }
}

void Examiner::check_partitions() {
  const CommandResult result =
      session_.run_at_once("scontrol", {"--oneliner", "show", "partition"});
  if (!result.ok()) {
    say(Level::kBad, "partitions", complaint_of(result), "see scontrol show partition");
    return;
  }
  Names there;
  for (const auto& [name, state] : parse_partitions_text(result.output)) {
    there.insert(name);
    if (what_.partitions.count(name) > 0 && state != "UP") {
      say(Level::kWarning, "partition '" + name + "'", "its state is " + state,
          "jobs wait there until it is up");
    }
  }
  check_names("partition", what_.partitions, there, kCorrectNames);
}

void Examiner::check_accounting() {
  if (session_.options().accounting != Accounting::kOff) {
    const CommandResult result =
        session_.run_at_once("sacct", sacct_arguments(session_.options().name_prefix + "none", 1));
    if (result.ok()) {
      say(Level::kGood, "accounting", "sacct answers");
      check_accounting_names();
      return;
    }
    const bool off = says_accounting_is_off(result.error);
    const bool must = session_.options().accounting == Accounting::kOn;
    if (!off || must) {
      say(Level::kBad, "accounting", complaint_of(result),
          off ? "set slurm.accounting to off" : "check slurmdbd, or set slurm.accounting to off");
      return;
    }
  }
  say(Level::kGood, "accounting", "not used");
  for (const auto& [kind, names] : {std::pair("account", what_.accounts), {"QOS", what_.qos}}) {
    if (names.empty()) continue;
    say(Level::kWarning, kind, "cannot be checked without accounting: " + list_of(names),
        "see the first job of each");
  }
}

void Examiner::check_accounting_names() {
  const std::string& user = session_.user();
  for (const auto& [kind, wanted, arguments] :
       {std::tuple("QOS", what_.qos, Words{"show", "qos", "format=name"}),
        {"account", what_.accounts,
         Words{"show", "associations", "user=" + user, "format=account"}}}) {
    if (wanted.empty()) continue;
    Words words = {"--noheader", "--parsable2"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const CommandResult result = session_.run_at_once("sacctmgr", words);
    if (result.ok()) {
      check_names(kind, wanted, parse_names(result.output),
                  std::string(kCorrectNames) + ", or let an administrator give it to " + user);
    } else {
      say(Level::kWarning, kind, complaint_of(result), "see sacctmgr " + arguments[1]);
    }
  }
}

void Examiner::check_nodes() {
  const CommandResult result = session_.run_at_once("sinfo", sinfo_node_arguments());
  if (!result.ok()) {
    say(Level::kBad, "nodes", complaint_of(result), "see sinfo");
    return;
  }
  const NodesText found = parse_sinfo_nodes(result.output);
  const std::string says =
      std::to_string(found.nodes) + " nodes with " + std::to_string(found.gpus) + " GPUs in all";
  const bool wanting = what_.gpus && found.gpus == 0;
  say(wanting ? Level::kBad : Level::kGood, "GPUs", says,
      wanting ? "see GresTypes, gres.conf and the Gres of the nodes" : "");
}

void Examiner::check_seconds(const std::string& name, int64_t least, int64_t most,
                             const std::string& advice) {
  const auto value = leading_number(config_[name]);
  if (!value) return;
  const bool fits = *value >= least && *value <= most;
  say(fits ? Level::kGood : Level::kWarning, name, std::to_string(*value) + " s",
      fits ? "" : advice);
}

void Examiner::check_limits() {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  constexpr int64_t kNoLimit = INT64_MAX;
  const int64_t polls = duration_cast<seconds>(3 * session_.options().poll).count();
  check_seconds("MinJobAge", polls, kNoLimit,
                "an end may be missed between two polls: raise it to " + std::to_string(polls) +
                    " s at least, or lower slurm.poll");
  const int64_t timeout = duration_cast<seconds>(session_.options().timeout).count();
  check_seconds("MessageTimeout", 0, timeout - 1,
                "slurm.timeout (" + std::to_string(timeout) +
                    " s) must be longer, or answers that still come are not waited for");
  if (config_["EnforcePartLimits"] == "NO") {
    say(Level::kGood, "EnforcePartLimits",
        "NO: a job beyond its partition's limits is accepted and waits for ever; margay show says "
        "so");
  }
  if (config_.count("MaxArraySize") > 0) {
    say(Level::kGood, "MaxArraySize", config_["MaxArraySize"] + " (no array is used)");
  }
}

}  // namespace

std::vector<Finding> examine_cli(CliSession& session, const Examination& what) {
  return Examiner(session, what).all();
}

}  // namespace slurm
