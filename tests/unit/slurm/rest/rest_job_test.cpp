// One job: released, stopped, found by its name; and how many requests all that may cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "slurm/rest/rest_cluster.h"
#include "tests/unit/slurm/rest/rest_site.h"

namespace slurm {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

using RestJobTest = RestSite;
using RestNameTest = RestSite;

// --- one job -----------------------------------------------------------------------------------

TEST_F(RestJobTest, AHeldJobIsReleased) {
  const auto cluster = make_rest_cluster(options());
  EXPECT_TRUE(cluster->release("17"));
  ASSERT_THAT(asked("POST", "/slurm/v0.0.38/job/17"), SizeIs(1));
  EXPECT_EQ(Json::parse(asked("POST", "/slurm/v0.0.38/job/17").front().body),
            Json({{"hold", false}}));
  answers_["/slurm/v0.0.38/job/17"] = [](const auto&) { return json(error(2002, "denied")); };
  EXPECT_FALSE(cluster->release("17"));
}

TEST_F(RestJobTest, ACancelledJobIsNotAskedAgainWhileItEnds) {
  jobs_ = {job(17, "margay-test-1", "RUNNING")};
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(cluster->cancel("17"));
  EXPECT_THAT(asked("DELETE", "/slurm/v0.0.38/job/17"), SizeIs(1));
  pass(60'000);
  EXPECT_FALSE(cluster->cancel("17"));
  EXPECT_THAT(asked("DELETE", "/slurm/v0.0.38/job/17"), SizeIs(2));
  jobs_ = {job(17, "margay-test-1", "CANCELLED")};
  pass(10'000);
  cluster->states();
  EXPECT_TRUE(cluster->cancel("17"));
  EXPECT_THAT(asked("DELETE", "/slurm/v0.0.38/job/17"), SizeIs(2));
}

TEST_F(RestJobTest, AJobThatIsNotThereNeedsNoStopping) {
  const auto cluster = make_rest_cluster(options());
  answers_["/slurm/v0.0.38/job/17"] = [](const auto&) {
    return json(error(2017, "Invalid job id specified"), 500);
  };
  EXPECT_TRUE(cluster->cancel("17"));
  answers_["/slurm/v0.0.38/job/17"] = [](const auto&) { return json(error(2002, "denied"), 500); };
  EXPECT_FALSE(cluster->cancel("17"));
}

TEST_F(RestJobTest, AJobThatNoListingHasAfterItsCancelNeedsNoStopping) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  EXPECT_FALSE(cluster->cancel("17"));
  EXPECT_FALSE(cluster->cancel("17")) << "not looked at since";
  pass(10'000);
  cluster->states();
  EXPECT_TRUE(cluster->cancel("17"));
  EXPECT_THAT(asked("DELETE", "/slurm/v0.0.38/job/17"), SizeIs(1));
}

TEST_F(RestJobTest, AskingToStopSendsTheEngineItsSignal) {
  const auto cluster = make_rest_cluster(options());
  EXPECT_TRUE(cluster->signal_stop("17"));
  EXPECT_THAT(asked("DELETE", "/slurm/v0.0.38/job/17?signal=USR1"), SizeIs(1));
}

// --- by name -----------------------------------------------------------------------------------

TEST_F(RestNameTest, WithoutASnapshotNoNameIsKnown) {
  const auto cluster = make_rest_cluster(options());
  EXPECT_EQ(cluster->find_by_name("margay-test-1"), std::nullopt);
}

TEST_F(RestNameTest, AccountingKnowsWhatTheControllerForgot) {
  records_ = {record(3, "margay-test-1", "COMPLETED"), record(4, "margay-test-11", "RUNNING")};
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  EXPECT_THAT(cluster->find_by_name("margay-test-1"),
              Optional(ElementsAre(AllOf(Field(&JobStatus::job_id, "3"),
                                         Field(&JobStatus::state, JobState::kCompleted)))));
  EXPECT_THAT(asked("GET", "/slurmdb/v0.0.38/jobs?job_name=margay-test-1&"), SizeIs(1));
}

TEST_F(RestNameTest, WhatLivesInTheControllerIsNotEndedByAccounting) {
  jobs_ = {job(3, "margay-test-1", "RUNNING", 20)};
  records_ = {record(3, "margay-test-1", "NODE_FAIL", 5)};  // its run before the requeue
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  EXPECT_THAT(cluster->find_by_name("margay-test-1"),
              Optional(ElementsAre(Field(&JobStatus::state, JobState::kRunning))));
}

TEST_F(RestNameTest, AccountingHasTheLastWordOnAnEnd) {
  jobs_ = {job(3, "margay-test-1", "COMPLETED")};
  records_ = {record(3, "margay-test-1", "TIMEOUT")};
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  EXPECT_THAT(cluster->find_by_name("margay-test-1"),
              Optional(ElementsAre(Field(&JobStatus::state, JobState::kTimeout))));
}

TEST_F(RestNameTest, AnEndThatBothKnowIsThatOfTheController) {
  jobs_ = {job(3, "margay-test-1", "FAILED")};
  jobs_[0]["exit_code"] = 768;
  records_ = {record(3, "margay-test-1", "FAILED")};
  // As 22.05 has it, whatever the job's exit code was.
  records_[0]["exit_code"] = {{"status", "SUCCESS"}, {"return_code", 0}};
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  EXPECT_THAT(cluster->find_by_name("margay-test-1"),
              Optional(ElementsAre(Field(&JobStatus::exit_code, Optional(3)))));
}

TEST_F(RestNameTest, TwoJobsOfOneNameAreBothReturned) {
  jobs_ = {job(3, "margay-test-1", "RUNNING"), job(5, "margay-test-1", "PENDING")};
  records_ = {record(4, "margay-test-1", "CANCELLED")};
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  EXPECT_THAT(cluster->find_by_name("margay-test-1"), Optional(SizeIs(3)));
}

TEST_F(RestNameTest, AccountingThatFailsLeavesTheQuestionOpen) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  answers_["/slurmdb/"] = [](const auto&) { return json(error(7000, "slurmdbd is down"), 500); };
  EXPECT_EQ(cluster->find_by_name("margay-test-1"), std::nullopt);
}

TEST_F(RestNameTest, AccountingThatFoundNothingIsAnAnswer) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  answers_["/slurmdb/"] = [](const auto&) {
    Json body = error(9003, "Nothing found with query");
    body["jobs"] = Json::array();
    return json(body);
  };
  EXPECT_THAT(cluster->find_by_name("margay-test-1"), Optional(IsEmpty()));
}

TEST_F(RestNameTest, AccountingThatIsNotOfferedIsNotAsked) {
  offers_accounting_ = false;
  jobs_ = {job(3, "margay-test-1", "RUNNING")};
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  EXPECT_THAT(cluster->find_by_name("margay-test-1"), Optional(SizeIs(1)));
  EXPECT_THAT(asked("GET", "/slurmdb/"), IsEmpty());
}

TEST_F(RestNameTest, AccountingSwitchedOffIsNotAsked) {
  RestClusterOptions off = options();
  off.accounting = Accounting::kOff;
  const auto cluster = make_rest_cluster(off);
  cluster->states();
  EXPECT_THAT(cluster->find_by_name("margay-test-1"), Optional(IsEmpty()));
  EXPECT_THAT(asked("GET", "/slurmdb/"), IsEmpty());
}

TEST_F(RestNameTest, AccountingSwitchedOnIsAskedThoughItIsNotOffered) {
  offers_accounting_ = false;
  RestClusterOptions on = options();
  on.accounting = Accounting::kOn;
  answers_["/slurmdb/"] = [](const auto&) { return Answer{.status = 404, .body = "Unable"}; };
  const auto cluster = make_rest_cluster(on);
  cluster->states();
  EXPECT_EQ(cluster->find_by_name("margay-test-1"), std::nullopt);
}

// --- budget ------------------------------------------------------------------------------------

using RestBudgetTest = RestSite;

size_t most_requests_in_a_minute(const std::vector<int64_t>& times) {
  size_t most = 0;
  for (size_t first = 0, last = 0; last < times.size(); ++last) {
    while (times[first] <= times[last] - 60'000) ++first;
    most = std::max(most, last - first + 1);
  }
  return most;
}

TEST_F(RestBudgetTest, NoMinuteHasMoreRequestsThanTheSiteAllows) {
  std::vector<int64_t> times;
  answers_["/"] = [&](const Request& one) {
    times.push_back(steady_ms_);
    return usual(one);
  };
  for (const int per_minute : {6, 30, 120}) {
    times.clear();
    RestClusterOptions limited = options();
    limited.requests_per_minute = per_minute;
    const auto cluster = make_rest_cluster(limited);
    int refused = 0;
    for (int i = 0; i < 3000; ++i, pass(100)) {
      cluster->states();
      const SubmitResult result = cluster->submit(request("margay-test-" + std::to_string(i)));
      if (result.outcome != SubmitOutcome::kAccepted) {
        EXPECT_EQ(result.refusal, Refusal::kBusy) << result.message;
        ++refused;
      }
      cluster->cancel(std::to_string(i));
      cluster->nodes();
    }
    EXPECT_LE(most_requests_in_a_minute(times), per_minute);
    EXPECT_GT(refused, 0);
  }
}

TEST_F(RestBudgetTest, TheLastRequestsAreKeptForListings) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  while (cluster->allowance() > 0) cluster->signal_stop("1");
  EXPECT_FALSE(cluster->signal_stop("1"));
  const SubmitResult result = cluster->submit(request("margay-test-1"));
  EXPECT_EQ(result.refusal, Refusal::kBusy);
  EXPECT_THAT(result.message, HasSubstr("slurm.requests_per_minute"));
  EXPECT_THAT(asked("POST", "/"), IsEmpty());
  steady_ms_ += 10'000 - steady_ms_ % 10'000;
  EXPECT_TRUE(cluster->states().complete);
}

TEST_F(RestBudgetTest, WhatIsDescribedCountsTheRequests) {
  const auto cluster = make_rest_cluster(options());
  EXPECT_THAT(cluster->describe(), HasSubstr("0 of 120 requests in the last minute"));
  cluster->states();
  EXPECT_EQ(cluster->describe(), "Slurm 22.05.8 through slurmrestd v0.0.38 at " + server_.url() +
                                     ", as alice; 2 of 120 requests in the last minute");
  pass(60'001);
  EXPECT_THAT(cluster->describe(), HasSubstr("0 of 120 requests"));
}

TEST_F(RestBudgetTest, NodesAreCountedOnceAnHour) {
  answers_["/slurm/v0.0.38/nodes"] = [](const auto&) {
    return json(with_meta({{"nodes", {{{"name", "n01"}}, {{"name", "n02"}}}}}));
  };
  const auto cluster = make_rest_cluster(options());
  for (int i = 0; i < 60; ++i, pass(59'999)) EXPECT_EQ(cluster->nodes(), 2);
  EXPECT_THAT(asked("GET", "/slurm/v0.0.38/nodes"), SizeIs(1));
  pass(60'000);
  cluster->nodes();
  EXPECT_THAT(asked("GET", "/slurm/v0.0.38/nodes"), SizeIs(2));
}

TEST_F(RestBudgetTest, NodesThatCannotBeCountedAreNotKnown) {
  const auto cluster = make_rest_cluster(options());
  EXPECT_EQ(cluster->nodes(), 0);
}

}  // namespace
}  // namespace slurm
