#include "scheduler/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/selftest_text.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/scheduler/doctor/doctor_fixture.h"

namespace scheduler {
namespace {

using slurm::Finding;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Level = slurm::Finding::Level;

TEST_F(DoctorTest, AGoodSiteRunsATinyJobAndLeavesNothing) {
  const auto findings = examine(SystemClock());
  EXPECT_FALSE(is_bad(findings));
  EXPECT_THAT(about(findings, "engine").says, HasSubstr("margay-engine 9.9"));
  EXPECT_THAT(about(findings, "job").says, HasSubstr("job 101 ran on"));
  EXPECT_EQ(about(findings, "engine in a job").says, "margay-engine 9.9");
  EXPECT_EQ(about(findings, "clock").level, Level::kGood);
  EXPECT_EQ(about(findings, "jobs' folder").level, Level::kGood);
  EXPECT_THAT(last_.forgotten, testing::ElementsAre("101"));
  EXPECT_THAT(last_.cancelled, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(config_.jobs() + "/.doctor"));
}

TEST_F(DoctorTest, ItsJobIsNoneOfTheDaemons) {
  examine(SystemClock());
  EXPECT_EQ(instance_, "doctor-abc");
  const std::string name = last_.requests.at(0).name;
  EXPECT_THAT(name, testing::StartsWith("margay-doctor-abc-"));
  EXPECT_FALSE(name.starts_with("margay-abc-"));
}

TEST_F(DoctorTest, AMissingMargayJobIsBadWithWhereItWasLookedFor) {
  EXPECT_THAT(about(examine(SystemClock()), "margay-job").says, HasSubstr("margay-job 9.9"));
  std::filesystem::remove(folder_.file("margay-job"));
  const Finding missing = about(examine(SystemClock()), "margay-job");
  EXPECT_EQ(missing.level, Level::kBad);
  EXPECT_THAT(missing.says, HasSubstr("beside the engine at '" + folder_.file("margay-job") + "'"));
}

TEST_F(DoctorTest, AnEngineThatDoesNotRunIsBadHereAndInAJob) {
  config_.engine = folder_.file("nothing");
  const auto findings = examine(SystemClock());
  EXPECT_EQ(about(findings, "engine").level, Level::kBad);
  EXPECT_EQ(about(findings, "engine in a job").level, Level::kBad);
}

TEST_F(DoctorTest, TemplatesThatCannotBeUsedAreBadAndNoJobIsTried) {
  config_.templates = folder_.file("nowhere");
  found_ = {{.subject = "slurmctld", .says = "is up"}};
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  const auto findings = examine(SystemClock());
  EXPECT_EQ(about(findings, "script templates").level, Level::kBad);
  EXPECT_THAT(last_.requests, IsEmpty());
  EXPECT_EQ(about(findings, "slurmctld").says, "is up");
}

TEST_F(DoctorTest, AJobThatLeavesNothingInTheFolderIsBadWithWhatItPrinted) {
  during_ = [this] {
    std::filesystem::remove_all(cluster_->requests.back().directory);
    std::filesystem::create_directories(cluster_->requests.back().directory);
    const auto& request = cluster_->requests.back();
    std::ofstream(request.output_path) << "cannot create report:\nPermission denied\n";
    cluster_->end(request.name, slurm::JobState::kFailed, 1);
    cluster_->job(request.name).words = "FAILED";
  };
  const Finding job = about(examine(SystemClock()), "job");
  EXPECT_EQ(job.level, Level::kBad);
  EXPECT_THAT(job.says, AllOf(HasSubstr(config_.jobs()), HasSubstr("FAILED"),
                              HasSubstr("cannot create report:; Permission denied")));
  EXPECT_THAT(job.advice, HasSubstr("the same on every node"));
}

TEST_F(DoctorTest, AJobThatOnlyWaitsIsCancelledAndAWarningWithItsReason) {
  during_ = [this] {
    slurm::JobStatus& job = cluster_->job(cluster_->requests.back().name);
    job.state = slurm::JobState::kPending;
    job.words = "PENDING";
    job.reason = "Resources";
  };
  const Finding job = about(examine(SystemClock()), "job");
  EXPECT_EQ(job.level, Level::kWarning);
  EXPECT_THAT(job.says, AllOf(HasSubstr("PENDING"), HasSubstr("cancelled")));
  EXPECT_THAT(last_.cancelled, testing::ElementsAre("101"));
}

TEST_F(DoctorTest, AJobThatIsRefusedIsBadWithTheClustersReason) {
  faults_ = {tests::FakeCluster::Fault::kReject};
  const Finding job = about(examine(SystemClock()), "job");
  EXPECT_EQ(job.level, Level::kBad);
  EXPECT_THAT(job.says, HasSubstr("no such partition"));
}

TEST_F(DoctorTest, AJobThatCanNeverStartIsBadAndNotAQuestionOfABusyCluster) {
  during_ = [this] {
    slurm::JobStatus& job = cluster_->job(cluster_->requests.back().name);
    job.state = slurm::JobState::kPending;
    job.reason = "AccountNotAllowed";
  };
  const Finding job = about(examine(SystemClock()), "job");
  EXPECT_EQ(job.level, Level::kBad);
  EXPECT_THAT(job.says, HasSubstr("its account may not use this partition"));
  EXPECT_THAT(job.advice, AllOf(HasSubstr("AccountNotAllowed"), Not(HasSubstr("less busy"))));
}

TEST_F(DoctorTest, TheSelfTestOfTheEngineRunsInTheJob) {
  EXPECT_EQ(about(examine(SystemClock()), "self-test in a job").level, Level::kGood);
  folder_.write("margay-engine",
                "#!/bin/sh\necho margay-engine 9.9\n[ \"$1\" != selftest ] || { echo no CUDA "
                "driver; exit 70; }\n");
  const Finding failed = about(examine(SystemClock()), "self-test in a job");
  EXPECT_EQ(failed.level, Level::kBad);
  EXPECT_THAT(failed.says, HasSubstr("ended with 70: no CUDA driver"));
  EXPECT_THAT(failed.advice, HasSubstr("margay-engine selftest --backend"));
  EXPECT_THAT(failed.advice, HasSubstr("its driver"));
  folder_.write(
      "margay-engine",
      std::string("#!/bin/sh\necho margay-engine 9.9\n[ \"$1\" != selftest ] || { echo ") +
          base::kNoKnownAnswers + "; exit 64; }\n");
  EXPECT_THAT(about(examine(SystemClock()), "self-test in a job").advice,
              HasSubstr("with its share/margay/selftest"));
}

TEST_F(DoctorTest, TheSelfTestRunsOnTheDeviceOfTheShape) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  examine(SystemClock());
  EXPECT_THAT(last_.requests.back().script, HasSubstr("--backend cuda"));
  config_.slurm.shape = Shape::kCpu;
  examine(SystemClock());
  EXPECT_THAT(last_.requests.back().script, HasSubstr("--backend cpu"));
}

TEST_F(DoctorTest, AProgramThatDoesNotRunIsBadWithTheReason) {
  config_.engine = folder_.file("nothing");
  EXPECT_THAT(about(examine(SystemClock()), "engine").says,
              HasSubstr("does not run on this machine: No such file or directory"));
  config_.engine = folder_.write("broken", "#!/bin/sh\necho libcudart is missing >&2\nexit 127\n");
  std::filesystem::permissions(config_.engine, std::filesystem::perms::owner_all);
  EXPECT_THAT(about(examine(SystemClock()), "engine").says, HasSubstr("libcudart is missing"));
}

TEST_F(DoctorTest, AJobsFolderThatCannotBeLookedAtIsBadWithItsName) {
  std::filesystem::create_symlink(folder_.file("loop"), folder_.file("loop"));
  config_.jobs_folder = folder_.file("loop") + "/jobs";
  const Finding disk = about(examine(SystemClock()), "disk");
  EXPECT_EQ(disk.level, Level::kBad);
  EXPECT_THAT(disk.says, AllOf(HasSubstr(config_.jobs_folder), HasSubstr("cannot be looked at")));
}

TEST_F(DoctorTest, AMissingFolderOfTheSocketAndAnUnknownGroupAreBad) {
  config_.socket = folder_.file("run") + "/margay.sock";
  config_.socket_group = "no-such-group";
  const auto findings = examine(SystemClock());
  EXPECT_EQ(about(findings, "socket").level, Level::kBad);
  EXPECT_THAT(about(findings, "socket").says,
              AllOf(HasSubstr("'" + folder_.file("run") + "'"), HasSubstr("No such file")));
  EXPECT_EQ(about(findings, "socket_group").level, Level::kBad);
  EXPECT_THAT(about(findings, "socket_group").says, HasSubstr("no group 'no-such-group'"));
  std::filesystem::create_directories(folder_.file("run"));
  EXPECT_EQ(about(examine(SystemClock()), "socket").level, Level::kGood);
}

TEST_F(DoctorTest, AClockThatIsOffIsAWarning) {
  const tests::FakeClock long_ago;
  const Finding clock = about(examine(long_ago), "clock");
  EXPECT_EQ(clock.level, Level::kWarning);
  EXPECT_THAT(clock.says, HasSubstr("ahead of this machine's"));
}

TEST_F(DoctorTest, NoJobIsTriedOnAClusterThatIsBad) {
  found_ = {{.level = Level::kBad, .subject = "slurmrestd", .says = "is away"}};
  const auto findings = examine(SystemClock());
  EXPECT_THAT(last_.requests, IsEmpty());
  EXPECT_EQ(about(findings, "slurmrestd").says, "is away");
  EXPECT_THAT(about(findings, "job").says, HasSubstr("none was tried"));
}

TEST_F(DoctorTest, RootMakesNothingWhereAnotherUsersDaemonWillWork) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to look at another user's folder";
  daemon_ = "";
  std::filesystem::remove_all(config_.jobs());
  ASSERT_EQ(::chown(config_.state.c_str(), 65534, 65534), 0);
  const Finding user = about(examine(SystemClock()), "user");
  EXPECT_EQ(user.level, Level::kWarning);
  EXPECT_THAT(user.says, HasSubstr("'" + config_.state + "' belongs to nobody"));
  EXPECT_TRUE(last_.requests.empty());
  EXPECT_FALSE(std::filesystem::exists(config_.jobs()));
}

