#include "scheduler/commands/item_words.h"

#include <vector>

#include "base/text.h"

namespace scheduler {

std::string item_name(const db::Item& item) {
  return "item " + std::to_string(item.id) + " (" + to_string(item.state) + ")";
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
