#include "tests/integration/slurm/slurm_queue.h"

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace tests {
namespace {

// The version of slurmrestd's interface, where not the newest is meant.
std::string api_version() {
  const char* version = std::getenv("MARGAY_SLURM_API");
  return version ? version : "";
}

}  // namespace

std::string site_lines(const SlurmBed& bed, const SiteOptions& options) {
  std::string text = "cluster: slurm\ntick: 50ms\nslurm:\n";
  if (options.cli) {
    text += "  transport: cli\n";
  } else {
    text += "  url: '" + (options.url.empty() ? bed.socket() : options.url) + "'\n";
    text +=
        "  token_file: " + (options.token_file.empty() ? bed.token_file() : options.token_file) +
        "\n";
    if (!api_version().empty()) text += "  api_version: " + api_version() + "\n";
  }
  return text + "  timeout: " + options.timeout +
         "\n  poll: 200ms\n  requests_per_minute: 100000\n" + options.slurm +
         "intervals: {resolve: " + options.resolve + ", vanish_pending: " + options.vanish +
         ", vanish_running: " + options.vanish + ", retry: 200ms, retry_longest: 1s}\n";
}

SlurmQueue::SlurmQueue(const SlurmBed& bed, const SiteOptions& options)
    : QueueAtWork(QueueOptions{
          .site = site_lines(bed, options), .user = bed.user(), .environment = bed.environment()}),
      bed_(bed) {}

SlurmQueue::~SlurmQueue() {
  if (daemon_runs()) kill_daemon(SIGKILL);
  bed_.run({"scancel", "--user=" + bed_.user()});
}

bool SlurmQueue::comes_to(int number, const std::string& attempt_state) const {
  return becomes_true([&] { return this->attempt_state(number) == attempt_state; });
}

bool SlurmQueue::waits_for(int number, const std::string& reason) const {
  return becomes_true([&] { return reason_of(number).starts_with(reason); });
}

int SlurmQueue::enqueue(const std::vector<std::string>& options) {
  const int number = ++micrographs_;
  std::vector<std::string> command =
      enqueue_command(make_micrograph(std::to_string(number) + ".mrc"));
  command.insert(command.end(), options.begin(), options.end());
  margay_until_done(command);
  return number;
}

nlohmann::json SlurmQueue::item(int number) const {
  const Finished shown = margay({"show", std::to_string(number), "--json"});
  if (shown.exit_code != 0) throw std::runtime_error("margay show: " + shown.error);
  return nlohmann::json::parse(shown.output).at("item");
}

nlohmann::json SlurmQueue::attempt(int number) const {
  const nlohmann::json shown = item(number);
  const nlohmann::json& attempts = shown.at("attempts");
  return attempts.empty() ? nlohmann::json() : attempts.back();
}

std::string SlurmQueue::attempt_state(int number) const {
  const nlohmann::json newest = attempt(number);
  return newest.is_null() ? "" : newest.at("state").get<std::string>();
}

std::string SlurmQueue::job_of(int number) const {
  const nlohmann::json newest = attempt(number);
  return newest.is_null() ? "" : newest.at("job_id").get<std::string>();
}

std::string SlurmQueue::reason_of(int number) const {
  const nlohmann::json newest = attempt(number);
  return newest.is_null() ? "" : newest.value("cluster_reason", "");
}

std::string SlurmQueue::shown(int number) const {
  return margay({"show", std::to_string(number)}).output;
}

}  // namespace tests
