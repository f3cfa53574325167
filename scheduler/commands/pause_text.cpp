#include "scheduler/commands/pause_text.h"

#include "db/pauses.h"

namespace scheduler {

std::string pause_text(db::Database& database) {
  const auto pause = db::PauseStore(database).find();
  if (!pause) return "";
  return "paused by " + pause->who + (pause->reason.empty() ? "" : ": " + pause->reason) +
         "; `margay resume` ends the pause";
}

}  // namespace scheduler
