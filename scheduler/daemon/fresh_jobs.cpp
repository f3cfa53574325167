#include "scheduler/daemon/fresh_jobs.h"

#include <algorithm>

#include "scheduler/daemon/job_requests.h"

namespace scheduler {
namespace {

constexpr int kLooksAtOneJob = 3;
constexpr int64_t kFirstLookMs = 1000;

}  // namespace

void FreshJobs::submitted(const JobStart& start, const std::string& job_id, int64_t now_ms) {
  Group& group = groups_[{start.priority, start.lane, start.apart}];
  ++group.count;
  group.newest = job_id;
  group.looks = 0;
  group.next_ms = now_ms + kFirstLookMs;
}

void FreshJobs::look(slurm::Cluster& cluster, db::Priority priority, int64_t now_ms) {
  for (auto& [key, group] : groups_) {
    const bool due = group.started < group.count && group.looks < kLooksAtOneJob;
    if (std::get<db::Priority>(key) != priority || !due || now_ms < group.next_ms) continue;
    if (cluster.allowance() <= kKeptByLookups) return;
    ++group.looks;
    group.next_ms = now_ms + (kFirstLookMs << group.looks);
    const auto state = cluster.look(group.newest);
    const bool waits =
        !state || *state == slurm::JobState::kPending || *state == slurm::JobState::kUnknownAlive;
    if (!waits) group.started = group.count;
  }
}

void FreshJobs::apply(QueueSnapshot& snapshot) const {
  for (const auto& [key, group] : groups_) {
    const auto& apart = std::get<std::optional<int64_t>>(key);
    const auto priority = std::get<db::Priority>(key);
    int& waiting = apart ? snapshot.pending_apart[{priority, *apart}] : snapshot.pending[priority];
    const int started = std::min(group.started, waiting);
    waiting -= started;
    snapshot.running += started;
  }
}

void FreshJobs::listed() {
  for (auto& [key, group] : groups_) {
    group.count -= group.started;
    group.started = 0;
  }
  std::erase_if(groups_, [](const auto& entry) {
    return entry.second.count == 0 || entry.second.looks == kLooksAtOneJob;
  });
}

}  // namespace scheduler
