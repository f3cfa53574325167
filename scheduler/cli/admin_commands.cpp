#include "scheduler/cli/admin_commands.h"

#include "scheduler/cli/terminal/arguments.h"

namespace scheduler::cli {

CLI::App& admin_command(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == "admin") return *command;
  }
  CLI::App* admin = app.add_subcommand("admin", "Look after the daemon's database and files");
  admin->require_subcommand(1);
  admin->footer("Example:\n  margay admin backup /backup/margay-$(date +%F).db");
  return *admin;
}

void AdminDatabaseCommands::add_place(CLI::App& command) {
  add_option(command, "--config", place_.config, "FILE",
             "The daemon's configuration: use its database straight, without the daemon");
  add_option(command, "--state", place_.state, "DIR", "The daemon's state folder, in the same way");
}

void AdminDatabaseCommands::add(CLI::App& app, const AddCommand& add_command) {
  CLI::App& parent = admin_command(app);
  CLI::App* command = add_command(
      parent, "backup", "Copy the database into one checked file, also while in use",
      "margay admin backup /backup/margay-$(date +%F).db",
      [this](const Context& context) { return back_up_database(context, place_, file_); });
  add_option(*command, "FILE", file_, "", "File that the daemon may write, and that must not exist")
      ->required();
  add_place(*command);
  command = add_command(
      parent, "verify", "Check the database, or a copy of it, and count what it has",
      "margay admin verify\n  margay admin verify /backup/margay-2026-11-26.db",
      [this](const Context& context) { return verify_database(context, place_, file_); });
  add_option(*command, "FILE", file_, "", "A copy [default: the daemon's database]");
  add_place(*command);
  command = add_command(
      parent, "restore", "Put a copy in the place of the database, while no daemon runs",
      "margay admin restore /backup/margay-2026-11-26.db --config /etc/margay/margayd.yaml",
      [this](const Context& context) {
        return restore_database(context, place_, file_, without_jobs_);
      });
  add_option(*command, "FILE", file_, "", "The copy")->required();
  add_place(*command);
  command->add_flag("--without-jobs", without_jobs_,
                    "The folder of jobs is gone for good: searches submitted after the copy are "
                    "not looked for, and may run twice");
}

}  // namespace scheduler::cli
