#include "slurm/commands/cli_session.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/environment.h"

namespace slurm {
namespace {

// With fewer requests a minute, one kept for the listing would leave none for the rest.
constexpr int kLeastForReserve = 12;

std::string name_of(uid_t uid) {
  const passwd* entry = ::getpwuid(uid);
  return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

// The few settings that are passed on from the daemon's own: SBATCH_* and the like would change
// what a job asks for, and a token must not reach a job.
std::map<std::string, std::string> own_settings() {
  std::map<std::string, std::string> settings;
  for (const char* name : {"PATH", "HOME", "USER", "LOGNAME", "SLURM_CONF"}) {
    const std::string value = base::variable(name);
    if (!value.empty()) settings[name] = value;
  }
  settings.insert({"PATH", "/usr/local/bin:/usr/bin:/bin"});
  return settings;
}

// For commands whose output is parsed: times in seconds, messages in English.
std::map<std::string, std::string> readable_settings() {
  std::map<std::string, std::string> settings = own_settings();
  settings["LC_ALL"] = "C";
  settings["SLURM_TIME_FORMAT"] = "%s";
  return settings;
}

}  // namespace

CliSession::CliSession(CliClusterOptions options)
    : options_(std::move(options)),
      budget_(options_.requests_per_minute, options_.steady_ms()),
      reserve_(options_.requests_per_minute < kLeastForReserve ? 0 : 1),
      user_(name_of(::geteuid())) {}

int CliSession::allowance() { return std::max(0, budget_.left(steady_ms()) - reserve_); }

std::optional<CommandResult> CliSession::run(const std::string& command, const Words& arguments,
                                             Purpose purpose) {
  if (purpose == Purpose::kOther && allowance() < 1) return std::nullopt;
  if (!budget_.take(steady_ms())) return std::nullopt;
  return start(command, arguments, readable_settings());
}

CommandResult CliSession::run_at_once(const std::string& command, const Words& arguments) {
  budget_.take(steady_ms());
  return start(command, arguments, readable_settings());
}

std::optional<CommandResult> CliSession::run_in(const Environment& environment,
                                                const std::string& command,
                                                const Words& arguments) {
  if (allowance() < 1 || !budget_.take(steady_ms())) return std::nullopt;
  Environment all = environment;
  all.merge(own_settings());
  return start(command, arguments, all);
}

CommandResult CliSession::start(const std::string& command, const Words& arguments,
                                const Environment& environment) const {
  return base::run_command(
      {.program = options_.commands.empty() ? command : options_.commands + "/" + command,
       .arguments = arguments,
       .environment = environment,
       .timeout = options_.timeout});
}

}  // namespace slurm
