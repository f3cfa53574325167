#include "scheduler/commands/quotas.h"

#include "base/size_text.h"
#include "base/utf8.h"
#include "scheduler/errors.h"

namespace scheduler {
namespace {

constexpr size_t kShown = 40;

std::string allowed(int limit, const std::string& key) {
  return std::to_string(limit) + ", which limits." + key + " in the daemon's configuration allows";
}

// Enough of a text to know it by.
std::string start_of(const std::string& text) {
  std::string start = text.substr(0, kShown);
  base::drop_cut_character(start);
  return "'" + start + "...'";
}

void check_bytes(const std::string& what, const std::string& text, int limit,
                 const std::string& key) {
  if (text.size() <= static_cast<size_t>(limit)) return;
  throw Invalid(what + " " + start_of(text) + " has " + std::to_string(text.size()) +
                " bytes, more than the " + allowed(limit, key));
}

}  // namespace

void check_file(const Limits& limits, const FileFacts& file) {
  check_path(limits, file.path);
  if (file.bytes <= int64_t{limits.file_megabytes} * 1'000'000) return;
  throw Invalid("'" + file.path + "' has " + base::size_text(file.bytes) + ", more than the " +
                allowed(limits.file_megabytes, "file_megabytes"));
}

void check_path(const Limits& limits, const std::string& path) {
  check_bytes("path", path, limits.path_length, "path_length");
}

void check_label(const Limits& limits, const std::string& label) {
  check_bytes("label", label, limits.label_length, "label_length");
}

void check_settings(const Limits& limits, const std::string& settings) {
  check_bytes("the search settings", settings, limits.settings_length, "settings_length");
}

void check_items(const Limits& limits, const db::Unfinished& used, int64_t added) {
  if (used.items + added > limits.items_per_user) {
    throw NotPermitted("you have " + std::to_string(used.items) + " items that have not ended; " +
                       std::to_string(added) + " more would exceed the " +
                       allowed(limits.items_per_user, "items_per_user") +
                       ": wait until some have ended, or cancel some");
  }
  if (used.labels > limits.labels_per_user) {
    throw NotPermitted("your items that have not ended would have " + std::to_string(used.labels) +
                       " labels, more than the " +
                       allowed(limits.labels_per_user, "labels_per_user") +
                       ": use one of them again");
  }
}

void check_templates(const Limits& limits, int64_t registered) {
  if (registered < limits.templates_per_user) return;
  throw NotPermitted("you have registered " + std::to_string(registered) +
                     " versions of templates, as many as the " +
                     allowed(limits.templates_per_user, "templates_per_user"));
}

}  // namespace scheduler
