// The administrator stops and resumes the submission of jobs, of all or of one lane.

#include "db/pauses.h"

#include "scheduler/commands/commands.h"
#include "scheduler/states/lanes.h"

namespace scheduler {
namespace {

constexpr size_t kLongestReason = 200;

void check_may_pause(const Caller& caller) {
  if (caller.privileged) return;
  throw NotPermitted("only root or the daemon's own user may pause and resume the queue");
}

}  // namespace

void Commands::pause(const Caller& caller, const std::string& reason, const ItemOptions& lane) {
  check_may_pause(caller);
  if (reason.size() > kLongestReason) {
    throw Invalid("the reason has " + std::to_string(reason.size()) + " bytes; at most " +
                  std::to_string(kLongestReason) + " are kept");
  }
  check_lane(lane);
  db::Transaction transaction(database_);
  db::PauseStore pauses(database_);
  if (lane.empty()) {
    pauses.set(
        db::Pause{.uid = caller.uid, .who = caller.name, .reason = reason, .since = clock_.now()});
  } else {
    pauses.set_lane({.place = lane,
                     .uid = caller.uid,
                     .who = caller.name,
                     .reason = reason,
                     .since = clock_.now()});
  }
  const std::string name = lane_of(lane, {}, "");
  audit(caller, "pause", 0, name + (name.empty() || reason.empty() ? "" : ": ") + reason);
  commit(transaction);
}

bool Commands::resume(const Caller& caller, const ItemOptions& lane) {
  check_may_pause(caller);
  check_lane(lane);
  db::Transaction transaction(database_);
  db::PauseStore pauses(database_);
  if (!(lane.empty() ? pauses.clear() : pauses.clear_lane(lane))) return false;
  audit(caller, "resume", 0, lane_of(lane, {}, ""));
  commit(transaction);
  return true;
}

}  // namespace scheduler
