#include "scheduler/cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <functional>
#include <ostream>

#include "base/cli_pages.h"
#include "base/duration.h"
#include "base/environment.h"
#include "base/output.h"
#include "scheduler/cli/admin_commands.h"
#include "scheduler/cli/admin_gc.h"
#include "scheduler/cli/command_options.h"
#include "scheduler/cli/enqueue_options.h"
#include "scheduler/cli/ingest_commands.h"
#include "scheduler/cli/items/changes.h"
#include "scheduler/cli/items/enqueue.h"
#include "scheduler/cli/items/explain.h"
#include "scheduler/cli/items/export.h"
#include "scheduler/cli/items/items.h"
#include "scheduler/cli/items/list.h"
#include "scheduler/cli/items/logs.h"
#include "scheduler/cli/items/results.h"
#include "scheduler/cli/items/wait.h"
#include "scheduler/cli/sbatch_options.h"
#include "scheduler/cli/simulate.h"
#include "scheduler/cli/site.h"
#include "scheduler/cli/site_commands.h"
#include "scheduler/cli/template_commands.h"
#include "scheduler/cli/terminal/arguments.h"
#include "scheduler/cli/terminal/find_socket.h"
#include "scheduler/cli/terminal/time_value.h"
#include "scheduler/config/config.h"
#include "scheduler/config/places.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

constexpr const char* kExits =
    "Exit codes: 0 success, 1 failed, 2 usage, 3 some of many failed, 4 not found,\n"
    "5 not permitted, 6 already exists, 7 no daemon, 9 wait timed out,\n"
    "10 'plan' found something to do.";

// The options of all commands. Parsing stores the action of the chosen command; run() calls it.
class Program {
 public:
  Program() {
    app_.require_subcommand(1);
    app_.set_version_flag("-V,--version", "margay " MARGAY_VERSION);
    app_.footer(kExits);
    app_.get_formatter()->column_width(34);
    base::add_page_options(app_, 1, {"margay-engine(1)", "margayd(8)"});
    add_global(app_);
    templates_.add(app_, adder());
    add_enqueue();
    ingest_.add(app_, adder());
    admin_database_.add(app_, adder());
    gc_.add(app_, adder());
    for (const auto* name : {"template", "watch", "admin"}) add_global(*app_.get_subcommand(name));
    add_list();
    add_several("show", "Show details of items: CTF, attempts, result, history",
                "margay show 12\n  margay show last", show);
    add_several("explain", "Explain why items wait, run or ended, and what a promotion would mean",
                "margay explain 12\n  margay explain --state failed", explain);
    add_promote();
    add_finish_by();
    add_change("hold", "Keep queued items from starting", "margay hold 12-20,31");
    add_change("release", "Let held items start", "margay release all");
    add_change("cancel", "Cancel items, stopping running searches",
               "margay cancel 12\n  margay cancel --label grid1 --dry-run");
    add_retry();
    add_remove();
    add_wait();
    add_logs();
    add_results();
    add_render();
    add_simulate();
    site_.add(app_, adder());
  }

  CLI::App& app() { return app_; }
  bool wants_json() const { return json_; }
  Exit run(const Context& context) const { return action_(context); }
  const std::string& socket() const { return socket_; }

 private:
  // They may stand before the command as well as behind it.
  void add_global(CLI::App& app) {
    app.add_flag("--json", json_, "Print one JSON document");
    add_socket(app);
  }

  void add_socket(CLI::App& app) {
    add_option(app, "--socket", socket_, "PATH",
               "Path of the daemon's socket [env: MARGAY_SOCKET; default: your own daemon's, else "
               "/run/margay/margay.sock]");
  }

  // A command that needs no daemon.
  CLI::App* add_local(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& example,
                      const std::function<Exit(const Context&)>& action) {
    CLI::App* command = parent.add_subcommand(name, description);
    command->footer("Example:\n  " + example);
    command->add_flag("--json", json_, "Print one JSON document");
    command->callback([this, action] { action_ = action; });
    return command;
  }

  CLI::App* add(CLI::App& parent, const std::string& name, const std::string& description,
                const std::string& example, const std::function<Exit(const Context&)>& action) {
    CLI::App* command = add_local(parent, name, description, example, action);
    add_socket(*command);
    return command;
  }

  AddCommand adder() {
    return [this](CLI::App& parent, const std::string& name, const std::string& description,
                  const std::string& example, const std::function<Exit(const Context&)>& action) {
      return add(parent, name, description, example, action);
    };
  }

  using SeveralAction = std::function<Exit(const Context&, const std::vector<int64_t>&)>;
  CLI::App* add_several(const std::string& name, const std::string& description,
                        const std::string& example, const SeveralAction& action) {
    CLI::App* command =
        add(app_, name, description, example, [this, action](const Context& context) {
          return action(context, select_items(context, selection_));
        });
    add_items(*command, selection_, ByPriority::kYes);
    return command;
  }

