#include "tests/fakes/fake_slurm_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace tests {
namespace {

namespace fs = std::filesystem;

// Returns the text of a file of /proc; empty when its process is gone.
std::string contents(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::string text;
  char piece[4096];
  for (ssize_t size = 0; (size = read(file, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<size_t>(size));
  }
  close(file);
  return text;
}

std::string numbers_to(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + std::to_string(i);
  return list;
}

// Exactly what was asked for, and Slurm's own.
std::vector<std::string> environment_of(const FakeJob& job, const std::string& srun_folder) {
  const FakeJobRequest& request = job.request;
  std::vector<std::string> environment;
  std::string path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& pair : request.environment) {
    if (pair.starts_with("PATH=")) {
      path = pair.substr(5);
    } else {
      environment.push_back(pair);
    }
  }
  const auto add = [&](const std::string& name, const std::string& value) {
    environment.push_back(name + "=" + value);
  };
  const std::string id = std::to_string(job.id);
  const std::string nodes = std::to_string(request.nodes);
  add("PATH", srun_folder + ":" + path);
  add("ENVIRONMENT", "BATCH");
  add("HOSTNAME", job.batch_host);
  add("TMPDIR", "/tmp");
  add("SLURM_CLUSTER_NAME", "testbed");
  add("SLURM_JOB_ID", id);
  add("SLURM_JOBID", id);
  add("SLURM_JOB_NAME", request.name);
  add("SLURM_JOB_ACCOUNT", request.account);
  add("SLURM_JOB_PARTITION", request.partition);
  add("SLURM_JOB_QOS", request.qos);
  add("SLURM_JOB_USER", request.user);
  add("SLURM_JOB_NODELIST", job.nodes);
  add("SLURM_NODELIST", job.nodes);
  add("SLURM_JOB_NUM_NODES", nodes);
  add("SLURM_NNODES", nodes);
  add("SLURM_NTASKS", std::to_string(request.tasks));
  add("SLURM_CPUS_ON_NODE", "1");
  add("SLURM_NODEID", "0");
  add("SLURM_PROCID", "0");
  add("SLURM_LOCALID", "0");
  add("SLURMD_NODENAME", job.batch_host);
  if (job.restarts > 0) add("SLURM_RESTART_COUNT", std::to_string(job.restarts));
  if (request.gpus_per_node > 0) {
    add("SLURM_GPUS_ON_NODE", std::to_string(request.gpus_per_node));
    add("SLURM_JOB_GPUS", numbers_to(request.gpus_per_node));
    add("CUDA_VISIBLE_DEVICES", numbers_to(request.gpus_per_node));
  }
  return environment;
}

std::string with_job_id(std::string path, const FakeJob& job) {
  for (size_t at = path.find("%j"); at != std::string::npos; at = path.find("%j")) {
    path.replace(at, 2, std::to_string(job.id));
  }
  return path.empty() || path.front() == '/' ? path : job.request.directory + "/" + path;
}

// "#!/bin/bash -l" into its words.
std::vector<std::string> interpreter_of(const std::string& script) {
  const std::string line = script.substr(0, script.find('\n'));
  std::istringstream stream(line.starts_with("#!") ? line.substr(2) : "/bin/sh");
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> all;
  for (std::string& text : strings) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

struct Spawning {
  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
  Spawning() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Spawning() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;
};

// Fields of /proc/PID/stat behind the command: state, parent, group, session.
struct Stat {
  char state = 'Z';
  pid_t session = 0;
};

Stat stat_of(pid_t pid) {
  const std::string text = contents("/proc/" + std::to_string(pid) + "/stat");
  const size_t command_end = text.rfind(')');
  Stat stat;
  if (command_end == std::string::npos) return stat;
  std::istringstream rest(text.substr(command_end + 1));
  pid_t parent = 0;
  pid_t group = 0;
  rest >> stat.state >> parent >> group >> stat.session;
  return stat;
}

}  // namespace

pid_t spawn_job(const FakeJob& job, const std::string& folder, const std::string& srun_folder) {
  fs::create_directories(folder);
  const std::string script = folder + "/slurm_script";
  std::ofstream(script, std::ios::binary) << job.request.script;
  const std::string output =
      with_job_id(job.request.output.empty() ? "slurm-%j.out" : job.request.output, job);
  const std::string error = with_job_id(job.request.error, job);
  Spawning spawning;
  const int flags = O_WRONLY | O_CREAT | (job.restarts > 0 ? O_APPEND : O_TRUNC);
  posix_spawn_file_actions_addclosefrom_np(&spawning.actions, STDERR_FILENO + 1);
  posix_spawn_file_actions_addopen(&spawning.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&spawning.actions, STDOUT_FILENO, output.c_str(), flags, 0644);
  if (error.empty() || error == output) {
    posix_spawn_file_actions_adddup2(&spawning.actions, STDOUT_FILENO, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&spawning.actions, STDERR_FILENO, error.c_str(), flags, 0644);
  }
  posix_spawn_file_actions_addchdir_np(&spawning.actions, job.request.directory.c_str());
  std::vector<std::string> arguments = interpreter_of(job.request.script);
  arguments.push_back(script);
  std::vector<std::string> environment = environment_of(job, srun_folder);
  pid_t leader = 0;
  const int failed =
      posix_spawn(&leader, arguments.front().c_str(), &spawning.actions, &spawning.attributes,
                  pointers(arguments).data(), pointers(environment).data());
  return failed == 0 ? leader : 0;
}

std::vector<pid_t> members_of_session(pid_t leader) {
  std::vector<pid_t> members;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    const Stat stat = stat_of(pid);
    if (stat.session == leader && stat.state != 'Z' && stat.state != 'X') members.push_back(pid);
  }
  return members;
}

void signal_session(pid_t leader, int number) {
  for (const pid_t pid : members_of_session(leader)) kill(pid, number);
}

void signal_steps(pid_t leader, int number) {
  for (const pid_t pid : members_of_session(leader)) {
    std::string variables =
        std::string(1, '\0') + contents("/proc/" + std::to_string(pid) + "/environ");
    if (variables.find(std::string(1, '\0') + "SLURM_STEP_ID=") == std::string::npos) continue;
    kill(pid, number);
  }
}

}  // namespace tests
