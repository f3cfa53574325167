#include "scheduler/cli/items.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <future>
#include <ostream>
#include <string_view>

#include "base/hex.h"
#include "base/text.h"
#include "scheduler/api/json_text.h"
#include "scheduler/cli/micrographs.h"
#include "scheduler/cli/progress.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

constexpr int64_t kPage = 1000;
constexpr int kRoomForAll = 100;  // columns of a terminal

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

std::string query_of(const ListOptions& options) {
  std::string query = "explain=1&progress=1";
  if (!options.state.empty()) query += "&state=" + base::percent_encode(options.state);
  if (!options.priority.empty()) query += "&priority=" + base::percent_encode(options.priority);
  if (!options.label.empty()) query += "&label=" + base::percent_encode(options.label);
  return query;
}

void field(const Context& context, const std::string& name, const std::string& value) {
  context.field(name, value, 14);
}

std::string ctf_text(const json& ctf) {
  return fixed(ctf.at("defocus_u"), 1) + " / " + fixed(ctf.at("defocus_v"), 1) + " A at " +
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
        std::to_string(result.at("correlations").get<int64_t>()) + " correlations in " +
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

// "starts 2026-11-24 07:00:00, done 2026-11-24 08:00:00"; empty where it is not known.
std::string expected_text(const json& item) {
  const auto end = item.find("expected_end");
  if (end == item.end()) return "";
  const std::string done = "done " + time_text(end->get<int64_t>());
  if (item.at("state") == "ACTIVE" &&
      item.at("expected_start").get<int64_t>() <= std::time(nullptr))
    return done;
  return "starts " + time_text(item.at("expected_start").get<int64_t>()) + ", " + done;
}

// The changed item.
json ask_for(const Context& context, const Change& change, json body, int64_t item) {
  const std::string address = "/v1/items/" + std::to_string(item);
  const std::string target = address + "/" + change.action;
  if (!change.opens_micrograph) return context.post(target, body).at("item");
  const std::string path = text_of(context.get(address).at("item"), "micrograph");
  const OpenFile micrograph = open_file(path);
  body["file"] = 0;
  api::put_text(body, "path", path);
  return context.post(target, body, {micrograph.descriptor.get()}).at("item");
}

}  // namespace