  // With --priority the change has its own option of that name.
  CLI::App* add_change(const std::string& name, const std::string& description,
                       const std::string& example, ByPriority by_priority = ByPriority::kYes) {
    CLI::App* command = add(app_, name, description, example, [this, name](const Context& context) {
      return change(context,
                    {.action = name,
                     .priority = new_priority_,
                     .finish_by = new_finish_by(),
                     .options = retry_options_,
                     .drop_options = drop_options_,
                     .opens_micrograph = name == "retry",
                     .results = results_,
                     .dry_run = dry_run_},
                    select_to_change(context, selection_, states_for(name)));
    });
    add_items(*command, selection_, by_priority);
    command->add_flag("--dry-run", dry_run_, "Only say what would be changed");
    return command;
  }

  void add_promote() {
    CLI::App* command = add_change("promote", "Change the priority of items",
                                   "margay promote 12 --priority urgent", ByPriority::kNo);
    add_option(*command, "--priority", new_priority_, "PRIORITY",
               "New priority: low, normal, high or urgent", one_of(priorities_))
        ->required();
    CLI::App* lower = add_change("demote", "Lower the priority of items",
                                 "margay demote 12-20 --priority normal", ByPriority::kNo);
    add_option(*lower, "--priority", new_priority_, "PRIORITY",
               "New priority: low, normal or high [default: low]",
               one_of({"low", "normal", "high"}));
    lower->preparse_callback([this](size_t) { new_priority_ = "low"; });
  }

  void add_finish_by() {
    CLI::App* command = add_change("finish-by", "Set or remove the deadline of items",
                                   "margay finish-by 12 13 --time 08:00\n  margay finish-by 12 "
                                   "--time none");
    add_option(*command, "--time", finish_by_, "TIME",
               "New deadline: +3h, 08:00, 2026-11-24T08:00 (local), 2026-11-24T07:00Z, or none",
               time_value_or_none())
        ->required();
  }

  std::optional<int64_t> new_finish_by() const {
    if (finish_by_ == "none") return 0;
    return parse_time(finish_by_, std::time(nullptr));
  }

  void add_retry() {
    CLI::App* command = add_change(
        "retry", "Requeue failed, quarantined or cancelled items",
        "margay retry 12\n  margay retry all --label grid1 --time 8:00:00", ByPriority::kNo);
    add_option(*command, "--priority", new_priority_, "PRIORITY",
               "New priority: low, normal, high or urgent [default: as before]",
               one_of(priorities_));
    command->add_flag("--drop-options", drop_options_, "Discard the item's Slurm options");
    add_sbatch_options(*command, retry_options_);
  }

  void add_remove() {
    CLI::App* command = add_change(
        "remove", "Remove ended items and the folders of their attempts; results stay",
        "margay remove 1-20,31 --dry-run\n  margay remove --label grid1 --state failed\n  margay "
        "remove 12 --results");
    command->add_flag("--results", results_, "Also remove maps, peak lists and pictures");
  }

  void add_enqueue() {
    CLI::App* command = add(
        app_, "enqueue", "Search micrographs for a template",
        "margay enqueue 'grid1/*.mrc' --template ribosome --ctf '{dir}/{stem}_ctf.txt'\n  margay "
        "enqueue one.mrc --template ribosome --priority high --defocus-u 10200 --defocus-v 9800 "
        "--astigmatism-angle 35",
        [this](const Context& context) {
          enqueue_.finish_by = new_finish_by().value_or(0);
          return enqueue(context, enqueue_);
        });
    add_option(*command, "FILE", enqueue_.files, "", "Micrographs (MRC), or quoted globs")
        ->required();
    add_option(*command, "--finish-by", finish_by_, "TIME",
               "Deadline: +3h, 08:00, 2026-11-24T08:00 (local) or 2026-11-24T07:00Z", time_value());
    add_ctf_options(*command, enqueue_.ctf);
    add_enqueue_options(*command, enqueue_);
    command->add_flag("--wait", enqueue_.wait, "Wait until the items have ended");
  }

  void add_list() {
    CLI::App* command = add(
        app_, "list", "List items: live ones first, the newest last",
        "margay list --state queued,active\n  margay list --mine --format item,state,peaks,path "
        "--sort -peaks\n  margay list --watch",
        [this](const Context& context) {
          if (!every_.empty()) list_.every = base::parse_duration(every_).value();
          return list(context, list_);
        });
    add_list_options(*command, list_, every_);
  }

  void add_wait() {
    CLI::App* command = add(app_, "wait", "Wait for items to finish, showing their progress",
                            "margay wait 12 13 --timeout 2h", [this](const Context& context) {
                              if (!timeout_.empty()) wait_.timeout = base::parse_duration(timeout_);
                              if (!selection_.empty()) {
                                wait_.items = select_to_wait_for(context, selection_);
                                wait_.chosen = true;
                              }
                              return wait(context, wait_);
                            });
    add_items(*command, selection_, ByPriority::kYes, " [default: your unfinished items]");
    command->add_flag("--all", wait_.all, "Wait for all users' unfinished items");
    add_option(*command, "--timeout", timeout_, "TIME",
               "Stop waiting after this time, e.g. 90s, 10m, 2h (exit code 9)", duration());
  }

