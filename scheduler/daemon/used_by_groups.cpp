#include "scheduler/daemon/used_by_groups.h"

#include <algorithm>
#include <utility>

namespace scheduler {
namespace {

// Seconds. What is older counts less than a thousandth.
constexpr double kOldestUse = 10 * kHalfLifeOfUse;
constexpr int64_t kSlack = 60;  // seconds by which a clock may be corrected

double share_of(const Config& config, const std::string& group) {
  const auto found = config.policy.shares.find(group);
  return found == config.policy.shares.end() ? 1 : found->second;
}

// Of the searches whose time is known; 1 where none is.
double mean_work(const QueueSnapshot& snapshot) {
  double sum = 0;
  int known = 0;
  for (const auto& time : snapshot.times) {
    if (!time) continue;
    sum += time->work;
    ++known;
  }
  return known == 0 ? 1 : sum / known;
}

}  // namespace

// Items that were enqueued before their groups were kept have none: what they used is nobody's, or
// else those that still wait would go last for what all users used together.
void UsedByGroups::add(const std::vector<db::UsedGpus>& attempts, int64_t now) {
  for (const db::UsedGpus& attempt : attempts) {
    if (attempt.ended > 0 && attempt.seconds > 0 && !attempt.group.empty()) {
      used_.add(attempt.group, std::min(attempt.ended, now), attempt.seconds);
    }
  }
}

void UsedByGroups::look(int64_t now) {
  const db::UsedGpusStore store(context_.database);
  // If this look fails half-way, the next one begins anew: nothing may count twice.
  // After the clock was set back all is read anew: what was added counts from a later time.
  const bool had_looked = std::exchange(has_looked_, false) && now >= looked_at_ - kSlack;
  const std::vector<int64_t> open = store.open();
  const int64_t newest = store.newest_attempt();
  if (!had_looked) {
    used_ = {};
    add(store.ended_after(now - static_cast<int64_t>(kOldestUse)), now);
  } else {
    for (const int64_t id : open_) {
      if (!std::binary_search(open.begin(), open.end(), id)) add(store.of(id), now);
    }
    if (newest > newest_) add(store.after(newest_), now);
  }
  open_ = open;
  newest_ = newest;
  looked_at_ = now;
  has_looked_ = true;
}

void UsedByGroups::add_to(QueueSnapshot& snapshot) {
  if (snapshot.groups.size() <= 1) return;
  look(snapshot.now);
  for (GroupUse& group : snapshot.groups) {
    group.gpu_seconds = used_.of(group.name, snapshot.now);
    group.share = share_of(context_.config, group.name);
  }
  snapshot.usual_job_seconds = used_.usual_job().value_or(mean_work(snapshot));
}

}  // namespace scheduler
