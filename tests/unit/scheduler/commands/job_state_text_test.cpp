#include "scheduler/commands/job_state_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

db::Attempt waiting(const std::string& reason) {
  db::Attempt attempt;
  attempt.job_id = "17";
  attempt.state = db::AttemptState::kPending;
  attempt.cluster_words = "PENDING";
  attempt.cluster_reason = reason;
  return attempt;
}

TEST(AttemptWords, AJobThatSomebodyHoldsWillNotStartByItself) {
  const db::Attempt held = waiting("JobHeldUser");
  EXPECT_THAT(why_it_waits(held),
              AllOf(HasSubstr("held by the user: release it (job 17: PENDING, JobHeldUser)"),
                    HasSubstr("it will not start by itself")));
}

TEST(AttemptWords, AJobThatWeHoldIsOursToRelease) {
  db::Attempt held = waiting("JobHeldUser");
  held.release_due = true;
  EXPECT_THAT(why_it_waits(held), AllOf(HasSubstr("held by Margay"), Not(HasSubstr("by itself")),
                                        Not(HasSubstr("by the user"))));
  EXPECT_THAT(meaning_of_reason(held), HasSubstr("submitted held by Margay"));
}

TEST(AttemptWords, AJobWithoutAReasonSimplyWaits) {
  for (const char* none : {"", "None"}) {
    EXPECT_EQ(why_it_waits(waiting(none)), "job 17 waits in the cluster (PENDING)");
    EXPECT_EQ(meaning_of_reason(waiting(none)), "");
  }
}

}  // namespace
}  // namespace scheduler
