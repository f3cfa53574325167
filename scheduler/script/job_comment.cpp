// The comment of a job: what an administrator who meets it in the queue wants to know.

#include <filesystem>
#include <map>
#include <string>

#include "base/json.h"
#include "base/utf8.h"
#include "scheduler/script/job_script.h"

namespace scheduler {
namespace {

constexpr size_t kLongest = 1024;  // bytes that Slurm takes

// Bytes that are no UTF-8 become question marks.
std::string to_text(const nlohmann::ordered_json& comment) {
  return comment.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Shortens this field until the comment fits, or nothing is left of it.
void shorten(nlohmann::ordered_json& comment, const char* field) {
  if (!comment.contains(field)) return;
  std::string text = comment[field];
  while (!text.empty() && to_text(comment).size() > kLongest) {
    text.pop_back();
    base::drop_cut_character(text);
    comment[field] = text;
  }
}

}  // namespace

std::string job_comment(const std::string& instance, const db::Item& item,
                        const db::Attempt& attempt) {
  nlohmann::ordered_json comment = {
      {"margay", instance}, {"item", item.id}, {"attempt", attempt.number}};
  const auto name = item.options.find("job-name");
  const bool named = item.label.empty() && name != item.options.end();
  const std::map<std::string, std::string> fields = {
      {"owner", item.owner},
      {"micrograph", std::filesystem::path(item.micrograph_path).filename().string()},
      {"label", named ? name->second : item.label}};
  for (const char* field : {"owner", "micrograph", "label"}) {
    if (!fields.at(field).empty()) comment[field] = fields.at(field);
  }
  for (const char* field : {"label", "micrograph", "owner"}) shorten(comment, field);
  return to_text(comment);
}

}  // namespace scheduler
