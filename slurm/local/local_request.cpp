#include "slurm/local/local_request.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

#include "base/environment.h"
#include "base/parse_number.h"
#include "base/text.h"
#include "slurm/sbatch/directives.h"
#include "slurm/sbatch/values.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 200;

// Nothing of the daemon's own environment reaches a job but these.
std::map<std::string, std::string> environment_of(const JobRequest& request) {
  std::map<std::string, std::string> environment = request.environment;
  environment.insert({{"PATH", base::variable("PATH", "/usr/local/bin:/usr/bin:/bin")},
                      {"HOME", base::variable("HOME", "/")},
                      {"LANG", base::variable("LANG", "C.UTF-8")}});
  environment["MARGAY_JOB_ID"] = request.name;
  environment["MARGAY_JOB_NAME"] = request.name;
  return environment;
}

int signal_number(const std::string& name) {
  const std::map<std::string, int> known = {{"HUP", SIGHUP},   {"INT", SIGINT},
                                            {"TERM", SIGTERM}, {"USR1", SIGUSR1},
                                            {"USR2", SIGUSR2}, {"CONT", SIGCONT}};
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  if (const auto number = base::parse_number<int>(name); number && *number > 0) return *number;
  throw DirectiveError("the job's script: --signal=" + name +
                       " is a signal that the local cluster does not send: use USR1");
}

constexpr const char* kScript = "the job's script";

Resources wanted_by(const std::string& script, Directives& asks) {
  asks = parse_directives(script, kScript);
  return resources_of(asks, kScript);
}

// What the #SBATCH lines of the script ask for. Throws DirectiveError.
void add_asks(const std::string& script, LocalRequest& request) {
  Directives asks;
  const Resources wanted = wanted_by(script, asks);
  request.gpus = gpus_of(wanted);
  const auto limit = asks.find("time");
  if (limit == asks.end()) return;
  request.limit_ms = std::max<int64_t>(0, parse_time(limit->second).value_or(0)) * 1000;
  if (wanted.signal_name.empty()) return;
  request.stop_signal = signal_number(wanted.signal_name);
  request.stop_before_ms = int64_t{wanted.signal_delay.value_or(0)} * 1000;
}

}  // namespace

bool is_job_name(const std::string& name) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), allowed);
}

std::optional<std::string> reason_to_refuse(const JobRequest& request, const fs::path& helper) {
  if (!is_job_name(request.name)) {
    return "the job's name \"" + request.name +
           "\" must be 1 to 200 letters, digits, '-', '_' or '.', and not begin with '.'";
  }
  if (!fs::is_directory(request.directory)) {
    return "the job's working folder " + request.directory + " is not there";
  }
  if (access(helper.c_str(), X_OK) != 0) {
    return "cannot run " + helper.string() + ": " + std::strerror(errno) +
           "; the local cluster needs margay-job, beside margay-engine or where 'job' in the "
           "configuration says";
  }
  return std::nullopt;
}

std::optional<std::string> gpus_beyond(const JobRequest& request, int gpus) {
  Directives asks;
  const int wanted = gpus_of(wanted_by(request.script, asks));
  if (wanted <= gpus) return std::nullopt;
  return "the job asks for " + base::counted(wanted, "GPU") + ", and this machine has " +
         (gpus == 0 ? "none that margayd found" : std::to_string(gpus)) +
         "; `margay doctor` lists them";
}

LocalRequest local_request_of(const JobRequest& request, int64_t submitted_ns,
                              std::chrono::milliseconds kill_wait) {
  LocalRequest record{.name = request.name,
                      .directory = request.directory,
                      .output_path = request.output_path,
                      .environment = environment_of(request),
                      .submitted_ns = submitted_ns,
                      .kill_wait_ms = kill_wait.count()};
  add_asks(request.script, record);
  return record;
}

}  // namespace slurm
