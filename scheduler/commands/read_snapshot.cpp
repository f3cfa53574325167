#include "scheduler/commands/read_snapshot.h"

#include <algorithm>

#include "db/queue.h"
#include "scheduler/script/job_script.h"
#include "scheduler/states/lanes.h"
#include "slurm/job_states.h"
#include "slurm/sbatch/values.h"

namespace scheduler {
namespace {

std::map<std::string, std::string> places_in(const slurm::Directives& asks) {
  std::map<std::string, std::string> places;
  for (const auto& [option, value] : asks) {
    if (is_place(option)) places.emplace(option, value);
  }
  return places;
}

std::map<std::string, std::string> options_of_class(db::Priority priority,
                                                    const ClusterLimits& limits) {
  const auto found = limits.class_options.find(priority);
  return found == limits.class_options.end() ? std::map<std::string, std::string>() : found->second;
}

// What the item itself asks for, and else its class.
std::map<std::string, std::string> with_place_of_class(db::Priority priority,
                                                       std::map<std::string, std::string> options,
                                                       const ClusterLimits& limits) {
  options.merge(places_in(options_of_class(priority, limits)));
  return options;
}

// A class whose jobs ask for something else than a place is refused by itself, too.
std::string own_kind(db::Priority priority, const ClusterLimits& limits) {
  std::string kind;
  if (limits.urgent && priority == db::Priority::kUrgent) kind = "shape " + limits.urgent_lane;
  const auto options = options_of_class(priority, limits);
  if (std::all_of(options.begin(), options.end(),
                  [](const auto& option) { return is_place(option.first); }))
    return kind;
  return kind + (kind.empty() ? "" : ", ") + "class " + to_string(priority);
}

}  // namespace

void add_places(const Config& config, ClusterLimits& limits) {
  if (!facts_of(config.cluster).takes_options) return;
  limits.plain_place = places_in(directives_of(config, config.slurm.shape, {}));
  for (const auto& [priority, options] : config.policy.classes) {
    if (!options.options.empty()) limits.class_options[priority] = options.options;
  }
}

bool asks_for_more_than_mail(const std::map<std::string, std::string>& options) {
  return std::any_of(options.begin(), options.end(), [](const auto& option) {
    return option.first != "job-name" && !option.first.starts_with("mail-");
  });
}

bool asks_for_width(const std::map<std::string, std::string>& options) {
  for (const char* option : {"nodes", "gpus", "gpus-per-node", "gpus-per-task"}) {
    if (options.count(option) != 0) return true;
  }
  // Scratch space and the like only add to the shape's GPUs.
  const auto gres = options.find("gres");
  return gres != options.end() && (gres->second == "none" || slurm::gpus_of_gres(gres->second) > 0);
}

bool asks_for_room(const std::map<std::string, std::string>& options) {
  std::map<std::string, std::string> room = options;
  room.erase("time");
  return !size_of(room).empty();
}

// What its own options may be to blame for is no matter of its class, nor is a job that somebody
// holds. Other plain jobs that cannot start stop their class, since the next could not start
// either. A job that Margay itself holds until its number is stored waits for its turn.
bool is_stuck(const db::OpenAttempt& attempt, bool own_options) {
  if (attempt.state != db::AttemptState::kPending || attempt.stop_asked || attempt.release_due) {
    return false;
  }
  switch (slurm::what_it_waits_for(attempt.cluster_reason)) {
    case slurm::WaitsFor::kTurn:
      return false;
    case slurm::WaitsFor::kPlace:
      return own_options;
    case slurm::WaitsFor::kJob:
      return own_options || slurm::says_held(attempt.cluster_reason);
  }
  return false;
}

std::string lane_of_item(db::Priority priority, const std::map<std::string, std::string>& options,
                         const ClusterLimits& limits) {
  return lane_of(with_place_of_class(priority, options, limits), limits.plain_place,
                 own_kind(priority, limits));
}

ItemAsks asks_of(db::Priority priority, const std::map<std::string, std::string>& options,
                 const ClusterLimits& limits) {
  ItemAsks asks{.own_options = asks_for_more_than_mail(options),
                .own_width = asks_for_width(options),
                .own_room = asks_for_room(options),
                .lane = lane_of_item(priority, options, limits),
                .size = size_of(options)};
  for (const auto& option : options) {
    if (is_place(option.first)) asks.place.insert(option);
  }
  return asks;
}

const db::LanePause* paused_by(const std::vector<db::LanePause>& pauses, db::Priority priority,
                               const std::map<std::string, std::string>& options,
                               const ClusterLimits& limits) {
  if (pauses.empty()) return nullptr;
  std::map<std::string, std::string> place = with_place_of_class(priority, options, limits);
  place.insert(limits.plain_place.begin(), limits.plain_place.end());
  const auto found = std::find_if(pauses.begin(), pauses.end(), [&](const auto& pause) {
    return is_in_lane(place, pause.place);
  });
  return found == pauses.end() ? nullptr : &*found;
}

}  // namespace scheduler
