#include "scheduler/cli/items/explain.h"

#include <cmath>
#include <ostream>
#include <string>

#include "base/text.h"
#include "scheduler/cli/items/items.h"
#include "scheduler/cli/terminal/text_format.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

constexpr int64_t kSoon = 60;  // seconds: what is sooner by less is no gain
// Each costs the daemon a walk through the whole plan.
constexpr size_t kMostForecast = 20;

std::string by_text(const json& time) {
  return time.is_null() ? "not certain" : time_text(time.get<int64_t>());
}

void print_widths(const Context& context, const json& widths) {
  if (widths.size() < 2) return;
  Table table({{.title = "GETS"},
               {.title = "WAITS", .align = Align::kRight},
               {.title = "RUNS", .align = Align::kRight},
               {.title = "DONE"},
               {.title = "90 % BY"},
               {.title = ""}});
  for (const json& one : widths) {
    const bool expected = one.at("expected").get<bool>();
    table.add({{text_of(one, "gets"), expected ? style::kBold : ""},
               {duration_text(one.at("wait"))},
               {duration_text(one.at("run"))},
               {time_text(one.at("done").get<int64_t>())},
               {by_text(one.at("done_by"))},
               {expected ? "as expected" : ""}});
  }
  context.print(table);
}

// "0.3 GPU hours more"
std::string gpu_hours_text(double seconds) {
  constexpr double kHour = 3600;
  if (std::abs(seconds) < kHour / 20) return "as many GPU hours";
  return fixed(std::abs(seconds) / kHour, 1) + " GPU hours " + (seconds > 0 ? "more" : "fewer");
}

std::string gain_text(const json& one) {
  const auto sooner = one.at("sooner").get<int64_t>();
  if (sooner < kSoon) return "done no sooner";
  const std::string text = "starts " + time_text(one.at("start").get<int64_t>()) + " with " +
                           text_of(one, "gets") + ", done " +
                           time_text(one.at("done").get<int64_t>()) + ", " +
                           duration_text(static_cast<double>(sooner)) + " sooner, for " +
                           gpu_hours_text(one.at("more_gpu_seconds"));
  const auto delayed = one.at("delayed").get<int64_t>();
  if (delayed == 0) return text + "; it delays no other item";
  return text + "; " + base::counted(delayed, "other item") + (delayed == 1 ? " is" : " are") +
         " done later, by at most " + duration_text(one.at("longest_delay"));
}

// Classes that gain the item the same share a line.
void print_promotions(const Context& context, const json& promotions) {
  std::string classes;
  for (size_t i = 0; i < promotions.size(); ++i) {
    const std::string gain = gain_text(promotions[i]);
    classes += (classes.empty() ? "" : " or ") + text_of(promotions[i], "priority");
    if (i + 1 < promotions.size() && gain_text(promotions[i + 1]) == gain) continue;
    context.out() << "promoted to " << classes << ": " << gain << "\n";
    classes.clear();
  }
}

void print_forecast(const Context& context, const json& forecast) {
  print_widths(context, forecast.at("widths"));
  print_promotions(context, forecast.at("promotions"));
}

void explain_one(const Context& context, const json& entry) {
  const std::string state = entry.at("state");
  context.out() << "item " << entry.at("id").get<int64_t>() << ", "
                << entry.at("priority").get<std::string>() << ", "
                << context.styled(state, state_style(state)) << ": "
                << printable(text_of(entry, "explanation")) << "\n";
  const std::string expected = expected_text(entry);
  if (expected.empty()) return;
  context.out() << "expected: " << expected;
  const auto forecast = entry.find("forecast");
  if (forecast == entry.end() || forecast->is_null()) {
    context.out() << "\n";
    return;
  }
  context.out() << "; with 90 % certainty by " << by_text(forecast->at("done_by"));
  const auto left_out = forecast->at("jobs_not_counted").get<int64_t>();
  if (left_out > 0) {
    context.out() << "; later if " << base::counted(left_out, "job") << " that may go first, and "
                  << (left_out == 1 ? "is" : "are") << " not counted, start before it";
  }
  context.out() << "\n";
  print_forecast(context, *forecast);
}

json explanation_of(const json& entry) {
  json document = {{"item", entry.at("id")}, {"state", entry.at("state")}};
  api::put_text(document, "explanation", text_of(entry, "explanation"));
  document["finish_by"] = entry.at("finish_by");
  for (const char* key : {"late_by", "expected_start", "expected_end", "forecast"}) {
    if (entry.contains(key)) document[key] = entry.at(key);
  }
  document["shape"] =
      entry.at("attempts").empty() ? json(nullptr) : entry.at("attempts").back().at("shape");
  return document;
}

}  // namespace

Exit explain(const Context& context, const std::vector<int64_t>& items) {
  json documents = json::array();
  const bool few = items.size() <= kMostForecast;
  const Exit exit =
      for_each_detailed(context, items, few ? "?forecast=1" : "", [&](const json& answer) {
        const json& entry = answer.at("item");
        if (context.wants_json()) {
          documents.push_back(explanation_of(entry));
        } else {
          explain_one(context, entry);
        }
      });
  if (!few && !context.wants_json()) {
    context.out() << "What other widths and priorities would mean is shown for at most "
                  << kMostForecast << " items at once.\n";
  }
  return print_documents(context, "items", std::move(documents), items, exit);
}

}  // namespace scheduler::cli
