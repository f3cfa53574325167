#include "tests/integration/slurm/slurm_queue.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tests {
namespace {

namespace fs = std::filesystem;

// The version of slurmrestd's interface, where not the newest is meant.
std::string api_version() {
  const char* version = std::getenv("MARGAY_SLURM_API");
  return version ? version : "";
}

}  // namespace

std::string plain_options(const std::string& others) {
  const bool newer = std::getenv("MARGAY_SLURM_ROOT") != nullptr;
  const std::string all =
      std::string(newer ? "partition: main" : "") + (newer && !others.empty() ? ", " : "") + others;
  return all.empty() ? "" : "  options: {" + all + "}\n";
}

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
  // Widths are those of the shapes, unless a test says otherwise.
  const bool own_policy = options.slurm.find("\npolicy:") != std::string::npos;
  return text + "  timeout: " + options.timeout +
         "\n  poll: 200ms\n  requests_per_minute: 100000\n" + options.slurm +
         "intervals: {resolve: " + options.resolve + ", vanish_pending: " + options.vanish +
         ", vanish_running: " + options.vanish + ", retry: 200ms, retry_longest: 1s}\n" +
         (own_policy ? "" : "policy: {widths: fixed}\n");
}

std::string program_for_jobs(const std::string& program, const std::string& folder) {
  fs::create_directory(folder);
  const std::string copy = folder + "/" + fs::path(program).filename().string();
  fs::copy_file(program, copy);
  if (std::getenv("MARGAY_SLURM_ROOT") == nullptr) return copy;
  std::istringstream words(run_program({"/usr/bin/ldd", copy}, "/").output);
  std::string loader;
  for (std::string word; words >> word;) {
    if (!word.starts_with("/")) continue;
    const std::string library = folder + "/" + fs::path(word).filename().string();
    fs::copy_file(word, library, fs::copy_options::skip_existing);
    if (library.find("/ld-linux") != std::string::npos) loader = library;
  }
  const std::string script = folder + "/program";
  std::ofstream(script) << "#!/bin/bash\nexec " << loader << " --library-path " << folder << " "
                        << copy << " \"$@\"\n";
  fs::permissions(script, fs::perms(0755));
  return script;
}

SlurmQueue::SlurmQueue(const SlurmBed& bed, const SiteOptions& options)
    : QueueAtWork(QueueOptions{
          .site = site_lines(bed, options), .user = bed.user(), .environment = bed.environment()}),
      bed_(bed) {
  if (std::getenv("MARGAY_SLURM_ROOT") == nullptr || bed.user().empty()) return;
  const std::string job = folder() / "bin/margay-job";
  const std::string for_jobs = program_for_jobs(job, folder() / "job");
  fs::remove(job);
  fs::copy_file(for_jobs, job);
}

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
