#include "scheduler/cli/ingest_commands.h"

#include <ctime>

#include "scheduler/cli/arguments.h"
#include "scheduler/cli/enqueue_options.h"
#include "scheduler/cli/time_value.h"

namespace scheduler::cli {

void IngestCommands::add(CLI::App& app, const AddCommand& add_command) {
  add_import(app, add_command);
}

void IngestCommands::add_import(CLI::App& app, const AddCommand& add_command) {
  CLI::App* command = add_command(
      app, "import", "Search the micrographs that RELION or cryoSPARC lists, with their CTF",
      "margay import CtfFind/job003/micrographs_ctf.star --template ribosome --label grid1\n  "
      "margay import exposures.cs --template ribosome --dry-run",
      [this](const Context& context) {
        import_.enqueue.finish_by = parse_time(finish_by_, std::time(nullptr)).value_or(0);
        return import_list(context, import_);
      });
  add_option(*command, "FILE", import_.list, "",
             "RELION's micrographs_ctf.star, or cryoSPARC's exposures (.cs)")
      ->required();
  add_option(*command, "--project", import_.project, "DIR",
             "Folder of the list's relative paths [default: the nearest above the list that holds "
             "the first of them]");
  add_option(*command, "--finish-by", finish_by_, "TIME",
             "Deadline: +3h, 08:00, 2026-11-24T08:00 (local) or 2026-11-24T07:00Z", time_value());
  add_enqueue_options(*command, import_.enqueue);
}

}  // namespace scheduler::cli
