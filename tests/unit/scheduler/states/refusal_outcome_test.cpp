// What becomes of submissions that the cluster refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/states/causes.h"
#include "scheduler/states/transition.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using std::chrono::minutes;
using testing::HasSubstr;

const RetryRules kRetryRules{.first = minutes(1), .longest = minutes(60)};

slurm::SubmitResult refused(slurm::Refusal refusal, const std::string& message) {
  return {.outcome = slurm::SubmitOutcome::kRejected, .message = message, .refusal = refusal};
}

TEST(RefusalOutcome, ARefusalWithoutAKindIsTriedAgainAndPausesSubmissions) {
  const auto answer = refused(slurm::Refusal::kNone, "no such folder");
  const Outcome outcome = judge_rejected(answer, {}, {}, kRetryRules);
  EXPECT_EQ(outcome.attempt, AttemptState::kRejected);
  EXPECT_EQ(outcome.item, ItemState::kQueued);
  EXPECT_EQ(outcome.site_fault, SiteFault::kLaunch);
  EXPECT_THAT(outcome.pause_reason, HasSubstr("no such folder"));
  EXPECT_EQ(judge_rejected(answer, {}, {{"launch", 5}}, kRetryRules).item, ItemState::kFailed);
}

TEST(RefusalOutcome, ABusyClusterOrABadConfigurationIsNeverHeldAgainstTheItem) {
  const auto busy = refused(slurm::Refusal::kBusy, "job limit reached");
  const auto bad = refused(slurm::Refusal::kConfiguration, "Invalid partition name specified");
  const auto large = refused(slurm::Refusal::kJob, "More nodes requested than available");
  for (int earlier = 0; earlier < 50; ++earlier) {
    const Failures failures = {{"busy", earlier}, {"configuration", earlier}};
    EXPECT_EQ(judge_rejected(busy, {}, failures, kRetryRules).item, ItemState::kQueued);
    EXPECT_EQ(judge_rejected(bad, {}, failures, kRetryRules).item, ItemState::kQueued);
    EXPECT_EQ(judge_rejected(large, {}, failures, kRetryRules).item, ItemState::kQueued);
  }
  EXPECT_EQ(judge_rejected(busy, {}, {}, kRetryRules).site_fault, SiteFault::kTransient);
  EXPECT_EQ(judge_rejected(bad, {}, {}, kRetryRules).site_fault, SiteFault::kConfiguration);
  EXPECT_EQ(judge_rejected(large, {}, {}, kRetryRules).site_fault, SiteFault::kConfiguration);
  EXPECT_EQ(judge_rejected(bad, {}, {}, kRetryRules).cause, "configuration");
}

TEST(RefusalOutcome, OptionsThatCannotBeHadFailTheirItemAndPauseNothing) {
  const auto large = refused(slurm::Refusal::kJob, "More nodes requested than available");
  const Outcome outcome =
      judge_rejected(large, {.own_options = {{"nodes", "400"}}}, {}, kRetryRules);
  EXPECT_EQ(outcome.item, ItemState::kFailed);
  EXPECT_EQ(outcome.cause, "options");
  EXPECT_EQ(outcome.site_fault, SiteFault::kNone);
  EXPECT_THAT(outcome.reason, HasSubstr("More nodes requested"));
  EXPECT_EQ(judge_rejected(large, {.own_options = {{"job-name", "grid 1"}}}, {}, kRetryRules).item,
            ItemState::kQueued)
      << "a label asks for nothing";
}

TEST(RefusalOutcome, AMisspeltPartitionPausesSubmissionsUnlessItIsTheItemsOwn) {
  const auto bad = refused(slurm::Refusal::kConfiguration, "Invalid partition name specified");
  EXPECT_EQ(judge_rejected(bad, {.own_options = {{"partition", "gpuu"}}}, {}, kRetryRules).item,
            ItemState::kFailed);
  EXPECT_EQ(judge_rejected(bad, {.own_options = {{"time", "10"}}}, {}, kRetryRules).site_fault,
            SiteFault::kConfiguration);
}

TEST(RefusalOutcome, AClosedPartitionOrReservationConcernsTheItemThatAskedForIt) {
  const std::map<std::string, std::string> sentences = {
      {"partition", "Required partition not available (inactive or drain)"},
      {"reservation", "Requested reservation not usable now"}};
  for (const auto& [option, sentence] : sentences) {
    const auto busy = refused(slurm::Refusal::kBusy, sentence);
    const Outcome own = judge_rejected(busy, {.own_options = {{option, "night"}}}, {}, kRetryRules);
    EXPECT_EQ(own.item, ItemState::kFailed);
    EXPECT_EQ(own.cause, "options");
    EXPECT_EQ(own.site_fault, SiteFault::kNone);
    const Outcome other = judge_rejected(busy, {.own_options = {{"time", "10"}}}, {}, kRetryRules);
    EXPECT_EQ(other.item, ItemState::kQueued);
    EXPECT_EQ(other.site_fault, SiteFault::kTransient);
  }
}