TEST_F(DoctorTest, NothingIsMadeBeforeTheStateFolderIsThere) {
  std::filesystem::remove_all(config_.state);
  config_.jobs_folder = folder_.file("shared/jobs");
  examine(SystemClock());
  EXPECT_THAT(works_in_, Not(testing::StartsWith(folder_.file(""))));
  EXPECT_FALSE(std::filesystem::exists(config_.state));
  EXPECT_TRUE(last_.requests.empty());
}

TEST_F(DoctorTest, TheFolderOfTheDefaultSocketIsMargaydsToMake) {
  config_.socket = folder_.file("run") + "/margay.sock";
  makes_socket_folder_ = true;
  const Finding socket = about(examine(SystemClock()), "socket");
  EXPECT_EQ(socket.level, Level::kGood);
  EXPECT_THAT(socket.says, HasSubstr("margayd makes it"));
  makes_socket_folder_ = false;
  EXPECT_EQ(about(examine(SystemClock()), "socket").level, Level::kBad);
}

TEST_F(DoctorTest, AStateFolderThatMargaydWillMakeIsAWarning) {
  std::filesystem::remove_all(config_.state);
  const auto findings = examine(SystemClock());
  EXPECT_EQ(about(findings, "state folder").level, Level::kWarning);
  EXPECT_THAT(about(findings, "state folder").says, HasSubstr("margayd makes it"));
  EXPECT_EQ(about(findings, "disk").level, Level::kGood);
  EXPECT_FALSE(std::filesystem::exists(config_.state)) << "looking makes nothing";
}