  void add_logs() {
    CLI::App* command =
        add_several("logs", "Print the logs of items' searches",
                    "margay logs 12 --follow\n  margay logs --state failed",
                    [this](const Context& context, const std::vector<int64_t>& items) {
                      return logs(context, items, log_);
                    });
    command->add_flag("--follow", log_.follow, "Keep printing until the attempt ends (one item)");
    add_option(*command, "--attempt", log_.attempt, "N",
               "Number of the attempt [default: the newest]", whole_number());
  }

  void add_results() {
    CLI::App* command = add(app_, "results",
                            "Print the peaks of items and the paths of their maps and pictures, or "
                            "write all peaks into "
                            "one file",
                            "margay results 12 --output-dir peaks_of_12\n  margay results --label "
                            "grid1 --star all.star",
                            [this](const Context& context) { return results_or_export(context); });
    add_items(*command, selection_, ByPriority::kYes);
    add_result_options(*command, export_, result_);
  }

  Exit results_or_export(const Context& context) {
    if (export_.star.empty() && export_.csv.empty()) {
      return results(context, select_items(context, selection_), result_);
    }
    check_names(export_);
    export_.items = select_to_export(context, selection_);
    return export_peaks(context, export_);
  }

  void add_render() {
    CLI::App* command =
        add_several("render", "Print an item's job script, as submitted or as it would be now",
                    "margay render 12 > x.sh\n  margay render last",
                    [this](const Context& context, const std::vector<int64_t>& items) {
                      return render(context, items, render_);
                    });
    add_render_options(*command, render_);
  }

  void add_simulate() {
    CLI::App* command =
        add_local(app_, "simulate",
                  "Simulate a queue under several policies and compare them; needs no daemon for a "
                  "trace",
                  "margay simulate docs/trace.yaml --policy ours,one-gpu",
                  [this](const Context& context) { return simulate_trace(context, simulate_); });
    add_simulate_options(*command, simulate_);
    add_option(*command, "--socket", socket_, "PATH",
               "Path of the daemon's socket, for --from-history [env: MARGAY_SOCKET]");
  }

  const std::vector<std::string> priorities_ = {"low", "normal", "high", "urgent"};
  CLI::App app_{"Queue 2D template matching searches and follow them", "margay"};
  std::string socket_ = base::variable("MARGAY_SOCKET");  // empty: to be found
  bool json_ = false;
  std::function<Exit(const Context&)> action_;
  Selection selection_;
  bool dry_run_ = false;
  std::string every_;
  std::string new_priority_;
  std::string finish_by_;
  std::string timeout_;
  TemplateCommands templates_;
  AdminDatabaseCommands admin_database_;
  EnqueueOptions enqueue_;
  IngestCommands ingest_;
  SiteCommands site_;
  GcCommand gc_;
  ListOptions list_;
  WaitOptions wait_;
  LogOptions log_;
  ResultOptions result_;
  ExportOptions export_;
  RenderOptions render_;
  SimulateOptions simulate_;
  std::map<std::string, std::string> retry_options_;
  bool drop_options_ = false;
  bool results_ = false;
};

int report(const Context& context, const Failure& failure) {
  context.complain(failure.what());
  context.print_if_json(
      {{"error", api::error_json(kind_of(failure.exit()), failure.what(), failure.item())}});
  return static_cast<int>(failure.exit());
}

int run_command(int argc, const char* const* argv, const Screen& screen, std::ostream& out,
                std::ostream& error) {
  Program program;
  try {
    std::vector<std::string> arguments = arguments_of(argc, argv);
    check_command(program.app(), arguments);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    program.app().parse(std::move(arguments));
  } catch (const CLI::Success& asked) {
    program.app().exit(asked, out, error);
    return static_cast<int>(Exit::kOk);
  } catch (const CLI::ParseError& parse_error) {
    error << "margay: " << printable_lines(usage_message(program.app(), parse_error)) << "\n";
    return static_cast<int>(Exit::kUsage);
  }
  const Context context(find_socket(program.socket(), sockets_to_try(user_folders())),
                        program.wants_json(), screen, out, error);
  try {
    return static_cast<int>(program.run(context));
  } catch (const Failure& failure) {
    return report(context, failure);
  } catch (const std::exception& exception) {
    return report(context, Failure(Exit::kFailed, exception.what()));
  }
}

}  // namespace

int run(int argc, const char* const* argv, const Screen& screen, std::ostream& out,
        std::ostream& error) {
  const int code = run_command(argc, argv, screen, out, error);
  if (out.flush()) return code;
  error << "margay: " << base::kOutputLost << "\n";
  return static_cast<int>(Exit::kFailed);
}

}  // namespace scheduler::cli
