// The process ends at every named point, with every fault of the cluster: nothing may be lost or
// run twice. Jobs are counted by the cluster, never by the daemon's own database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "scheduler/crash_point.h"
#include "tests/unit/scheduler/daemon_fixture.h"

namespace scheduler {
namespace {

using Fault = tests::FakeCluster::Fault;

class CrashTest : public DaemonFixture {
 protected:
  // Ends what runs and ticks until every item is DONE; restarts after each crash.
  void run_to_the_end(const std::vector<int64_t>& ids) {
    for (int round = 0; round < 200; ++round) {
      if (!tick()) {
        restart();
        continue;
      }
      bool all_done = true;
      for (const auto id : ids) all_done = all_done && item(id).state == db::ItemState::kDone;
      if (all_done) return;
      for (auto& job : cluster_.jobs) end_job(job);
    }
    FAIL() << "not every item ended";
  }

  // Each job runs for a round and leaves its result; it is counted the moment it ends.
  void end_job(slurm::JobStatus& job) {
    if (job.state != slurm::JobState::kRunning) return;
    const auto owner = db::AttemptStore(*database_).find_by_token(job.name);
    ASSERT_TRUE(owner) << "a job that was not announced before: " << job.name;
    if (++age_[job.job_id] < 2) return;
    const bool cancelled =
        std::count(cluster_.cancelled.begin(), cluster_.cancelled.end(), job.job_id) > 0;
    job.state = cancelled ? slurm::JobState::kCancelled : slurm::JobState::kCompleted;
    job.exit_code = cancelled ? 85 : 0;
    if (cancelled) return;
    ++runs_[owner->item_id];
    leave_manifest(*owner);
  }

  std::map<std::string, int> age_;
  std::map<int64_t, int> runs_;
};

struct Case {
  std::string point;
  Fault fault = Fault::kAccept;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.point; }

class EveryCrashTest : public CrashTest, public testing::WithParamInterface<Case> {};

TEST_P(EveryCrashTest, EachItemRunsExactlyOnce) {
  const std::vector<int64_t> ids = {enqueue("a.mrc").id, enqueue("b.mrc").id};
  cluster_.faults = {GetParam().fault};
  restart_with_crash_at(GetParam().point);
  run_to_the_end(ids);
  EXPECT_THAT(reached_, testing::Contains(GetParam().point)) << "the point was not reached";
  std::set<std::string> names;
  for (const auto& request : cluster_.requests) {
    EXPECT_TRUE(names.insert(request.name).second) << request.name << " was submitted twice";
  }
  for (const auto id : ids) {
    EXPECT_EQ(runs_[id], 1) << "item " << id;
    ASSERT_TRUE(result(id));
    int accepted = 0;
    for (const auto& one : attempts(id)) accepted += one.state == db::AttemptState::kDone ? 1 : 0;
    EXPECT_EQ(accepted, 1);
  }
  EXPECT_TRUE(db::AttemptStore(*database_).open().empty());
}

std::vector<Case> every_case() {
  // Adopting and giving up need a submission whose answer or request was lost.
  std::vector<Case> cases;
  for (const std::string& point : crash_point_names()) {
    if (point.find("command") != std::string::npos) continue;
    const bool adopt = point.find("adopt") != std::string::npos;
    const bool never = point.find("never-started") != std::string::npos;
    if (!adopt && !never) cases.push_back({point, Fault::kAccept});
    if (!never) cases.push_back({point, Fault::kAcceptAndLoseAnswer});
    if (!adopt) cases.push_back({point, Fault::kLoseRequest});
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.point;
  std::replace(name.begin(), name.end(), '-', '_');
  switch (info.param.fault) {
    case Fault::kAccept:
      return name;
    case Fault::kAcceptAndLoseAnswer:
      return name + "_answer_lost";
    case Fault::kLoseRequest:
      return name + "_request_lost";
    case Fault::kReject:
      return name + "_rejected";
    case Fault::kThrowAfterAccepting:
      return name + "_thrown";
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Points, EveryCrashTest, testing::ValuesIn(every_case()), case_name);

TEST_F(CrashTest, AnEnqueueThatEndsBeforeItsCommitLeavesNothing) {
  restart_with_crash_at("before-command-commit");
  EXPECT_THROW(enqueue("a.mrc"), Crash);
  restart();
  EXPECT_TRUE(commands_->list({}).empty());
  EXPECT_NO_THROW(enqueue("a.mrc"));
}

TEST_F(CrashTest, AnEnqueueThatEndsAfterItsCommitIsThereOnce) {
  restart_with_crash_at("after-command-commit");
  EXPECT_THROW(enqueue("a.mrc"), Crash);
  restart();
  ASSERT_EQ(commands_->list({}).size(), 1u);
  EXPECT_THROW(enqueue("a.mrc"), Conflict);
}

TEST(CrashPoints, AnUnknownNameIsRefused) {
  EXPECT_THROW(abort_at("before-lunch"), std::invalid_argument);
  EXPECT_FALSE(abort_at(""));
}

TEST(CrashPointsDeathTest, TheProcessAbortsAtTheNthTime) {
  const CrashHook hook = abort_at("before-submit:2");
  hook("after-submit");
  hook("before-submit");
  EXPECT_DEATH(hook("before-submit"), "");
}

}  // namespace
}  // namespace scheduler
