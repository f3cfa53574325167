#include "scheduler/crash_point.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace scheduler {

const std::vector<std::string>& crash_point_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const std::string place :
         {"command-commit", "attempt-commit", "submit", "answer-commit", "release",
          "release-commit", "states-commit", "cancel", "stop-commit", "stop", "adopt-commit",
          "never-started-commit", "outcome-commit", "forget"}) {
      all.push_back("before-" + place);
      all.push_back("after-" + place);
    }
    return all;
  }();
  return names;
}

const std::vector<std::string>& housekeeping_points() {
  static const std::vector<std::string> names = {"before-removal", "moved-for-removal",
                                                 "after-removal", "before-retention-commit",
                                                 "after-retention-commit"};
  return names;
}

CrashHook abort_at(const std::string& armed) {
  if (armed.empty()) return {};
  const size_t colon = armed.find(':');
  const std::string name = armed.substr(0, colon);
  int times = 1;
  if (colon != std::string::npos) {
    std::from_chars(armed.data() + colon + 1, armed.data() + armed.size(), times);
  }
  const auto knows = [&name](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!knows(crash_point_names()) && !knows(housekeeping_points())) {
    throw std::invalid_argument("unknown crash point '" + name + "'");
  }
  auto left = std::make_shared<std::atomic<int>>(times);
  return [name, left](const std::string& reached) {
    if (reached == name && --*left == 0) std::abort();
  };
}

}  // namespace scheduler