TEST(RefusalOutcome, ALimitOfTheMomentInALaneOfItsOwnHoldsThatLane) {
  const auto limit = refused(slurm::Refusal::kBusy, "Job violates accounting/QOS policy");
  const Outcome outcome = judge_rejected(limit, {.lane = "qos=short"}, {}, kRetryRules);
  EXPECT_EQ(outcome.item, ItemState::kQueued);
  EXPECT_EQ(outcome.cause, "busy");
  EXPECT_EQ(outcome.site_fault, SiteFault::kLane);
  EXPECT_THAT(outcome.pause_reason, HasSubstr("qos=short"));
  const auto full = refused(slurm::Refusal::kBusy, "Unable to create job record, try again");
  EXPECT_EQ(judge_rejected(full, {.lane = "qos=short"}, {}, kRetryRules).site_fault,
            SiteFault::kTransient)
      << "the whole cluster";
}

TEST(RefusalOutcome, ALimitInALaneConcernsTheSizeThatAnItemAsksForThere) {
  const auto limit = refused(slurm::Refusal::kBusy, "Job violates accounting/QOS policy");
  const Asked asked{.own_options = {{"qos", "long"}, {"time", "30-0"}}, .lane = "qos=long"};
  const Outcome outcome = judge_rejected(limit, asked, {}, kRetryRules);
  EXPECT_EQ(outcome.cause, "own_limit");
  EXPECT_EQ(outcome.site_fault, SiteFault::kSize);
  EXPECT_THAT(outcome.pause_reason, HasSubstr("no job of qos=long with time=30-0 now"));
}

TEST(RefusalOutcome, WhatSlurmRefusesForTheShapeOfUrgentItemsConcernsThatShape) {
  const auto large = refused(slurm::Refusal::kJob, "More nodes requested than available");
  const Asked urgent = {.lane = "shape nodes", .shape_keys = "'slurm.urgent_shape'"};
  const Outcome outcome = judge_rejected(large, urgent, {}, kRetryRules);
  EXPECT_EQ(outcome.item, ItemState::kQueued);
  EXPECT_EQ(outcome.site_fault, SiteFault::kLane);
  const auto bad = refused(slurm::Refusal::kConfiguration, "the token has expired");
  EXPECT_EQ(judge_rejected(bad, {.lane = "qos=short"}, {}, kRetryRules).site_fault,
            SiteFault::kConfiguration)
      << "every job's";
}

TEST(RefusalOutcome, WhatSlurmRefusesForTheOptionsOfAClassConcernsThatClass) {
  const auto bad = refused(slurm::Refusal::kConfiguration, "Invalid qos specification");
  const Outcome outcome =
      judge_rejected(bad, {.lane = "qos=fast", .class_name = "urgent"}, {}, kRetryRules);
  EXPECT_EQ(outcome.item, ItemState::kQueued);
  EXPECT_EQ(outcome.site_fault, SiteFault::kLane);
  EXPECT_THAT(outcome.pause_reason,
              testing::AllOf(HasSubstr("qos=fast"), HasSubstr("'policy.classes.urgent'")));
}

TEST(RefusalOutcome, WhatSlurmRefusesOnlySinceMoreWasAskedForIsTriedWithoutThat) {
  const auto large = refused(slurm::Refusal::kJob, "Memory required by task is not available");
  const auto limit = refused(slurm::Refusal::kBusy, "Job violates accounting/QOS policy (size)");
  for (const auto& answer : {large, limit}) {
    const Outcome outcome = judge_rejected(answer, {.raised = true}, {}, kRetryRules);
    EXPECT_EQ(outcome.item, ItemState::kQueued);
    EXPECT_EQ(outcome.cause, "raise_refused");
    EXPECT_EQ(outcome.site_fault, SiteFault::kNone);
  }
  const auto bad = refused(slurm::Refusal::kConfiguration, "Invalid partition name specified");
  EXPECT_EQ(judge_rejected(bad, {.raised = true}, {}, kRetryRules).cause, "configuration");
}

}  // namespace
}  // namespace scheduler
