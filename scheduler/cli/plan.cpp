#include "scheduler/cli/plan.h"

#include <ostream>
#include <string>

#include "base/text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

Cell item_cell(const json& entry) {
  return {std::to_string(entry.at("item").get<int64_t>()), style::kBold};
}

Table table_of_starts(const json& starts) {
  Table table({{.title = "ITEM", .align = Align::kRight},
               {.title = "PRIORITY"},
               {.title = "GETS"},
               {.title = "WHY", .least = 20}});
  for (const json& start : starts) {
    table.add({item_cell(start),
               {text_of(start, "priority")},
               {text_of(start, "gets")},
               {text_of(start, "explanation")}});
  }
  return table;
}

Table table_of_stops(const json& stops) {
  Table table({{.title = "ITEM", .align = Align::kRight},
               {.title = "RESUMES WITH"},
               {.title = "WHY", .least = 20}});
  for (const json& stop : stops) {
    table.add({item_cell(stop), {text_of(stop, "gets")}, {text_of(stop, "explanation")}});
  }
  return table;
}

Table table_of_next(const json& next) {
  Table table({{.title = "ITEM", .align = Align::kRight},
               {.title = "PRIORITY"},
               {.title = "WHY", .least = 20}});
  for (const json& entry : next) {
    table.add({item_cell(entry), {text_of(entry, "priority")}, {text_of(entry, "explanation")}});
  }
  return table;
}

void print_part(const Context& context, const std::string& title, const Table& table) {
  if (table.empty()) return;
  context.out() << title << "\n";
  context.print(table);
  context.out() << "\n";
}

}  // namespace

Exit plan(const Context& context) {
  const json plan = context.get("/v1/plan");
  const json& starts = plan.at("starts");
  const json& stops = plan.at("stops");
  const Exit exit = starts.empty() && stops.empty() ? Exit::kOk : Exit::kToDo;
  if (context.print_if_json(plan)) return exit;
  if (plan.at("made").get<int64_t>() == 0) {
    context.out() << "margayd has not made its first plan yet.\n";
    return exit;
  }
  const std::string paused = text_of(plan, "paused");
  if (!paused.empty()) context.out() << "Nothing is submitted: " << printable(paused) << "\n\n";
  print_part(context, "To be submitted:", table_of_starts(starts));
  print_part(context, "To be stopped with a checkpoint:", table_of_stops(stops));
  print_part(context, "Next:", table_of_next(plan.at("next")));
  context.out() << (exit == Exit::kOk ? "Nothing to do at present; " : "")
                << base::counted(plan.at("waiting").get<int64_t>(), "item")
                << (plan.at("waiting").get<int64_t>() == 1 ? " waits.\n" : " wait.\n");
  return exit;
}

}  // namespace scheduler::cli
