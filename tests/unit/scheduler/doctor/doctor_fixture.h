// A site that the doctor examines: programs that run here, and a cluster that remembers what it was
// asked.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/doctor/doctor.h"
#include "scheduler/script/substitute.h"
#include "tests/fakes/fake_cluster.h"
#include "tests/scratch_folder.h"

namespace scheduler {

// Finds what the test says about itself, and says at its end what was asked of it.
class ExaminedCluster : public tests::FakeCluster {
 public:
  explicit ExaminedCluster(tests::FakeCluster& last) : last_(last) {}
  ~ExaminedCluster() override { last_ = *this; }
  ExaminedCluster(const ExaminedCluster&) = delete;
  ExaminedCluster& operator=(const ExaminedCluster&) = delete;

  std::vector<slurm::Finding> found{};

  std::vector<slurm::Finding> examine(const slurm::Examination&) override { return found; }

 private:
  tests::FakeCluster& last_;
};

class DoctorTest : public testing::Test {
 protected:
  DoctorTest() {
    config_.state = folder_.file("state");
    config_.engine = folder_.write("margay-engine", "#!/bin/sh\necho margay-engine 9.9\n");
    std::filesystem::permissions(config_.engine, std::filesystem::perms::owner_all);
    std::filesystem::permissions(folder_.write("margay-job", "#!/bin/sh\necho margay-job 9.9\n"),
                                 std::filesystem::perms::owner_all);
    config_.templates = std::string(MARGAY_SOURCE_DIR) + "/templates";
    std::filesystem::create_directories(config_.jobs());
  }

  // The tiny job runs here, as a real script, when it is first waited for. A held job does not.
  void run_job() {
    const slurm::JobRequest& request = cluster_->requests.back();
    if (request.hold) return;
    const std::string script = folder_.write("script", request.script);
    const std::string command =
        "bash " + shell_quote(script) + " > " + shell_quote(request.output_path) + " 2>&1";
    const bool well = std::system(command.c_str()) == 0;
    cluster_->end(request.name, well ? slurm::JobState::kCompleted : slurm::JobState::kFailed,
                  well ? 0 : 1);
  }

  std::vector<slurm::Finding> examine(const Clock& clock) {
    DoctorOptions options;
    options.instance = daemon_;
    options.makes_socket_folder = makes_socket_folder_;
    options.timeout = std::chrono::milliseconds(3);
    options.poll = std::chrono::milliseconds(1);
    options.make = [this](const Config& own, const std::string& instance) {
      works_in_ = own.state;
      instance_ = instance;
      auto cluster = std::make_unique<ExaminedCluster>(last_);
      cluster->found = found_;
      cluster->faults = faults_;
      if (!refusal_message_.empty()) cluster->refusal_message = refusal_message_;
      cluster_ = cluster.get();
      return cluster;
    };
    options.sleep = [this](std::chrono::milliseconds) {
      if (during_) during_();
    };
    return examine_site(config_, clock, options);
  }

  static slurm::Finding about(const std::vector<slurm::Finding>& findings,
                              const std::string& subject) {
    for (const slurm::Finding& finding : findings) {
      if (finding.subject == subject) return finding;
    }
    ADD_FAILURE() << "nothing is said about " << subject;
    return {};
  }

  static slurm::Finding about_bad(std::vector<slurm::Finding> findings,
                                  const std::string& subject) {
    std::erase_if(findings, [](const slurm::Finding& one) {
      return one.level != slurm::Finding::Level::kBad;
    });
    return about(findings, subject);
  }

  tests::ScratchFolder folder_;
  Config config_;
  std::vector<slurm::Finding> found_;
  std::vector<tests::FakeCluster::Fault> faults_;
  std::string daemon_ = "abc";          // empty: none runs
  std::string refusal_message_;         // empty: the cluster's own
  ExaminedCluster* cluster_ = nullptr;  // while the site is examined
  tests::FakeCluster last_;             // as it was then
  std::string instance_;
  std::string works_in_;  // the state folder of the doctor's own cluster
  bool makes_socket_folder_ = false;
  std::function<void()> during_ = [this] { run_job(); };
};

}  // namespace scheduler
