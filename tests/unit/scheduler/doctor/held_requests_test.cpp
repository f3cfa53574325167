// The request of each shape, which the doctor submits held and cancels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/doctor/doctor_fixture.h"

namespace scheduler {
namespace {

using slurm::Finding;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Level = slurm::Finding::Level;

TEST_F(DoctorTest, TheTrueRequestOfEachShapeIsSubmittedHeldAndCancelled) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  config_.slurm.options = {{"mem", "640G"}, {"time", "02:00:00"}, {"mail-user", "ann@example.org"}};
  config_.slurm.urgent_shape = Shape::kNodes;
  config_.slurm.nodes = 3;
  const auto findings = examine(SystemClock());
  ASSERT_EQ(last_.requests.size(), 3U);
  EXPECT_TRUE(last_.requests.at(0).hold);
  EXPECT_TRUE(last_.requests.at(1).hold);
  EXPECT_FALSE(last_.requests.at(2).hold) << "the probe job";
  EXPECT_THAT(last_.requests.at(0).script,
              AllOf(HasSubstr("--mem=640G\n"), HasSubstr("--nodes=1\n"), HasSubstr("\ntrue\n"),
                    Not(HasSubstr("mail"))));
  EXPECT_THAT(last_.requests.at(1).script,
              AllOf(HasSubstr("--nodes=3\n"), HasSubstr("--gres=gpu:4\n")));
  EXPECT_EQ(about(findings, "request of shape gpu").level, Level::kGood);
  EXPECT_THAT(about(findings, "request of shape nodes").says, HasSubstr("nodes=3"));
  EXPECT_THAT(last_.released, IsEmpty());
  EXPECT_THAT(last_.forgotten, testing::IsSupersetOf({"101", "102"}));
}

TEST_F(DoctorTest, TheRequestOfAClassWithOptionsOfItsOwnIsTriedToo) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  config_.slurm.urgent_shape = Shape::kNodes;
  config_.policy.classes[db::Priority::kUrgent].options = {{"qos", "fast"}};
  using Fault = tests::FakeCluster::Fault;
  faults_ = {Fault::kAccept, Fault::kAccept, Fault::kReject};
  const auto findings = examine(SystemClock());
  const Finding refused = about(findings, "request of shape nodes, class urgent");
  EXPECT_EQ(refused.level, Level::kBad);
  EXPECT_THAT(refused.says, HasSubstr("qos=fast"));
  EXPECT_THAT(refused.advice, HasSubstr("qos is policy.classes.urgent (qos)"));
  EXPECT_EQ(about(findings, "request of shape gpu").level, Level::kGood);
  EXPECT_THAT(names_used(config_).qos, testing::ElementsAre("fast"));
}

TEST_F(DoctorTest, AShapeThatSlurmRefusesIsBadWithItsReasonAndWhereItIsConfigured) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  config_.slurm.options = {{"mem", "640G"}};
  config_.slurm.shape_options[Shape::kGpu] = {{"licenses", "nothing"}};
  faults_ = {tests::FakeCluster::Fault::kReject};
  const Finding refused = about(examine(SystemClock()), "request of shape gpu");
  EXPECT_EQ(refused.level, Level::kBad);
  EXPECT_THAT(refused.says, AllOf(HasSubstr("no such partition"), HasSubstr("mem=640G")));
  EXPECT_THAT(refused.advice,
              AllOf(HasSubstr("mem is slurm.options.mem"),
                    HasSubstr("licenses is slurm.shapes.gpu.licenses"), Not(HasSubstr("gres"))));
}

TEST_F(DoctorTest, AnUnknownLicenseOfAShapeIsBadWithTheKey) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  config_.slurm.shape_options[Shape::kGpu] = {{"licenses", "nosuch:1"}};
  faults_ = {tests::FakeCluster::Fault::kReject};
  refusal_message_ = "Invalid license specification";
  const Finding refused = about(examine(SystemClock()), "request of shape gpu");
  EXPECT_EQ(refused.level, Level::kBad);
  EXPECT_THAT(refused.says,
              AllOf(HasSubstr("licenses=nosuch:1"), HasSubstr("Invalid license specification")));
  EXPECT_THAT(refused.advice, HasSubstr("licenses is slurm.shapes.gpu.licenses"));
}

TEST_F(DoctorTest, AHeldJobThatCouldNeverStartIsBadAndIsCancelled) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  during_ = [this] { cluster_->job(cluster_->requests.back().name).reason = "PartitionTimeLimit"; };
  const Finding job = about(examine(SystemClock()), "request of shape gpu");
  EXPECT_EQ(job.level, Level::kBad);
  EXPECT_THAT(job.says, HasSubstr("longer time than its partition allows"));
  EXPECT_THAT(last_.cancelled, testing::Contains("101"));
}

TEST_F(DoctorTest, AHeldJobWhoseAnswerGotLostIsFoundByItsNameAndCancelled) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  faults_ = {tests::FakeCluster::Fault::kAcceptAndLoseAnswer};
  EXPECT_EQ(about(examine(SystemClock()), "request of shape gpu").level, Level::kGood);
  EXPECT_THAT(last_.cancelled, testing::Contains("101"));
  EXPECT_THAT(last_.forgotten, testing::Contains("101"));
}

TEST_F(DoctorTest, AHeldJobIsCancelledWhenTheSiteAllowsAnotherRequest) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  const auto budget_ends = [&] {
    if (cluster_->requests.back().hold) cluster_->requests_left = 0;
  };
  int waits = 0;
  during_ = [&] {
    run_job();
    budget_ends();
    if (++waits > 5) cluster_->requests_left = 1;
  };
  EXPECT_FALSE(is_bad(examine(SystemClock())));
  EXPECT_THAT(last_.cancelled, testing::Contains("101"));
  during_ = [&] {
    run_job();
    budget_ends();
  };
  const Finding left = about_bad(examine(SystemClock()), "request of shape gpu");
  EXPECT_THAT(left.says, HasSubstr("stays in Slurm"));
  EXPECT_EQ(left.advice, "scancel 101");
}

TEST_F(DoctorTest, AHeldJobOfUnknownFateIsBadWithHowToCancelIt) {
  config_.cluster = ClusterKind::kSlurm;
  config_.policy.widths = WidthsBy::kFixed;
  faults_ = {tests::FakeCluster::Fault::kLoseRequest};
  during_ = [] {};
  const Finding job = about(examine(SystemClock()), "request of shape gpu");
  EXPECT_EQ(job.level, Level::kBad);
  EXPECT_THAT(job.advice, HasSubstr("scancel --name=margay-doctor-abc-"));
}

}  // namespace
}  // namespace scheduler
