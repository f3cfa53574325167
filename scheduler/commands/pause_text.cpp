#include "scheduler/commands/pause_text.h"

#include "db/pauses.h"
#include "scheduler/states/lanes.h"

namespace scheduler {

std::string pause_text(db::Database& database) {
  const auto pause = db::PauseStore(database).find();
  if (!pause) return "";
  return "paused by " + pause->who + (pause->reason.empty() ? "" : ": " + pause->reason) +
         "; `margay resume` ends the pause";
}

std::string pause_text(const db::LanePause& pause) {
  std::string options;
  for (const auto& [option, value] : pause.place) options += " --" + option + " " + value;
  return lane_of(pause.place, {}, "") + " is paused by " + pause.who +
         (pause.reason.empty() ? "" : ": " + pause.reason) + "; `margay resume" + options +
         "` ends the pause";
}

std::map<std::string, std::string> paused_lanes(db::Database& database) {
  std::map<std::string, std::string> lanes;
  for (const db::LanePause& pause : db::PauseStore(database).lanes()) {
    lanes[lane_of(pause.place, {}, "")] = pause_text(pause);
  }
  return lanes;
}

}  // namespace scheduler
