#include "scheduler/commands/item_words.h"

#include <array>
#include <ctime>
#include <vector>

#include "base/text.h"
#include "scheduler/errors.h"

namespace scheduler {

std::string item_name(const db::Item& item) {
  return "item " + std::to_string(item.id) + " (" + to_string(item.state) + ")";
}

std::string deadline_text(int64_t time) {
  if (time == 0) return "none";
  const std::time_t seconds = time;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 64> text{};
  const char* form = utc.tm_sec == 0 ? "%Y-%m-%d %H:%M UTC" : "%Y-%m-%d %H:%M:%S UTC";
  return {text.data(), std::strftime(text.data(), text.size(), form, &utc)};
}

void check_deadline(int64_t time) {
  constexpr int64_t kEndOfYear9999 = 253'402'300'799;
  if (time >= 0 && time <= kEndOfYear9999) return;
  throw Invalid(
      "invalid \"finish_by\" " + std::to_string(time) +
      "; give seconds since 1970 UTC, at most 253402300799 (the year 9999), or 0 for none");
}

std::string option_text(const std::string& name, const std::string& value) {
  const bool one_word = value.find(' ') == std::string::npos;
  return "--" + name + (value.empty() ? "" : "=") + (one_word ? value : "'" + value + "'");
}

std::string change_of_options(const std::map<std::string, std::string>& before,
                              const std::map<std::string, std::string>& after) {
  std::vector<std::string> changes;
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    if (old == before.end()) {
      changes.push_back(option_text(name, value));
    } else if (old->second != value) {
      changes.push_back(option_text(name, value) + " (was " + old->second + ")");
    }
  }
  for (const auto& [name, value] : before) {
    if (after.count(name) == 0) changes.push_back("without " + option_text(name, value));
  }
  return base::joined(changes);
}

}  // namespace scheduler
