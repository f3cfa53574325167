#include "scheduler/cli/items/items.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <future>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "scheduler/cli/items/progress.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

constexpr int64_t kPage = 1000;

std::string progress_word(const json& item) {
  const std::optional<Progress> progress = progress_of(item);
  const bool known = progress && progress->total > 0;
  return known ? fixed(100 * progress->done / progress->total, 0) + " %" : "";
}

// The `next` that a page's answer begins with; 0: it is the last page.
int64_t next_of(const std::string& answer) {
  constexpr std::string_view kKey = "\"next\":";
  constexpr size_t kFront = 64;
  const size_t at = std::string_view(answer).substr(0, kFront).find(kKey);
  int64_t next = 0;
  if (at != std::string::npos) {
    std::from_chars(answer.data() + at + kKey.size(), answer.data() + answer.size(), next);
  }
  return next;
}

void field(const Context& context, const std::string& name, const std::string& value) {
  context.field(name, value, 14);
}

std::string ctf_text(const json& ctf) {
  const auto defocus = [&](const char* key) {
    const double value = ctf.at(key);
    return fixed(value, std::abs(value) < 100 ? 3 : 1);
  };
  return defocus("defocus_u") + " / " + defocus("defocus_v") + " A at " +
         fixed(ctf.at("astigmatism_angle"), 2) + " deg, phase shift " +
         fixed(ctf.at("phase_shift"), 2) + " deg (" + text_of(ctf, "source") + ")";
}

std::string options_text(const json& options) {
  std::string text;
  for (const auto& [name, value] : options.items()) {
    if (name.ends_with("_base64")) continue;
    const std::string exact = text_of(options, name);
    const bool one_word = exact.find(' ') == std::string::npos;
    text += (text.empty() ? "--" : " --") + name + (exact.empty() ? "" : "=");
    text += one_word ? exact : "'" + exact + "'";
  }
  return text;
}

// "PENDING: Resources: waits for nodes to become free"
std::string cluster_state_text(const json& attempt) {
  std::string text = text_of(attempt, "cluster_words");
  const std::string reason = text_of(attempt, "cluster_reason");
  const std::string meaning = text_of(attempt, "cluster_meaning");
  if (meaning.empty()) return text;
  text += (text.empty() ? "" : ": ") + reason;
  return meaning == reason ? text : text + ": " + meaning;
}

std::string what_happened(const json& attempt) {
  const std::string state = attempt.at("state");
  std::string cause = attempt.at("cause");
  const std::string message = text_of(attempt, "message");
  if (!message.empty() && base::upper(cause) == state) cause.clear();  // it would repeat the state
  std::string text = cause.empty() || message.empty() ? cause + message : cause + ": " + message;
  // Slurm reports FAILED for a job that was stopped on purpose.
  const bool well = state == "DONE" || state == "CHECKPOINTED";
  std::string reported = well ? "" : cluster_state_text(attempt);
  if (reported == state) reported.clear();
  if (!reported.empty()) text += text.empty() ? reported : " (" + reported + ")";
  const auto restarts = attempt.at("restarts").get<int>();
  if (restarts > 0) {
    text += (text.empty() ? "" : "; ") + std::string("requeued ") +
            (restarts == 1 ? "once" : std::to_string(restarts) + " times");
  }
  return text;
}

void show_attempts(const Context& context, const json& attempts) {
  if (attempts.empty()) return;
  Table table({{.title = "ATTEMPT", .align = Align::kRight},
               {.title = "STATE"},
               {.title = "SHAPE"},
               {.title = "HOST"},
               {.title = "JOB"},
               {.title = "STARTED"},
               {.title = "TOOK", .align = Align::kRight},
               {.title = "WHAT HAPPENED", .least = 20}});
  for (const json& attempt : attempts) {
    const auto started = attempt.at("started").get<int64_t>();
    const auto ended = attempt.at("ended").get<int64_t>();
    // Slurm gives a start to jobs that were cancelled before they had one.
    const bool ran = started != 0 && !(started == ended && text_of(attempt, "host").empty());
    const int64_t until = ended != 0 ? ended : std::time(nullptr);
    const std::string state = attempt.at("state");
    table.add({{std::to_string(attempt.at("number").get<int64_t>())},
               {state, state_style(state)},
               {attempt.at("shape").get<std::string>()},
               {text_of(attempt, "host")},
               {attempt.at("job_id").get<std::string>()},
               {time_text(ran ? started : 0)},
               {!ran ? "-" : duration_text(static_cast<double>(until - started))},
               {what_happened(attempt)}});
  }
  context.out() << "\n";
  context.print(table);
}

void show_history(const Context& context, const json& history) {
  if (history.empty()) return;
  Table table({{.title = "WHEN"}, {.title = "WHO"}, {.title = "DID"}, {.title = "", .least = 20}});
  for (const json& event : history) {
    table.add({{time_text(event.at("time").get<int64_t>())},
               {text_of(event, "who")},
               {event.at("action").get<std::string>()},
               {text_of(event, "detail")}});
  }
  context.out() << "\n";
  context.print(table);
}

void show_result(const Context& context, const json& result) {
  if (result.is_null()) return;
  field(context, "peaks",
        std::to_string(result.at("peaks").get<int64_t>()) + " above z = " +
            fixed(result.at("cutoff"), 2) + ", best " + fixed(result.at("best_z"), 2));
  field(context, "searched",
        base::counted(result.at("correlations").get<int64_t>(), "correlation") + " in " +
            duration_text(result.at("seconds")));
  field(context, "peak list", text_of(result, "peaks_csv"));
}