TEST_F(DoctorTest, AStateFolderThatCannotBeMadeIsBad) {
  config_.state = folder_.write("file", "") + "/state";
  EXPECT_EQ(about(examine(SystemClock()), "state folder").level, Level::kBad);
}

TEST_F(DoctorTest, OnSlurmTheNamesOfTheSiteAreAskedForAndUsed) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  config_.slurm.options = {{"partition", "gpu,long"}, {"account", "lab"}};
  config_.slurm.shape_options[Shape::kCpu] = {{"qos", "night"}};
  const slurm::Examination names = names_used(config_);
  EXPECT_THAT(names.partitions, testing::ElementsAre("gpu", "long"));
  EXPECT_THAT(names.accounts, testing::ElementsAre("lab"));
  EXPECT_THAT(names.qos, testing::ElementsAre("night"));
  EXPECT_TRUE(names.gpus);
  EXPECT_EQ(names.nodes, 0);
  const auto findings = examine(SystemClock());
  EXPECT_THAT(last_.requests.back().script,
              AllOf(HasSubstr("#SBATCH --partition=gpu,long\n"),
                    HasSubstr("#SBATCH --account=lab\n"), HasSubstr("#SBATCH --gres=gpu:1\n")));
  EXPECT_TRUE(last_.requests.back().environment.contains("PATH"));
  EXPECT_NE(about(findings, "GPUs in a job").says, "");
  config_.slurm.shape = Shape::kCpu;
  config_.slurm.shape_options.clear();
  EXPECT_FALSE(names_used(config_).gpus);
  config_.slurm.urgent_shape = Shape::kNodes;
  config_.slurm.nodes = 3;
  EXPECT_EQ(names_used(config_).nodes, 3);
}

