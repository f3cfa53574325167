#include "tests/integration/slurm/testbed.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTestbed = MARGAY_SOURCE_DIR "/tests/integration/slurm/testbed";

// Another Debian's Slurm, unpacked there.
std::string other_root() {
  const char* root = std::getenv("MARGAY_SLURM_ROOT");
  return root ? root : "";
}

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// Lines "export NAME='value'".
std::map<std::string, std::string> exported(const std::string& text) {
  std::map<std::string, std::string> facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t name = line.find(' ') + 1;
    const size_t value = line.find("='");
    if (value == std::string::npos || line.size() < value + 3) continue;
    facts[line.substr(name, value - name)] = line.substr(value + 2, line.size() - value - 3);
  }
  return facts;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> start_command(const BedOptions& options) {
  std::vector<std::string> command{"start",
                                   "--nodes",
                                   std::to_string(options.nodes),
                                   "--gpus",
                                   std::to_string(options.gpus),
                                   "--min-job-age",
                                   std::to_string(options.min_job_age),
                                   "--slurmd-timeout",
                                   std::to_string(options.slurmd_timeout),
                                   "--rest",
                                   options.rest,
                                   "--owner",
                                   std::to_string(getpid())};
  if (!options.accounting) command.emplace_back("--no-accounting");
  if (options.memory_limits) command.emplace_back("--memory-limits");
  if (options.host_names) command.emplace_back("--host-names");
  for (const std::string& line : options.conf) {
    command.emplace_back("--conf");
    command.push_back(line);
  }
  return command;
}

std::string word_of(Fault fault) {
  switch (fault) {
    case Fault::kStart:
      return "start";
    case Fault::kStartClean:
      return "start-clean";
    case Fault::kStop:
      return "stop";
    case Fault::kKill:
      return "kill";
    case Fault::kHang:
      return "hang";
    case Fault::kUnhang:
      return "unhang";
  }
  return "";
}

std::string word_of(Service service) {
  switch (service) {
    case Service::kRest:
      return "rest";
    case Service::kController:
      return "ctld";
    case Service::kAccounting:
      return "dbd";
  }
  return "";
}

}  // namespace

std::string SlurmBed::missing() {
  const std::string root = other_root();
  for (const char* program : {"sbin/munged", "sbin/slurmctld", "sbin/slurmd", "sbin/slurmrestd",
                              "sbin/slurmdbd", "sbin/mariadbd", "bin/sbatch"}) {
    if (!fs::exists(root + "/usr/" + program)) {
      return "there is no " + root + "/usr/" + program + "; tools/deps --slurm installs it";
    }
  }
  return "";
}

bool SlurmBed::can_limit_memory() {
  std::error_code ignored;
  return geteuid() == 0 && fs::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes", ignored) &&
         access("/sys/fs/cgroup/memory", W_OK) == 0;
}

bool SlurmBed::can_name_hosts() {
  return geteuid() == 0 &&
         run_program({"/usr/bin/unshare", "--mount", "/bin/true"}, "/").exit_code == 0;
}

SlurmBed::SlurmBed(const BedOptions& options) {
  folder_ = trimmed(testbed_output(start_command(options)));
  facts_ = exported(testbed_output({"env"}));
  users_ = words_of(facts_.at("MARGAY_BED_USERS"));
  rotate_token();
}

SlurmBed::~SlurmBed() { stop(); }

void SlurmBed::stop() {
  if (folder_.empty()) return;
  testbed({"stop"});
  folder_.clear();
}

std::optional<std::string> SlurmBed::other_user() const {
  if (users_.size() < 2) return std::nullopt;
  return users_[1];
}

std::vector<std::string> SlurmBed::environment() const {
  return {"SLURM_CONF=" + facts_.at("SLURM_CONF")};
}

Finished SlurmBed::testbed(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{"/bin/bash", kTestbed};
  if (!folder_.empty()) command.insert(command.end(), {"--folder", folder_});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, "/");
}

std::string SlurmBed::testbed_output(const std::vector<std::string>& arguments) const {
  const Finished done = testbed(arguments);
  if (done.exit_code == 0) return done.output;
  throw std::runtime_error("testbed " + arguments.front() + ": " + done.output + done.error);
}

std::string SlurmBed::token(const std::string& user, int seconds) const {
  return trimmed(testbed_output({"token", user, std::to_string(seconds)}));
}

std::string SlurmBed::rotate_token(int seconds) const {
  std::string text = token(user(), seconds);
  const std::string fresh = token_file() + ".new";
  std::ofstream(fresh) << text << "\n";
  fs::permissions(fresh, fs::perms::owner_read | fs::perms::owner_write);
  give_file(fresh, user());
  fs::rename(fresh, token_file());
  return text;
}

Finished SlurmBed::run(const std::vector<std::string>& command, const std::string& as) const {
  std::vector<std::string> arguments{"run"};
  if (!as.empty()) arguments.insert(arguments.end(), {"--as", as});
  arguments.insert(arguments.end(), command.begin(), command.end());
  return testbed(arguments);
}

std::string SlurmBed::output_of(const std::vector<std::string>& command,
                                const std::string& as) const {
  const Finished done = run(command, as);
  if (done.exit_code == 0) return done.output;
  throw std::runtime_error(command.front() + " failed: " + done.output + done.error);
}

std::string SlurmBed::sbatch(const std::vector<std::string>& options,
                             const std::string& script) const {
  std::vector<std::string> command{"sbatch", "--parsable"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back("--wrap=" + script);
  return trimmed(output_of(command, user()));
}

std::string SlurmBed::squeue(const std::vector<std::string>& options) const {
  std::vector<std::string> command{"squeue", "-h", "-t", "all"};
  command.insert(command.end(), options.begin(), options.end());
  return output_of(command);
}

std::string SlurmBed::scontrol(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{"scontrol"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return output_of(command);
}

std::string SlurmBed::job_field(const std::string& job, const std::string& field) const {
  const Finished shown = run({"scontrol", "--oneliner", "show", "job", job});
  if (shown.exit_code != 0) return "";
  const size_t at = shown.output.find(" " + field + "=");
  if (at == std::string::npos) return "";
  const size_t begin = at + field.size() + 2;
  return shown.output.substr(begin, shown.output.find(' ', begin) - begin);
}

std::string SlurmBed::sacct(const std::vector<std::string>& options) const {
  std::vector<std::string> command{"sacct", "-n", "-P", "-X", "-a"};
  command.insert(command.end(), options.begin(), options.end());
  return output_of(command);
}

void SlurmBed::fault(Service service, Fault what) const {
  testbed_output({word_of(service), word_of(what)});
}

void SlurmBed::node(const std::string& name, Fault what) const {
  testbed_output({"node", name, word_of(what)});
}

}  // namespace tests