// "2026-11-24 08:00:00, AT RISK of being up to 12 min 30 s late"; empty without a deadline.
std::string finish_by_text(const json& item) {
  const auto time = item.at("finish_by").get<int64_t>();
  if (time == 0) return "";
  const auto late = item.find("late_by");
  if (late == item.end()) return time_text(time);
  return time_text(time) + ", AT RISK of being up to " + duration_text(late->get<double>()) +
         " late";
}

void show_one(const Context& context, const json& entry) {
  const auto id = entry.at("id").get<int64_t>();
  const std::string state = entry.at("state");
  const std::string done = progress_word(entry);
  context.out() << context.styled("item " + std::to_string(id), style::kBold) << "  "
                << context.styled(state, state_style(state)) << (done.empty() ? "" : "  " + done)
                << "\n";
  field(context, "why", text_of(entry, "explanation"));
  field(context, "micrograph", text_of(entry, "micrograph"));
  field(context, "template",
        entry.at("template").get<std::string>() + " (" + text_of(entry, "volume") + ")");
  field(context, "priority", entry.at("priority"));
  field(context, "finish by", finish_by_text(entry));
  field(context, "expected", expected_text(entry));
  field(context, "ctf", ctf_text(entry.at("ctf")));
  field(context, "label", text_of(entry, "label"));
  field(context, "group", text_of(entry, "group"));
  field(context, "Slurm options", options_text(entry.at("options")));
  field(context, "enqueued",
        time_text(entry.at("created").get<int64_t>()) + " by " + text_of(entry, "owner"));
  field(context, "progress", text_of(entry, "progress_problem"));
  if (entry.at("cancel_requested").get<bool>() && state == "ACTIVE") {
    field(context, "cancelling", "its job was asked to stop");
  }
  show_result(context, entry.at("result"));
  const json& attempts = entry.at("attempts");
  if (!attempts.empty()) field(context, "folder", text_of(attempts.back(), "directory"));
  show_attempts(context, attempts);
  show_history(context, entry.at("history"));
}

}  // namespace

std::string expected_text(const json& item) {
  const auto end = item.find("expected_end");
  if (end == item.end()) return "";
  const std::string done = "done " + time_text(end->get<int64_t>());
  if (item.at("state") == "ACTIVE" &&
      item.at("expected_start").get<int64_t>() <= std::time(nullptr))
    return done;
  return "starts " + time_text(item.at("expected_start").get<int64_t>()) + ", " + done;
}

Exit for_each_selected(const Context& context, const std::vector<int64_t>& items,
                       const std::function<void(int64_t)>& take) {
  Tally tally;
  if (items.empty() && !context.wants_json()) context.out() << "no items selected\n";
  for (const int64_t item : items) {
    try {
      take(item);
      tally.succeeded();
    } catch (const Failure& failure) {
      if (items.size() == 1 || failure.exit() == Exit::kUnreachable) throw;
      tally.failed(failure.exit());
      context.complain(failure.what());
    }
  }
  return tally.exit();
}

Exit for_each_detailed(const Context& context, const std::vector<int64_t>& items,
                       const std::string& query, const std::function<void(const json&)>& take) {
  return for_each_selected(context, items, [&](int64_t item) {
    take(context.get("/v1/items/" + std::to_string(item) + query));
  });
}

Exit print_documents(const Context& context, const std::string& name, json documents,
                     const std::vector<int64_t>& items, Exit exit) {
  if (!context.wants_json()) return exit;
  context.print(items.size() == 1 ? documents.at(0) : json{{name, std::move(documents)}});
  return exit;
}

std::string note_of(const json& item) {
  if (const auto result = item.find("result"); result != item.end() && result->is_object()) {
    const auto peaks = result->at("peaks").get<int64_t>();
    return base::counted(peaks, "peak") + ", best z " + fixed(result->at("best_z"), 2) + ", " +
           duration_text(result->at("seconds"));
  }
  const auto progress = progress_of(item);
  if (progress && !item.value("cancel_requested", false)) {
    if (progress->state != "running") return progress->state;
    return base::rate_text(progress->rate) + "/s, " + duration_text(progress->eta_seconds) +
           " left";
  }
  const bool explained = item.contains("explanation");
  return text_of(item, explained ? "explanation" : "reason");
}

void for_each_item(const Context& context, const std::string& query, int64_t limit,
                   const std::function<void(json&&)>& take) {
  int64_t left = limit;
  const auto ask = [&](int64_t after) {
    const int64_t page = limit == 0 ? kPage : std::min(kPage, left);
    left -= page;
    return std::async(std::launch::async, [&context, &query, after, page] {
      return context.fetch("/v1/items?" + query + "&after=" + std::to_string(after) +
                           "&limit=" + std::to_string(page));
    });
  };
  for (auto answer = ask(0); answer.valid();) {
    const api::Answer page = answer.get();
    const int64_t after = next_of(page.body);
    const bool more = after > 0 && (limit == 0 || left > 0);
    if (more) answer = ask(after);
    json document = Context::parse(page, context.socket());
    for (json& item : document.at("items")) take(std::move(item));
  }
}

std::vector<json> fetch_items(const Context& context, const std::string& query, int64_t limit) {
  std::vector<json> items;
  for_each_item(context, query, limit, [&](json&& item) { items.push_back(std::move(item)); });
  return items;
}

Exit show(const Context& context, const std::vector<int64_t>& items) {
  json documents = json::array();
  bool first = true;
  const Exit exit = for_each_detailed(context, items, "", [&](const json& answer) {
    if (context.wants_json()) {
      documents.push_back(items.size() == 1 ? answer : answer.at("item"));
      return;
    }
    if (!std::exchange(first, false)) context.out() << "\n";
    show_one(context, answer.at("item"));
  });
  return print_documents(context, "items", std::move(documents), items, exit);
}

}  // namespace scheduler::cli
