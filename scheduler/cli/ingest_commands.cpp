#include "scheduler/cli/ingest_commands.h"

#include <ctime>

#include "base/duration.h"
#include "scheduler/cli/enqueue_options.h"
#include "scheduler/cli/terminal/arguments.h"
#include "scheduler/cli/terminal/time_value.h"

namespace scheduler::cli {

void IngestCommands::add(CLI::App& app, const AddCommand& add_command) {
  add_import(app, add_command);
  add_watch_commands(app, add_command);
}

void IngestCommands::add_watch_commands(CLI::App& app, const AddCommand& add_command) {
  CLI::App* parent = app.add_subcommand("watch", "Search each micrograph that appears in a folder");
  parent->require_subcommand(1);
  parent->footer(
      "Example:\n  margay watch add /data/grid1 --template ribosome --ctf "
      "'{dir}/{stem}_ctf.txt'\n  margay watch run");
  add_watching(*parent, add_command);
  CLI::App* list =
      add_command(*parent, "list", "List your watches", "margay watch list",
                  [this](const Context& context) { return list_watches(context, watch_); });
  CLI::App* pause =
      add_command(*parent, "pause", "Take no files of a watch", "margay watch pause 1",
                  [this](const Context& context) { return pause_watch(context, watch_, true); });
  CLI::App* resume =
      add_command(*parent, "resume", "Take files of a paused watch again", "margay watch resume 1",
                  [this](const Context& context) { return pause_watch(context, watch_, false); });
  CLI::App* remove =
      add_command(*parent, "remove", "Remove a watch; its items stay", "margay watch remove 1",
                  [this](const Context& context) { return remove_watch(context, watch_); });
  for (CLI::App* command : {pause, resume, remove}) {
    add_option(*command, "WATCH", watch_.id, "", "Number of the watch", whole_number())->required();
  }
  for (CLI::App* command : {list, pause, resume, remove}) add_watches_file(*command);
}

void IngestCommands::add_watches_file(CLI::App& command) {
  add_option(command, "--watches", watch_.file, "FILE",
             "File of your watches [env: MARGAY_WATCHES]");
}

void IngestCommands::add_watching(CLI::App& parent, const AddCommand& add_command) {
  EnqueueOptions& enqueue = watch_.added.enqueue;
  CLI::App* command =
      add_command(parent, "add", "Watch a folder; 'margay watch run' takes its files",
                  "margay watch add /data/grid1 --template ribosome --ctf '{dir}/{stem}_ctf.txt'",
                  [this](const Context& context) { return add_watch(context, watch_); });
  add_option(*command, "DIR", watch_.added.directory, "", "Folder; those in it are not watched")
      ->required();
  add_option(*command, "--pattern", watch_.added.pattern, "GLOB", "Names of the files to take")
      ->capture_default_str();
  add_ctf_options(*command, enqueue.ctf);
  add_enqueue_options(*command, enqueue);
  add_watches_file(*command);
  command =
      add_command(parent, "run", "Watch the folders, as you, until interrupted",
                  "margay watch run\n  margay watch run --once", [this](const Context& context) {
                    watch_.settle = base::parse_duration(settle_).value();
                    watch_.rescan = base::parse_duration(rescan_).value();
                    return run_watches(context, watch_);
                  });
  add_option(*command, "--settle", settle_, "TIME",
             "Time without a change after which a file counts as whole", duration())
      ->capture_default_str();
  add_option(*command, "--rescan", rescan_, "TIME",
             "Time between looks at folders whose file system does not report changes", interval())
      ->capture_default_str();
  command->add_flag("--once", watch_.once,
                    "End when all files that are there were tried; exits with 3 when some are not "
                    "enqueued");
  add_watches_file(*command);
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
