// What the tests of the local cluster share: a scratch folder, jobs that append a line each time
// they run, and time-outs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "slurm/local/local_cluster.h"

namespace slurm {

class LocalJobs : public ::testing::Test {
 protected:
  LocalJobs();
  ~LocalJobs() override;

  LocalClusterOptions options() const;
  // A job that appends its name to `ran`, then does `then`.
  JobRequest request(const std::string& name, const std::string& then) const;
  int times_run(const std::string& name) const;
  std::vector<std::string> lines(const std::filesystem::path& file) const;
  std::filesystem::path job_folder(const std::string& name) const {
    return folder_ / "local" / name;
  }
  ProcessIdentity process_of(const std::string& name, const std::string& record) const;
  // Looks again and again; false when it does not come true within a generous time.
  static bool becomes_true(const std::function<bool()>& condition);
  static JobStatus status_of(LocalCluster& cluster, const std::string& name);
  static bool ends(LocalCluster& cluster, const std::string& name);
  // In another process, which is gone (killed, without any clean-up) when this returns.
  static void in_killed_process(const std::function<void()>& work, int microseconds_until_killed);

  std::filesystem::path folder_;
};

// What a job does until the test lets it go.
inline constexpr const char* kWaitForFile = "while [ ! -e go ]; do sleep 0.02; done\n";

class LocalClusterTest : public LocalJobs {
 protected:
  void let_go() const;
  bool has_run(const std::string& name) const;
  // Whether the process of that record (started: the wrapper, job: the script) was stopped.
  bool is_stopped(const std::string& name, const std::string& record) const;
};

}  // namespace slurm
