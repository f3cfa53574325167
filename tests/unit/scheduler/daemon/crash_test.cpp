// The process ends at every named point, with every fault of the cluster: nothing may be lost or
// run twice. Jobs are counted by the cluster, never by the daemon's own database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "scheduler/crash_point.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

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
    if (std::count(cluster_.cancelled.begin(), cluster_.cancelled.end(), job.job_id) > 0) {
      job.state = slurm::JobState::kCancelled;
      job.exit_code = 85;
      return;
    }
    if (job.job_id == orphan_) return;
    const auto& signalled = cluster_.signalled;
    if (std::count(signalled.begin(), signalled.end(), job.job_id) > 0) {
      job.state = slurm::JobState::kFailed;
      job.exit_code = 85;
      const auto stopped = db::AttemptStore(*database_).find_by_token(job.name);
      std::ofstream(stopped->directory + "/checkpoint.mgc") << "units";
      return;
    }
    const auto owner = db::AttemptStore(*database_).find_by_token(job.name);
    ASSERT_TRUE(owner) << "a job that was not announced before: " << job.name;
    if (++age_[job.job_id] < 2) return;
    job.state = slurm::JobState::kCompleted;
    job.exit_code = 0;
    ++runs_[owner->item_id];
    leave_manifest(*owner);
  }

  std::string orphan_;  // id of a job that the database does not know
  std::map<std::string, int> age_;
  std::map<int64_t, int> runs_;
};

enum class Scene {
  kLocal,
  kWide,     // jobs of several nodes, submitted held
  kOrphan,   // a job runs that the database does not know
  kPromoted  // an item runs on one device and is promoted
};

struct Case {
  std::string point;
  Fault fault = Fault::kAccept;
  Scene scene = Scene::kLocal;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.point; }

class EveryCrashTest : public CrashTest, public testing::WithParamInterface<Case> {
 protected:
  void set_the_scene() {
    if (GetParam().scene == Scene::kWide) {
      config_.cluster = ClusterKind::kSlurm;
      config_.slurm.shape = Shape::kNodes;
    }
    if (GetParam().scene == Scene::kPromoted) {
      config_.cluster = ClusterKind::kSlurm;
      config_.slurm.urgent_shape = Shape::kNodes;
    }
    if (GetParam().scene == Scene::kOrphan) {
      orphan_ = cluster_.add("margay-" + database_->instance() + "-77-a1");
    }
  }
};

TEST_P(EveryCrashTest, EachItemRunsExactlyOnce) {
  set_the_scene();
  const std::vector<int64_t> ids = {enqueue("a.mrc").id, enqueue("b.mrc").id};
  if (GetParam().scene == Scene::kPromoted) {
    restart();
    ticks(2);
    for (const auto id : ids) commands_->promote(user_, id, db::Priority::kUrgent);
  }
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
    if (GetParam().scene == Scene::kPromoted) {
      EXPECT_EQ(attempt(id).gpus, 16) << "its last job is wide";
      EXPECT_EQ(attempt(id).resume_from, attempts(id)[0].directory + "/checkpoint.mgc");
    }
  }
  EXPECT_TRUE(db::AttemptStore(*database_).open().empty());
  for (const auto& job : cluster_.jobs) {
    EXPECT_FALSE(job.held) << "a job that nobody released";
    EXPECT_NE(job.state, slurm::JobState::kRunning);
  }
}

bool has(const std::string& point, const char* word) {
  return point.find(word) != std::string::npos;
}

// Stopping needs a promoted item. Adopting and giving up need a submission whose answer or request
// was lost; releasing one that was held.
bool belongs_to(const std::string& point, Scene scene) {
  if (has(point, "cancel")) return scene == Scene::kOrphan;
  if (has(point, "-stop")) return scene == Scene::kPromoted;
  if (has(point, "release")) return scene == Scene::kWide || scene == Scene::kPromoted;
  return scene != Scene::kOrphan;
}

std::vector<Case> cases_of(const std::string& point) {
  std::vector<Case> cases;
  const bool adopt = has(point, "adopt");
  const bool never = has(point, "never-started");
  for (const Scene scene : {Scene::kLocal, Scene::kWide, Scene::kOrphan, Scene::kPromoted}) {
    if (!belongs_to(point, scene)) continue;
    if (!adopt && !never) cases.push_back({point, Fault::kAccept, scene});
    if (scene == Scene::kPromoted && !has(point, "-stop")) continue;
    if (!never) cases.push_back({point, Fault::kAcceptAndLoseAnswer, scene});
    if (!adopt) cases.push_back({point, Fault::kLoseRequest, scene});
  }
  return cases;
}

std::vector<Case> every_case() {
  std::vector<Case> cases;
  for (const std::string& point : crash_point_names()) {
    if (has(point, "command")) continue;
    for (const Case& one : cases_of(point)) cases.push_back(one);
  }
  return cases;
}

std::string word_of(Scene scene) {
  switch (scene) {
    case Scene::kLocal:
      return "";
    case Scene::kWide:
      return "_wide";
    case Scene::kOrphan:
      return "_orphan";
    case Scene::kPromoted:
      return "_promoted";
  }
  return "";
}

std::string word_of(Fault fault) {
  switch (fault) {
    case Fault::kAccept:
      return "";
    case Fault::kAcceptAndLoseAnswer:
      return "_answer_lost";
    case Fault::kLoseRequest:
      return "_request_lost";
    case Fault::kReject:
      return "_rejected";
    case Fault::kThrowAfterAccepting:
      return "_thrown";
  }
  return "";
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.point;
  std::replace(name.begin(), name.end(), '-', '_');
  return name + word_of(info.param.scene) + word_of(info.param.fault);
}

INSTANTIATE_TEST_SUITE_P(Points, EveryCrashTest, testing::ValuesIn(every_case()), case_name);

TEST_F(CrashTest, AnEnqueueThatEndsBeforeItsCommitLeavesNothing) {
  restart_with_crash_at("before-command-commit");
  EXPECT_THROW(enqueue("a.mrc"), Crash);
  restart();
  EXPECT_TRUE(db::ItemStore(*database_).list({}).empty());
  EXPECT_NO_THROW(enqueue("a.mrc"));
}

TEST_F(CrashTest, AnEnqueueThatEndsAfterItsCommitIsThereOnce) {
  restart_with_crash_at("after-command-commit");
  EXPECT_THROW(enqueue("a.mrc"), Crash);
  restart();
  ASSERT_EQ(db::ItemStore(*database_).list({}).size(), 1u);
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
