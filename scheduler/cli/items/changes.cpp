#include "scheduler/cli/items/changes.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "scheduler/cli/items/items.h"
#include "scheduler/cli/items/micrographs.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

constexpr size_t kItemsAtOnce = 10'000;
// Each with an open file: less than the kernel's 253 and a process's usual 1024.
constexpr size_t kFilesAtOnce = 200;
// Lines printed for people; the rest is only counted.
constexpr int64_t kMostLines = 20;

json body_of(const Change& change) {
  json body = {{"action", change.action}};
  if (!change.priority.empty()) body["priority"] = change.priority;
  if (change.finish_by) body["finish_by"] = *change.finish_by;
  if (!change.options.empty()) body["options"] = change.options;
  if (change.drop_options) body["drop_options"] = true;
  if (change.results) body["results"] = true;
  if (change.dry_run) body["dry_run"] = true;
  return body;
}

class Changer {
 public:
  Changer(const Context& context, const Change& change) : context_(context), change_(change) {}

  Exit run(const std::vector<int64_t>& items) {
    const size_t step = change_.opens_micrograph ? kFilesAtOnce : kItemsAtOnce;
    for (size_t begin = 0; begin < items.size(); begin += step) {
      const std::vector<int64_t> some(
          items.begin() + static_cast<std::ptrdiff_t>(begin),
          items.begin() + static_cast<std::ptrdiff_t>(std::min(begin + step, items.size())));
      change_.opens_micrograph ? send_with_micrographs(some) : send(json(some), {});
    }
    finish();
    return tally_.exit();
  }

 private:
  void send(const json& items, const std::vector<int>& descriptors) {
    json body = body_of(change_);
    body["items"] = items;
    const json answer = context_.post("/v1/changes", body, descriptors);
    for (const json& entry : answer.at("items")) take(entry);
  }

  void send_with_micrographs(const std::vector<int64_t>& items) {
    std::map<int64_t, std::string> paths;
    std::string query = "brief=1&ids=";
    for (const int64_t item : items) query += std::to_string(item) + ",";
    for_each_item(context_, query, 0, [&](const json& item) {
      paths[item.at("id").get<int64_t>()] = text_of(item, "micrograph");
    });
    std::vector<OpenFile> open;
    std::vector<int> descriptors;
    json entries = json::array();
    for (const int64_t item : items) {
      json entry = {{"id", item}};
      if (const auto path = paths.find(item); path != paths.end()) {
        try {
          open.push_back(open_file(path->second));
        } catch (const Failure& failure) {
          refused({{"id", item},
                   {"error", api::error_json(kind_of(failure.exit()), failure.what(), item)}});
          continue;
        }
        entry["file"] = descriptors.size();
        api::put_text(entry, "path", path->second);
        descriptors.push_back(open.back().descriptor.get());
      }
      entries.push_back(std::move(entry));
    }
    if (!entries.empty()) send(entries, descriptors);
  }

  void take(const json& entry) {
    if (entry.contains("error")) {
      refused(entry);
      return;
    }
    tally_.succeeded();
    if (context_.wants_json()) entries_.push_back(entry);
    if (context_.wants_json() || tally_.successes() > kMostLines) return;
    const json& item = entry.at("item");
    const std::string state = item.at("state");
    if (change_.action == "remove") {
      context_.out() << "item " << item.at("id").get<int64_t>()
                     << (change_.dry_run ? " would be removed (" : " removed (")
                     << context_.styled(state, state_style(state)) << ")\n";
      return;
    }
    const std::string explanation = text_of(item, "explanation");
    const std::string reason = explanation.empty() ? text_of(item, "reason") : explanation;
    context_.out() << "item " << item.at("id").get<int64_t>()
                   << (change_.dry_run ? " would be: " : ": ")
                   << context_.styled(state, state_style(state)) << ", "
                   << item.at("priority").get<std::string>()
                   << (reason.empty() ? "" : "; " + printable(reason)) << "\n";
  }

  void refused(const json& entry) {
    const Failure failure = failure_of(entry.at("error"));
    tally_.failed(failure.exit());
    if (context_.wants_json()) entries_.push_back(entry);
    if (tally_.failures() <= kMostLines) context_.complain(failure.what());
  }

  void finish() {
    if (context_.print_if_json({{"items", entries_}, {"dry_run", change_.dry_run}})) return;
    const int64_t more = tally_.failures() - kMostLines;
    if (more > 0) context_.complain("... and " + std::to_string(more) + " more refused");
    if (tally_.successes() > kMostLines) {
      context_.out() << "... and " << tally_.successes() - kMostLines << " more\n";
    }
    const int64_t items = tally_.successes() + tally_.failures();
    if (items == 0) context_.out() << "no items selected\n";
    if (items > 1) {
      const std::string done = change_.action == "remove" ? "removed" : "changed";
      context_.out() << tally_.successes() << (change_.dry_run ? " would be " : " ") << done;
      if (tally_.failures() > 0) context_.out() << ", " << tally_.failures() << " refused";
      context_.out() << (change_.dry_run ? "; nothing was changed\n" : "\n");
    }
  }

  const Context& context_;
  const Change& change_;
  Tally tally_;
  json entries_ = json::array();  // of the JSON document
};

}  // namespace

std::string states_for(const std::string& action) {
  if (action == "hold") return "QUEUED";
  if (action == "release") return "HELD";
  if (action == "retry") return "FAILED,QUARANTINED";
  if (action == "remove") return "DONE,FAILED,CANCELLED,QUARANTINED";
  return "QUEUED,HELD,ACTIVE";
}

Exit change(const Context& context, const Change& change, const std::vector<int64_t>& items) {
  return Changer(context, change).run(items);
}

}  // namespace scheduler::cli
