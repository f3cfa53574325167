#include "scheduler/cli/admin_gc.h"

#include <chrono>
#include <ostream>
#include <string>

#include "base/size_text.h"
#include "scheduler/cli/admin_commands.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

// Every folder of a large site is looked at, on a shared file system.
constexpr std::chrono::hours kLongestGc{24};

struct RemovalKind {
  const char* key;  // of the API
  const char* what;
  bool has_files;
};
constexpr RemovalKind kRemovalKinds[] = {
    {"age", "items that ended long ago", true},
    {"total", "items beyond the total size", true},
    {"removed", "folders of items that were removed before", true},
    {"no_record", "folders without a record", true},
    {"history", "lines of the history", false}};

}  // namespace

Exit collect_garbage(const Context& context, bool dry_run) {
  const json answer = context.post("/v1/gc", {{"dry_run", dry_run}}, {}, kLongestGc);
  if (context.print_if_json(answer)) return Exit::kOk;
  Table table({{.title = "WHAT"},
               {.title = dry_run ? "WOULD GO" : "REMOVED", .align = Align::kRight},
               {.title = dry_run ? "WOULD FREE" : "FREED", .align = Align::kRight}});
  int64_t bytes = 0;
  for (const RemovalKind& row : kRemovalKinds) {
    const json& part = answer.at("freed").at(row.key);
    const auto freed = part.at("bytes").get<int64_t>();
    bytes += freed;
    table.add({{row.what},
               {std::to_string(part.at("count").get<int64_t>())},
               {row.has_files ? base::size_text(freed) : "-"}});
  }
  table.add({{"together", style::kBold}, {""}, {base::size_text(bytes), style::kBold}});
  context.print(table);
  for (const json& left : answer.at("left")) {
    context.out() << "not removed: " << printable(text_of(left, "text")) << "\n";
  }
  if (dry_run) context.out() << "nothing was removed\n";
  return Exit::kOk;
}

void GcCommand::add(CLI::App& app, const AddCommand& add_command) {
  CLI::App* command = add_command(
      admin_command(app), "gc",
      "Remove now what the site's retention removes with time, and folders that no record names",
      "margay admin gc --dry-run",
      [this](const Context& context) { return collect_garbage(context, dry_run_); });
  command->add_flag("--dry-run", dry_run_, "Only say what would be removed");
}

}  // namespace scheduler::cli
