#include "slurm/job/job_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace slurm {
namespace {

using testing::Eq;
using testing::Optional;

TEST(JobClaims, AreTakenOverByALaterStartOfTheSameJobAlone) {
  const std::string owner = owner_text({.job = "77", .restart = "1", .host = "n01"});
  EXPECT_EQ(owner, "77\n1\nn01\n");
  EXPECT_TRUE(may_take_over(owner, {.job = "77", .restart = "2"}));
  EXPECT_FALSE(may_take_over(owner, {.job = "77", .restart = "1"})) << "the same start, twice";
  EXPECT_FALSE(may_take_over(owner, {.job = "77", .restart = "0"}));
  EXPECT_FALSE(may_take_over(owner, {.job = "78", .restart = "9"}));
  EXPECT_TRUE(may_take_over("77\n9\nn01\n", {.job = "77", .restart = "10"})) << "a number";
}

TEST(JobClaims, OfAnUnknownOwnerOrJobAreNotTakenOver) {
  EXPECT_FALSE(may_take_over("", {.job = "77", .restart = "9"})) << "not written yet";
  EXPECT_FALSE(may_take_over("77\n", {.job = "77", .restart = "9"}));
  EXPECT_FALSE(may_take_over("77\nx\n", {.job = "77", .restart = "9"}));
  EXPECT_FALSE(may_take_over("\n0\nhost\n", {.job = "", .restart = "1"}));
}

TEST(JobFences, StopOlderAttemptsOnly) {
  EXPECT_TRUE(is_newer_attempt("3\n", 2));
  EXPECT_TRUE(is_newer_attempt(" 10 ", 9));
  for (const char* fence : {"2\n", "1\n", "", "\n", "x", "3x", "3 4"}) {
    EXPECT_FALSE(is_newer_attempt(fence, 2)) << fence;
  }
}

TEST(JobCodes, OfARankThatStoppedAreNoFaultButOfTheFirst) {
  EXPECT_EQ(code_of_rank(85, 0), 85);
  EXPECT_EQ(code_of_rank(85, 3), 0);
  EXPECT_EQ(code_of_rank(70, 3), 70);
}

TEST(JobCodes, OfAStepThatWasSignalledBeforeItListenedMeanAStop) {
  EXPECT_EQ(code_of_step(138, false), 85);
  EXPECT_EQ(code_of_step(143, true), 85);
  EXPECT_EQ(code_of_step(143, false), 143) << "nobody asked for it";
  for (const int code : {0, 1, 2, 64, 70, 71, 85, 126, 127, 137, 139}) {
    EXPECT_EQ(code_of_step(code, true), code);
  }
}

TEST(JobCodes, OfAProbe) {
  EXPECT_EQ(end_after_probe(0), std::nullopt);
  const std::map<int, int> ends = {{2, 2},    {126, 126}, {127, 127}, {1, 126},
                                   {64, 126}, {85, 85},   {143, 85},  {70, 70},
                                   {71, 70},  {124, 70},  {137, 70},  {139, 70}};
  for (const auto& [probe, end] : ends) EXPECT_THAT(end_after_probe(probe), Optional(end)) << probe;
}

TEST(JobFaults, AreReadAsTheyAreWritten) {
  const auto fault = parse_fault(fault_text({.code = 139, .host = "n02"}));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, 139);
  EXPECT_EQ(fault->host, "n02");
  EXPECT_EQ(fault_text({.code = 70}), "70 \n") << "outside of Slurm no host is known";
  EXPECT_EQ(parse_fault("70 \n")->host, "");
  EXPECT_FALSE(parse_fault(""));
}

TEST(JobLogs, SayWhichRankWasLost) {
  EXPECT_THAT(lost_rank("margay-engine: rank 2 on a.host was lost: it failed\n"),
              Optional(Eq("2")));
  EXPECT_THAT(lost_rank("margay-engine: rank 0 was lost: its device hangs\n"), Optional(Eq("0")));
  EXPECT_THAT(lost_rank("margay-engine: rank 1 was lost: a\nmore\nmargay-engine: rank 12 on b was "
                        "lost: c"),
              Optional(Eq("12")))
      << "the last one counts";
  for (const char* log :
       {"", "rank 2 was lost: x\n", "margay-engine: rank was lost: x\n",
        "margay-engine: rank 2 on a host was lost: x\n", "margay-engine: rank 2 is lost\n",
        "margay-engine: rank 2 on a was lost: x; the others go on without it\n"}) {
    EXPECT_EQ(lost_rank(log), std::nullopt) << log;
  }
}

}  // namespace
}  // namespace slurm
