// The comment of a job: what an administrator who meets it in the queue wants to know.

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

}  // namespace

std::string job_comment(const std::string& instance, const db::Item& item,
                        const db::Attempt& attempt) {
  nlohmann::ordered_json comment = {
      {"margay", instance}, {"item", item.id}, {"attempt", attempt.number}};
  std::string label = item.label;
  const auto name = item.options.find("job-name");
  if (label.empty() && name != item.options.end()) label = name->second;
  if (label.empty()) return to_text(comment);
  comment["label"] = label;
  while (!label.empty() && to_text(comment).size() > kLongest) {
    label.pop_back();
    base::drop_cut_character(label);
    comment["label"] = label;
  }
  return to_text(comment);
}

}  // namespace scheduler
