// The ways in which the fake slurmrestd fails on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/fakes/fake_slurmrestd_fixture.h"

namespace tests {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using FakeFaultsTest = FakeSlurmrestdTest;

TEST_F(FakeFaultsTest, AnAnswerIsLostAndAnotherTimeTheRequest) {
  start("submit 1: drop-answer\nsubmit 2: lose-request");
  EXPECT_EQ(submit("kept", "true").status, 0);
  EXPECT_EQ(submit("lost", "true").status, 0);
  EXPECT_EQ(submit("third", "true").status, 200);
  ASSERT_THAT(jobs(), SizeIs(2));
  EXPECT_EQ(jobs()[0]["name"], "kept");
}

TEST_F(FakeFaultsTest, AHungControllerTimesOutAndMakesTheJobLater) {
  start("submit 1: hung 20ms 50ms");
  const ClientAnswer answer = submit("late", "true");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.json()["errors"][0]["error_code"], 5004);
  EXPECT_TRUE(becomes_true([&] { return jobs().size() == 1; }));
  EXPECT_EQ(jobs()[0]["name"], "late");
}

TEST_F(FakeFaultsTest, AGatewayAnswersWithoutABodyBeforeOrAfterTheWork) {
  start("submit 1: status 502\nsubmit 2: status-after 504");
  EXPECT_EQ(submit("a", "true").status, 502);
  const ClientAnswer after = submit("b", "true");
  EXPECT_EQ(after.status, 504);
  EXPECT_EQ(after.body, "");
  ASSERT_THAT(jobs(), SizeIs(1));
  EXPECT_EQ(jobs()[0]["name"], "b");
}

TEST_F(FakeFaultsTest, AListingLacksRowsOrItsEndOrKnownWords) {
  start("list 2: rows-missing 1\nlist 3: rows-missing\nlist 4: cut\nlist 5: unknown-state");
  submit("a", "sleep 60");
  submit("b", "sleep 60");
  EXPECT_THAT(jobs(), SizeIs(2));
  EXPECT_THAT(jobs(), SizeIs(1));
  EXPECT_THAT(jobs(), SizeIs(0));
  EXPECT_FALSE(json::accept(call("GET", at("jobs")).body));
  EXPECT_EQ(jobs()[0]["job_state"], "WARPING");
  EXPECT_NE(jobs()[0]["job_state"], "WARPING");
}

TEST_F(FakeFaultsTest, ACrashedControllerForgetsAcknowledgedJobsAndUsesTheirIdsAgain) {
  start();
  const std::string first = id_of(submit("gone", "sleep 60"));
  ASSERT_TRUE(becomes(first, "RUNNING"));
  fake_->set_faults("list 1: forget 60s");
  EXPECT_THAT(jobs(), IsEmpty());
  EXPECT_TRUE(becomes_true([&] { return fake_->cluster().alive() == 0; })) << "its processes stay";
  EXPECT_EQ(id_of(submit("next", "true")), first);
  const json known = call("GET", "/slurmdb/v0.0.38/jobs?job_name=gone").json()["jobs"];
  ASSERT_THAT(known, SizeIs(1));
  EXPECT_EQ(known[0]["state"]["current"], "RUNNING") << "for ever";
}

