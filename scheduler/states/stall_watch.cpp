#include "scheduler/states/stall_watch.h"

#include <algorithm>

namespace scheduler {
namespace {

using std::chrono::milliseconds;

bool is_same(const std::optional<ProgressSeen>& a, const std::optional<ProgressSeen>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->done == b->done && a->state == b->state;
}

std::string seconds_text(milliseconds time) {
  return std::to_string(std::chrono::round<std::chrono::seconds>(time).count()) + " s";
}

bool is_batch(const std::optional<ProgressSeen>& progress) {
  return progress && progress->state == "running";
}

}  // namespace

milliseconds StallWatch::limit_of(const Search& search) const {
  if (!search.progress || search.progress->state == "starting") return 2 * floor_;
  if (!is_batch(search.progress)) return 10 * floor_;
  return std::max(floor_, 10 * search.longest);
}

std::string StallWatch::look(int64_t attempt_id, const std::optional<ProgressSeen>& progress,
                             int64_t now_ms) {
  if (floor_.count() <= 0) return "";
  const auto [known, first] = searches_.try_emplace(attempt_id, Search{progress, now_ms});
  if (first) return "";
  Search& search = known->second;
  // A machine that slept makes no search stall.
  const milliseconds passed =
      std::clamp(milliseconds(now_ms - search.looked_ms), milliseconds(0), floor_ / 4);
  search.looked_ms = now_ms;
  search.still += passed;
  if (!progress && search.progress) {
    search.still = milliseconds(0);
    return "";
  }
  if (!is_same(search.progress, progress)) {
    if (is_batch(search.progress)) search.longest = std::max(search.longest, search.still);
    search.still = milliseconds(0);
    search.progress = progress;
    return "";
  }
  if (search.still < limit_of(search)) return "";
  std::string why = "no progress for " + seconds_text(search.still);
  if (is_batch(progress) && search.longest.count() > 0) {
    why += ", many times as long as its longest batch (" + seconds_text(search.longest) + ")";
  }
  return why;
}

}  // namespace scheduler