TEST_F(DoctorTest, WhatEachShapeNeedsIsComparedWithTheCluster) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  config_.slurm.options = {
      {"partition", "gpu,long"}, {"account", "lab"}, {"time", "02:00:00"}, {"mem-per-cpu", "4G"}};
  config_.slurm.shape = Shape::kNodes;
  config_.slurm.nodes = 3;
  config_.slurm.gpus_per_node = 8;
  config_.slurm.max_jobs = 20;
  config_.slurm.shape_options[Shape::kNodes] = {{"cpus-per-task", "10"}};
  const slurm::ShapeNeeds needs = names_used(config_).shapes.at(0);
  EXPECT_EQ(needs.shape, "nodes");
  EXPECT_THAT(needs.partitions, testing::ElementsAre("gpu", "long"));
  EXPECT_EQ(needs.account, "lab");
  EXPECT_EQ(needs.minutes, 120);
  EXPECT_EQ(needs.nodes, 3);
  EXPECT_EQ(needs.cpus, 80);
  EXPECT_EQ(needs.memory_mb, 80 * 4096);
  EXPECT_EQ(needs.gpus, 8);
  EXPECT_EQ(needs.jobs, 20);
  EXPECT_EQ(needs.sources.at("jobs"), "slurm.max_jobs");
  EXPECT_EQ(needs.sources.at("time"), "slurm.options.time");
  EXPECT_EQ(needs.sources.at("nodes"), "slurm.nodes");
  EXPECT_EQ(needs.sources.at("gpus"), "slurm.gpus_per_node");
  EXPECT_EQ(needs.sources.at("cpus"), "slurm.shapes.nodes.cpus-per-task");
  EXPECT_EQ(needs.sources.at("mem"), "slurm.options.mem-per-cpu");
}

}  // namespace
}  // namespace scheduler