TEST_F(FakeFaultsTest, ARequeuedJobRunsAgainUnderItsId) {
  start();
  const std::string id = id_of(
      submit("again", "echo run $SLURM_RESTART_COUNT; while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(becomes_true([&] { return log_of("again") == "run\n"; }));
  fake_->set_faults("after 0ms: requeue");
  ASSERT_TRUE(becomes_true([&] { return job(id)["restart_cnt"] == 1; }));
  scratch_.write("go", "");
  ASSERT_TRUE(becomes(id, "COMPLETED"));
  EXPECT_EQ(log_of("again"), "run\nrun 1\n");
}

TEST_F(FakeFaultsTest, AJobEndsWithItsNode) {
  start();
  const std::string id = id_of(submit("on", "sleep 60"));
  ASSERT_TRUE(becomes(id, "RUNNING"));
  fake_->set_faults("after 0ms: kill-node");
  EXPECT_TRUE(becomes(id, "NODE_FAIL"));
}

TEST_F(FakeFaultsTest, TheTokenIsRefusedFromWhenItIsRotated) {
  start();
  EXPECT_EQ(call("GET", at("jobs")).status, 200);
  scratch_.write("token", "a.newer.one");
  const ClientAnswer answer = call("GET", at("jobs"));
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.json()["errors"][0]["error_number"], -1);
}

TEST_F(FakeFaultsTest, ThePartitionIsRefusedForAWhileAndTheClockJumps) {
  start("submit 1-2: refuse-partition\nlist 2: clock 1000");
  EXPECT_EQ(submit("a", "true").status, 500);
  EXPECT_EQ(submit("a", "true").status, 500);
  EXPECT_EQ(submit("a", "true").status, 200);
  const int64_t before = jobs()[0]["submit_time"];
  EXPECT_EQ(jobs()[0]["submit_time"], before + 1000);
}

TEST_F(FakeFaultsTest, FaultsCountTheirOwnKindAndEndWithTheirTime) {
  start("every 2 ping: status 500\nafter 0ms for 10s list: status 502\nafter 20s list: status 504");
  EXPECT_EQ(call("GET", at("ping")).status, 200);
  EXPECT_EQ(call("GET", at("jobs")).status, 502);
  EXPECT_EQ(call("GET", at("ping")).status, 500);
  EXPECT_EQ(call("GET", at("ping")).status, 200);
}

TEST(FakeFaults, ALineThatIsNoFaultIsNamed) {
  for (const char* line :
       {"submit: cut", "submit 0: cut", "often: cut", "submit 1: explode", "after now: purge",
        "submit 1 2: cut", "submit 1", "list 1: delay", "every 0 list: cut", "list 1: status x",
        "start 1: cut", "start 0: purge"}) {
    try {
      FaultScript script(std::string("# good\nlist 1: cut\n") + line);
      ADD_FAILURE() << line;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr(line));
    }
  }
}

TEST(FakeFaults, ARequestMeetsWhatIsDue) {
  FaultScript script("submit 2: cut\nsubmit 3+: delay 5ms\nafter 10ms: purge");
  EXPECT_THAT(script.meet(Asked::kSubmit, milliseconds(0)), IsEmpty());
  EXPECT_THAT(script.meet(Asked::kList, milliseconds(0)), IsEmpty());
  ASSERT_THAT(script.meet(Asked::kSubmit, milliseconds(0)), SizeIs(1));
  EXPECT_EQ(script.meet(Asked::kSubmit, milliseconds(0)).at(0).number, 5);
  EXPECT_THAT(script.due(milliseconds(9), 0), IsEmpty());
  EXPECT_THAT(script.due(milliseconds(10), 0), SizeIs(1));
  EXPECT_THAT(script.due(milliseconds(11), 0), IsEmpty()) << "only once";
}

TEST(FakeFaults, SomeLastForATimeFromTheirFirstRequestOn) {
  FaultScript script("list 2 for 10ms: cut");
  EXPECT_THAT(script.meet(Asked::kList, milliseconds(100)), IsEmpty());
  EXPECT_THAT(script.meet(Asked::kList, milliseconds(200)), SizeIs(1));
  EXPECT_THAT(script.meet(Asked::kSubmit, milliseconds(205)), IsEmpty());
  EXPECT_THAT(script.meet(Asked::kList, milliseconds(209)), SizeIs(1));
  EXPECT_THAT(script.meet(Asked::kList, milliseconds(210)), IsEmpty());
}

TEST(FakeFaults, SomeHappenWhenAJobHasStarted) {
  FaultScript script("start 2 later 10ms: kill-node");
  EXPECT_THAT(script.due(milliseconds(100), 1), IsEmpty());
  EXPECT_THAT(script.due(milliseconds(200), 2), IsEmpty());
  EXPECT_THAT(script.due(milliseconds(209), 2), IsEmpty());
  EXPECT_THAT(script.due(milliseconds(210), 2), SizeIs(1));
  EXPECT_THAT(script.due(milliseconds(500), 3), IsEmpty());
}

}  // namespace
}  // namespace tests
