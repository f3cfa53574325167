#include "scheduler/daemon/used_by_groups.h"

#include <algorithm>
#include <utility>

namespace scheduler {
namespace {

// Seconds. What is older counts less than a thousandth.
constexpr double kOldestUse = 10 * kHalfLifeOfUse;

double share_of(const Config& config, const std::string& group) {
  const auto found = config.policy.shares.find(group);
  return found == config.policy.shares.end() ? 1 : found->second;
}

}  // namespace

void UsedByGroups::add(const std::vector<db::UsedGpus>& attempts) {
  for (const db::UsedGpus& attempt : attempts) {
    if (attempt.ended > 0 && attempt.seconds > 0) {
      used_.add(attempt.group, attempt.ended, attempt.seconds);
    }
  }
}

void UsedByGroups::look(int64_t now) {
  const db::UsedGpusStore store(context_.database);
  // If this look fails half-way, the next one begins anew: nothing may count twice.
  const bool had_looked = std::exchange(has_looked_, false);
  const std::vector<int64_t> open = store.open();
  const int64_t newest = store.newest_attempt();
  if (!had_looked) {
    used_ = {};
    add(store.ended_after(now - static_cast<int64_t>(kOldestUse)));
  } else {
    for (const int64_t id : open_) {
      if (!std::binary_search(open.begin(), open.end(), id)) add(store.of(id));
    }
    if (newest > newest_) add(store.after(newest_));
  }
  open_ = open;
  newest_ = newest;
  has_looked_ = true;
}

void UsedByGroups::add_to(QueueSnapshot& snapshot) {
  if (snapshot.groups.size() <= 1) return;
  look(snapshot.now);
  for (GroupUse& group : snapshot.groups) {
    group.gpu_seconds = used_.of(group.name, snapshot.now);
    group.share = share_of(context_.config, group.name);
  }
  snapshot.usual_job_seconds = used_.usual_job();
}

}  // namespace scheduler
