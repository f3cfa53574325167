// An hour of virtual time on a cluster of eight places, with two users who do what they can to hold
// up a third.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "scheduler/errors.h"
#include "scheduler/files/file_io.h"
#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {
namespace {

using slurm::JobState;
using std::chrono::milliseconds;
using testing::SizeIs;

constexpr int kPlaces = 8;
constexpr int64_t kSearch = 60'000;  // ms that one takes
constexpr int64_t kHour = 3'600'000;
constexpr milliseconds kStep{2'000};
constexpr int64_t kListing = 10'000;  // ms between two listings of the cluster's jobs
constexpr int kRequestsAMinute = 120;

// What an item's job does, or what is done to it.
enum class Kind {
  kSearches,
  kBeginsNextWeek,
  kClosedPartition,
  kFullQos,
  kWholeNode,
  kCrashes,
  kDeepManifest,
  kDeepProgress,
  kReplacedByLink,
  kRemoved,
};

constexpr Kind kBad[] = {Kind::kBeginsNextWeek, Kind::kClosedPartition, Kind::kFullQos,
                         Kind::kWholeNode,      Kind::kCrashes,         Kind::kDeepManifest,
                         Kind::kDeepProgress,   Kind::kReplacedByLink,  Kind::kRemoved};

class DaemonMaliceTest : public SlurmFixture {
 protected:
  // How long each of the good user's items took, in ms, in the order of their arrival.
  std::vector<int64_t> hour(bool malicious) {
    config_.slurm.max_jobs = 40;
    restart();
    cluster_.first_state = JobState::kPending;
    cluster_.counts_requests = true;
    cluster_.refusal = slurm::Refusal::kBusy;
    cluster_.refusal_message = "Job violates accounting/QOS policy (job submit limit)";
    cluster_.refuses = [this](const slurm::JobRequest& request) {
      const bool full = kind_of(request.name) == Kind::kFullQos;
      if (full) ++counts_[Kind::kFullQos];
      return full;
    };
    for (now_ = 0; now_ < kHour; now_ += kStep.count()) {
      if (now_ % 300'000 == 0) arrive(malicious);
      if (malicious && now_ % 10'000 == 0) pester();
      run_the_cluster();
      step_the_daemon();
    }
    for (const auto& [id, kind] : kinds_) {
      const bool away = kind == Kind::kRemoved || kind == Kind::kReplacedByLink;
      if (away && !item(id).reason.empty()) ++counts_[kind];
    }
    std::vector<int64_t> took;
    for (const int64_t id : good_)
      took.push_back(ended_.contains(id) ? ended_[id] - came_[id] : -1);
    return took;
  }

  Kind kind_of(const std::string& token) {
    const size_t end = token.rfind("-a");
    return kinds_[std::stoll(token.substr(token.rfind('-', end - 1) + 1))];
  }

  // Every five minutes each of the bad users adds nine items, before the good one adds four.
  void arrive(bool malicious) {
    for (const Caller& bad : bad_users_) {
      for (const Kind kind : kBad) add(bad, malicious ? kind : Kind::kSearches);
    }
    for (int i = 0; i < 4; ++i) good_.push_back(add(good_user_, Kind::kSearches));
  }

  int64_t add(const Caller& caller, Kind kind) {
    user_ = caller;
    const std::string name = std::to_string(++made_) + ".mrc";
    const int64_t id = enqueue(name).id;
    kinds_[id] = kind;
    came_[id] = now_;
    const std::string path = folder_.file(name);
    if (kind == Kind::kBeginsNextWeek) give_options(id, {{"begin", "now+7days"}});
    if (kind == Kind::kClosedPartition) give_options(id, {{"partition", "closed"}});
    if (kind == Kind::kWholeNode) give_options(id, {{"exclusive", ""}, {"mem", "900G"}});
    if (kind == Kind::kFullQos) give_options(id, {{"qos", "full"}});
    if (kind == Kind::kRemoved || kind == Kind::kReplacedByLink) std::filesystem::remove(path);
    if (kind == Kind::kReplacedByLink) std::filesystem::create_symlink("/etc/shadow", path);
    return id;
  }

  // Everything that the commands allow, and what they do not.
  void pester() {
    for (const Caller& bad : bad_users_) {
      for (int i = 0; i < 5; ++i) {
        const int64_t id = 1 + (now_ / 10'000 * 7 + i * 13) % made_;
        command([&] { commands_->hold(bad, id); });
        command([&] { commands_->release(bad, id); });
        command([&] { commands_->promote(bad, id, db::Priority::kLow); });
        command([&] { commands_->promote(bad, id, db::Priority::kNormal); });
        retry_as(bad, id);
        if (i == 0) command([&] { commands_->cancel(bad, id); });
      }
    }
  }
  // With the file that `margay retry` would pass open.
  void retry_as(const Caller& bad, int64_t id) {
    const std::string path = item(id).micrograph_path;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path))) return;
    command([&] { commands_->retry(bad, id, {.micrograph = file_facts(path)}); });
  }
  void command(const std::function<void()>& action) {
    try {
      action();
    } catch (const CommandError&) {
      ++refused_;
    }
  }

  // Why Slurm starts none of these within the hour; empty when it does.
  static std::string stuck_by(Kind kind) {
    if (kind == Kind::kBeginsNextWeek) return "BeginTime";
    if (kind == Kind::kClosedPartition) return "PartitionDown";
    return kind == Kind::kWholeNode ? "Resources" : "";
  }

  void run_the_cluster() {
    int running = 0;
    for (slurm::JobStatus& job : cluster_.jobs) {
      if (job.state == JobState::kRunning && now_ - started_[job.job_id] >= kSearch) end(job);
      if (job.state == JobState::kRunning) ++running;
    }
    for (slurm::JobStatus& job : cluster_.jobs) {
      if (job.state != JobState::kPending || job.held) continue;
      const Kind kind = kind_of(job.name);
      if (!stuck_by(kind).empty()) {
        ++counts_[kind];
        job.reason = stuck_by(kind);
      } else if (running >= kPlaces) {
        job.reason = "Resources";
      } else {
        job.state = JobState::kRunning;
        job.reason.clear();
        started_[job.job_id] = now_;
        ++running;
      }
    }
    for (const std::string& id : cluster_.cancelled) {
      for (slurm::JobStatus& job : cluster_.jobs) {
        if (job.job_id == id && job.state == JobState::kPending) job.state = JobState::kCancelled;
      }
    }
    cluster_.cancelled.clear();
  }

  void end(slurm::JobStatus& job) {
    const db::Attempt attempt = db::AttemptStore(*database_).find_by_token(job.name).value();
    const std::string deep(200'000, '[');
    ++counts_[kind_of(job.name)];
    switch (kind_of(job.name)) {
      case Kind::kCrashes:
        job.state = JobState::kFailed;
        job.exit_code = 139;
        return;
      case Kind::kDeepManifest:
        std::ofstream(attempt.directory + "/manifest.json") << deep;
        break;
      case Kind::kDeepProgress:
        std::ofstream(attempt.directory + "/progress.json") << deep;
        job.state = JobState::kFailed;
        job.exit_code = 1;
        return;
      default:
        leave_manifest(attempt);
    }
    job.state = JobState::kCompleted;
    job.exit_code = 0;
  }

  void step_the_daemon() {
    // Of the site's budget; a listing every ten seconds is the cluster's own.
    cluster_.requests_left = std::min(kRequestsAMinute / 6, cluster_.requests_left + 4);
    cluster_.fresh = now_ % kListing == 0;
    clock_.pass(kStep);
    daemon_->tick();
    for (const int64_t id : good_) {
      if (!ended_.contains(id) && item(id).state == db::ItemState::kDone) ended_[id] = now_;
    }
  }

  const Caller good_user_{.uid = 1000, .name = "ann"};
  const std::vector<Caller> bad_users_ = {{.uid = 1001, .name = "mal"},
                                          {.uid = 1002, .name = "eve"}};
  int64_t now_ = 0;
  int made_ = 0;
  int refused_ = 0;
  std::vector<int64_t> good_;
  std::map<int64_t, Kind> kinds_;
  std::map<Kind, int> counts_;  // how often one had its effect
  std::map<int64_t, int64_t> came_, ended_;
  std::map<std::string, int64_t> started_;
};

// The same hour, in which the other two want nothing but their searches.
class HonestHour : public DaemonMaliceTest {
 public:
  using DaemonMaliceTest::hour;
  void TestBody() override {}
};

TEST_F(DaemonMaliceTest, TwoMaliciousUsersDoNotHoldUpAThird) {
  const std::vector<int64_t> beside_malice = hour(true);
  const std::vector<int64_t> beside_honest = HonestHour().hour(false);
  ASSERT_THAT(beside_malice, SizeIs(48));
  for (size_t i = 0; i < beside_malice.size(); ++i) {
    EXPECT_GT(beside_malice[i], 0) << "not done";
    EXPECT_LE(beside_malice[i], beside_honest[i] + kListing);
  }
  EXPECT_EQ(daemon_->status().pause_reason, "");
  // What was tried was tried.
  for (const Kind kind : kBad) EXPECT_GT(counts_[kind], 0);
  EXPECT_GT(refused_, 1000);
}

}  // namespace
}  // namespace scheduler