std::string note_of(const json& item) {
  if (const auto result = item.find("result"); result != item.end() && result->is_object()) {
    const auto peaks = result->at("peaks").get<int64_t>();
    return std::to_string(peaks) + (peaks == 1 ? " peak" : " peaks") + ", best z " +
           fixed(result->at("best_z"), 2) + ", " + duration_text(result->at("seconds"));
  }
  const auto progress = progress_of(item);
  if (progress && !item.at("cancel_requested").get<bool>()) {
    if (progress->state != "running") return progress->state;
    return fixed(progress->rate, 0) + "/s, " + duration_text(progress->eta_seconds) + " left";
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

std::vector<Cell> list_row(const json& item, bool narrow) {
  const std::string state = item.at("state");
  const bool late = item.contains("late_by");
  std::vector<Cell> row = {
      {std::to_string(item.at("id").get<int64_t>()), style::kBold},
      {late ? state + " AT RISK" : state, late ? std::string(style::kRed) : state_style(state)},
      {progress_word(item)},
      {item.at("priority").get<std::string>()}};
  if (!narrow) {
    // The age of an item that has ended stands still.
    const int64_t until =
        has_ended(state) ? item.at("changed").get<int64_t>() : int64_t{std::time(nullptr)};
    const auto age = static_cast<double>(until - item.at("created").get<int64_t>());
    row.insert(
        row.end(),
        {{item.at("template").get<std::string>()}, {text_of(item, "owner")}, {duration_text(age)}});
  }
  row.insert(row.end(), {{text_of(item, "micrograph")}, {note_of(item)}});
  return row;
}

Exit list(const Context& context, const ListOptions& options) {
  const std::string query = query_of(options);
  if (context.wants_json()) {
    context.print(json{{"items", fetch_items(context, query, options.limit)}});
    return Exit::kOk;
  }
  // A narrow terminal keeps its room for what matters most: why an item waits.
  const int columns = context.screen().columns;
  const bool narrow = columns > 0 && columns < kRoomForAll;
  std::vector<Column> titles = {{.title = "ITEM", .align = Align::kRight},
                                {.title = "STATE"},
                                {.title = "", .align = Align::kRight},
                                {.title = "PRIORITY"}};
  if (!narrow) {
    titles.insert(
        titles.end(),
        {{.title = "TEMPLATE"}, {.title = "OWNER"}, {.title = "AGE", .align = Align::kRight}});
  }
  titles.insert(titles.end(), {{.title = "MICROGRAPH", .least = 16, .cut = Cut::kStart},
                               {.title = "NOTE", .least = 16}});
  Table table(titles);
  for_each_item(context, query + "&brief=1", options.limit,
                [&](const json& item) { table.add(list_row(item, narrow)); });
  context.print(table, "no items\n");
  return Exit::kOk;
}

Exit show(const Context& context, int64_t item) {
  const json answer = context.get("/v1/items/" + std::to_string(item));
  if (context.print_if_json(answer)) return Exit::kOk;
  const json& entry = answer.at("item");
  const std::string state = entry.at("state");
  const std::string done = progress_word(entry);
  context.out() << context.styled("item " + std::to_string(item), style::kBold) << "  "
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
  return Exit::kOk;
}

Exit explain(const Context& context, int64_t item) {
  const json answer = context.get("/v1/items/" + std::to_string(item));
  const json& entry = answer.at("item");
  const std::string why = text_of(entry, "explanation");
  if (context.wants_json()) {
    json document = {{"item", item}, {"state", entry.at("state")}};
    api::put_text(document, "explanation", why);
    document["finish_by"] = entry.at("finish_by");
    for (const char* key : {"late_by", "expected_start", "expected_end"}) {
      if (entry.contains(key)) document[key] = entry.at(key);
    }
    document["shape"] =
        entry.at("attempts").empty() ? json(nullptr) : entry.at("attempts").back().at("shape");
    context.print(document);
    return Exit::kOk;
  }
  const std::string state = entry.at("state");
  context.out() << "item " << item << ", " << entry.at("priority").get<std::string>() << ", "
                << context.styled(state, state_style(state)) << ": " << printable(why) << "\n";
  const std::string expected = expected_text(entry);
  if (!expected.empty()) context.out() << "expected: " << expected << "\n";
  return Exit::kOk;
}

Exit change(const Context& context, const Change& change, const std::vector<int64_t>& items) {
  Tally tally;
  json entries = json::array();
  json body = json::object();
  if (!change.priority.empty()) body["priority"] = change.priority;
  if (change.finish_by) body["finish_by"] = *change.finish_by;
  if (!change.options.empty()) body["options"] = change.options;
  if (change.drop_options) body["drop_options"] = true;
  for (const int64_t item : items) {
    try {
      const json entry = ask_for(context, change, body, item);
      tally.succeeded();
      entries.push_back({{"item", entry}});
      if (context.wants_json()) continue;
      const std::string state = entry.at("state");
      const std::string explanation = text_of(entry, "explanation");
      const std::string reason = explanation.empty() ? text_of(entry, "reason") : explanation;
      context.out() << "item " << item << ": " << context.styled(state, state_style(state)) << ", "
                    << entry.at("priority").get<std::string>()
                    << (reason.empty() ? "" : "; " + printable(reason)) << "\n";
    } catch (const Failure& failure) {
      if (failure.exit() == Exit::kUnreachable) throw;
      tally.failed(failure.exit());
      entries.push_back(
          {{"error", api::error_json(kind_of(failure.exit()), failure.what(), item)}});
      context.complain(failure.what());
    }
  }
  context.print_if_json({{"items", entries}});
  return tally.exit();
}

}  // namespace scheduler::cli
