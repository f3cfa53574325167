#include "tests/unit/slurm/local/local_jobs.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace slurm {

namespace fs = std::filesystem;

LocalJobs::LocalJobs() {
  std::string pattern = (fs::temp_directory_path() / "margay-local-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  folder_ = pattern;
  fs::create_directory(folder_ / "work");
}

// Nothing that a failed test left running survives it.
LocalJobs::~LocalJobs() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_ / "local", ignored)) {
    const std::string name = entry.path().filename();
    const ProcessTable table;
    table.signal(process_of(name, "started"), SIGKILL);
    for (const auto& member :
         table.session_of(process_of(name, "job"), "MARGAY_JOB_NAME=" + name)) {
      table.signal(member, SIGKILL);
    }
  }
  for (int i = 0; i < 100 && fs::exists(folder_); ++i) {
    fs::remove_all(folder_, ignored);
    if (ignored) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

LocalClusterOptions LocalJobs::options() const {
  LocalClusterOptions options;
  options.folder = folder_ / "local";
  options.helper = fs::path(MARGAY_BIN_DIR) / "margay-job";
  options.slots = 4;
  options.kill_wait = std::chrono::milliseconds(300);
  return options;
}

JobRequest LocalJobs::request(const std::string& name, const std::string& then) const {
  return {.name = name,
          .script = "echo " + name + " >> '" + (folder_ / "ran").string() + "'\n" + then + "\n",
          .directory = folder_ / "work",
          .output_path = folder_ / "work" / (name + ".log"),
          .environment = {}};
}

std::vector<std::string> LocalJobs::lines(const fs::path& file) const {
  std::ifstream stream(file);
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

int LocalJobs::times_run(const std::string& name) const {
  const auto all = lines(folder_ / "ran");
  return static_cast<int>(std::count(all.begin(), all.end(), name));
}

ProcessIdentity LocalJobs::process_of(const std::string& name, const std::string& record) const {
  const auto found = fs::exists(job_folder(name)) ? JobFolder(job_folder(name)).read(record)
                                                  : std::optional<Record>();
  return to_identity(found.value_or(Record{}));
}

bool LocalJobs::becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

JobStatus LocalJobs::status_of(LocalCluster& cluster, const std::string& name) {
  const Snapshot snapshot = cluster.states();
  EXPECT_TRUE(snapshot.complete) << snapshot.problem;
  for (const JobStatus& job : snapshot.jobs) {
    if (job.name == name) return job;
  }
  ADD_FAILURE() << name << " is not listed";
  return {};
}

bool LocalJobs::ends(LocalCluster& cluster, const std::string& name) {
  return becomes_true([&] {
    const JobState state = status_of(cluster, name).state;
    return state != JobState::kPending && state != JobState::kRunning;
  });
}

void LocalJobs::in_killed_process(const std::function<void()>& work,
                                  int microseconds_until_killed) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    for (;;) pause();
  }
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds_until_killed));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

void LocalClusterTest::let_go() const { std::ofstream(folder_ / "work" / "go") << "go"; }

bool LocalClusterTest::has_run(const std::string& name) const {
  return becomes_true([&] { return times_run(name) > 0; });
}

bool LocalClusterTest::is_stopped(const std::string& name, const std::string& record) const {
  const auto stat = lines("/proc/" + std::to_string(process_of(name, record).pid) + "/stat");
  return !stat.empty() && stat.front().find(") T ") != std::string::npos;
}

}  // namespace slurm
