#include "scheduler/cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <ostream>

#include "base/duration.h"
#include "scheduler/api/json_text.h"
#include "scheduler/cli/arguments.h"
#include "scheduler/cli/daemon_commands.h"
#include "scheduler/cli/enqueue.h"
#include "scheduler/cli/items.h"
#include "scheduler/cli/results.h"
#include "scheduler/cli/sbatch_options.h"
#include "scheduler/cli/site.h"
#include "scheduler/cli/templates.h"
#include "scheduler/cli/wait.h"
#include "scheduler/config/config.h"

namespace scheduler::cli {
namespace {

constexpr const char* kExits =
    "Exit codes: 0 success, 1 failed, 2 usage, 3 some of many failed, 4 not found, 5 not "
    "permitted,\n"
    "6 already exists, 7 no daemon, 9 wait timed out, 75 try again later.";
constexpr std::chrono::seconds kStopTimeout{10};

std::string default_socket() {
  const char* socket = std::getenv("MARGAY_SOCKET");
  return socket != nullptr && *socket != '\0' ? socket : "/run/margay/margay.sock";
}

// The options of all commands. Parsing stores the action of the chosen command; run() calls it.
class Program {
 public:
  Program() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "margay " MARGAY_VERSION);
    app_.footer(kExits);
    app_.get_formatter()->column_width(34);
    add_templates();
    add_enqueue();
    add_list();
    add_one("show", "Show details of an item: CTF, attempts, result, history", "margay show 12",
            [this](const Context& context) { return show(context, item_); });
    add_one("explain", "Explain why an item waits, runs or ended", "margay explain 12",
            [this](const Context& context) { return explain(context, item_); });
    add_promote();
    add_change("hold", "Keep queued items from starting", "margay hold 12 13");
    add_change("release", "Let held items start", "margay release 12 13");
    add_change("cancel", "Cancel items, stopping running searches", "margay cancel 12");
    add_retry();
    add_wait();
    add_logs();
    add_results();
    add_render();
    add_daemon_commands();
  }

  CLI::App& app() { return app_; }
  bool wants_json() const { return json_; }
  Exit run(const Context& context) const { return action_(context); }
  const std::string& socket() const { return socket_; }

 private:
  CLI::App* add(CLI::App& parent, const std::string& name, const std::string& description,
                const std::string& example, const std::function<Exit(const Context&)>& action) {
    CLI::App* command = parent.add_subcommand(name, description);
    command->footer("Example:\n  " + example);
    command->add_flag("--json", json_, "Print one JSON document");
    command->add_option("--socket", socket_, "Path of the daemon's socket [env: MARGAY_SOCKET]")
        ->type_name("PATH");
    command->callback([this, action] { action_ = action; });
    return command;
  }

  CLI::App* add_one(const std::string& name, const std::string& description,
                    const std::string& example, const std::function<Exit(const Context&)>& action) {
    CLI::App* command = add(app_, name, description, example, action);
    command->add_option("ITEM", item_, "Item number")
        ->required()
        ->check(whole_number())
        ->type_name("");
    return command;
  }

  CLI::App* add_change(const std::string& name, const std::string& description,
                       const std::string& example) {
    CLI::App* command = add(app_, name, description, example, [this, name](const Context& context) {
      return change(context,
                    {.action = name,
                     .priority = new_priority_,
                     .options = retry_options_,
                     .drop_options = drop_options_},
                    items_);
    });
    command->add_option("ITEM", items_, "Item numbers")
        ->required()
        ->check(whole_number())
        ->type_name("");
    return command;
  }

  void add_promote() {
    CLI::App* command = add_change("promote", "Change the priority of items",
                                   "margay promote 12 --priority urgent");
    command->add_option("--priority", new_priority_, "New priority: low, normal, high or urgent")
        ->required()
        ->check(one_of(priorities_))
        ->type_name("PRIORITY");
  }

  void add_retry() {
    CLI::App* command = add_change("retry", "Requeue failed, quarantined or cancelled items",
                                   "margay retry 12\n  margay retry 12 --time 8:00:00");
    command->add_flag("--drop-options", drop_options_, "Discard the item's Slurm options");
    add_sbatch_options(*command, retry_options_);
  }

  void add_templates() {
    CLI::App* parent =
        app_.add_subcommand("template", "Register and list templates with their search settings");
    parent->require_subcommand(1);
    parent->footer(
        "Example:\n  margay template add ribosome.mrc --name ribosome --config "
        "search.yaml");
    CLI::App* command =
        add(*parent, "add", "Register a template volume with its search settings",
            "margay template add ribosome.mrc --name ribosome --config search.yaml",
            [this](const Context& context) { return add_template(context, template_); });
    command->add_option("FILE", template_.volume, "Volume (MRC)")->required()->type_name("");
    command->add_option("--name", template_.name, "Name for 'enqueue --template'")
        ->required()
        ->type_name("NAME");
    command
        ->add_option("--config", template_.config,
                     "Leopard-EM match_template configuration (YAML); its micrograph and result "
                     "paths are ignored")
        ->required()
        ->type_name("YAML");
    add(*parent, "list", "List registered templates", "margay template list",
        [](const Context& context) { return list_templates(context); });
  }

  void add_enqueue() {
    CLI::App* command = add(
        app_, "enqueue", "Search micrographs for a template",
        "margay enqueue 'grid1/*.mrc' --template ribosome --ctf '{dir}/{stem}_ctf.txt'\n  margay "
        "enqueue one.mrc --template ribosome --priority high --defocus-u 10200 --defocus-v 9800 "
        "--astigmatism-angle 35",
        [this](const Context& context) { return enqueue(context, enqueue_); });
    command->add_option("FILE", enqueue_.files, "Micrographs (MRC), or quoted globs")
        ->required()
        ->type_name("");
    command
        ->add_option("--template", enqueue_.search_template,
                     "Template to search for: NAME or NAME@VERSION")
        ->required()
        ->type_name("NAME");
    command->add_option("--priority", enqueue_.priority, "Priority: low, normal, high or urgent")
        ->check(one_of(priorities_))
        ->type_name("PRIORITY")
        ->capture_default_str();
    add_ctf(*command);
    command->add_flag("--again", enqueue_.again, "Enqueue again even if already queued");
    command->add_flag("--hold", enqueue_.hold, "Enqueue as held; 'margay release' starts them");
    command->add_option("--label", enqueue_.label, "Label for filtering")->type_name("TEXT");
    add_sbatch_options(*command, enqueue_.options);
  }

  void add_ctf(CLI::App& command) {
    CtfOptions& ctf = enqueue_.ctf;
    command
        .add_option("--ctf", ctf.pattern,
                    "CTFFIND text file of each micrograph; {dir}, {stem} and {name} stand for "
                    "its folder, its name without and with extension")
        ->type_name("PATTERN");
    command
        .add_option("--defocus-u", ctf.defocus_u,
                    "Defocus along the first axis in A, underfocus positive")
        ->check(real_number())
        ->type_name("A");
    command.add_option("--defocus-v", ctf.defocus_v, "Defocus along the second axis in A")
        ->check(real_number())
        ->type_name("A");
    command
        .add_option("--astigmatism-angle", ctf.astigmatism_angle,
                    "Angle of defocus u from the x axis in degrees")
        ->check(real_number())
        ->type_name("DEG");
    command.add_option("--phase-shift", ctf.phase_shift, "Phase shift in degrees [default: 0]")
        ->check(real_number())
        ->type_name("DEG");
    command.add_flag("--same-ctf", ctf.same, "Use one CTF for several files");
  }

  void add_list() {
    CLI::App* command = add(app_, "list", "List items", "margay list --state queued,active",
                            [this](const Context& context) { return list(context, list_); });
    command
        ->add_option("--state", list_.state,
                     "Only items in these states: queued, held, active, done, failed, cancelled, "
                     "quarantined")
        ->type_name("STATES");
    command
        ->add_option("--priority", list_.priority,
                     "Only items of these priorities: low, normal, high, urgent")
        ->type_name("PRIORITIES");
    command->add_option("--label", list_.label, "Only items with this label")->type_name("TEXT");
    command->add_option("--limit", list_.limit, "Maximum number of items")
        ->check(whole_number())
        ->type_name("N");
  }

  void add_wait() {
    CLI::App* command = add(app_, "wait", "Wait for items to finish, showing their progress",
                            "margay wait 12 13 --timeout 2h", [this](const Context& context) {
                              if (!timeout_.empty()) wait_.timeout = base::parse_duration(timeout_);
                              return wait(context, wait_);
                            });
    command->add_option("ITEM", wait_.items, "Item numbers [default: your unfinished items]")
        ->check(whole_number())
        ->type_name("");
    command->add_flag("--all", wait_.all, "Wait for all users' unfinished items");
    command
        ->add_option("--timeout", timeout_,
                     "Stop waiting after this time, e.g. 90s, 10m, 2h (exit code 9)")
        ->check(duration())
        ->type_name("TIME");
  }

  void add_logs() {
    CLI::App* command = add_one("logs", "Print the log of an item's search",
                                "margay logs 12 --follow", [this](const Context& context) {
                                  log_.item = item_;
                                  return logs(context, log_);
                                });
    command->add_flag("--follow", log_.follow, "Keep printing until the attempt ends");
    command->add_option("--attempt", log_.attempt, "Number of the attempt [default: the newest]")
        ->check(whole_number())
        ->type_name("N");
  }

  void add_results() {
    CLI::App* command =
        add_one("results", "Print an item's peaks and the paths of its maps and pictures",
                "margay results 12 --output-dir peaks_of_12", [this](const Context& context) {
                  result_.item = item_;
                  return results(context, result_);
                });
    command->add_flag("--path", result_.path_only, "Print only the path of the result's folder");
    command
        ->add_option("--output-dir", result_.output_directory,
                     "Copy peak list, manifest and pictures into this folder")
        ->type_name("DIR");
  }

  void add_render() {
    CLI::App* command =
        add_one("render", "Print an item's job script, as submitted or as it would be now",
                "margay render 12 > x.sh",
                [this](const Context& context) { return render(context, item_, render_); });
    command->add_option("--shape", render_.shape, "Render for this shape: cpu, gpu, node or nodes")
        ->check(one_of({"cpu", "gpu", "node", "nodes"}))
        ->type_name("SHAPE");
    command->add_flag(
        "--test-only", render_.test_only,
        "Ask Slurm whether it would accept the script (needs 'slurm.transport: cli')");
  }

  void add_daemon_commands() {
    add(app_, "status", "Show daemon health and queue counts", "margay status",
        [](const Context& context) { return status(context); });
    add(app_, "doctor", "Check the installation and run a test job; takes a minute",
        "margay doctor", [](const Context& context) { return doctor(context); });
    add(app_, "stop", "Stop the daemon; running jobs continue", "margay stop",
        [](const Context& context) { return stop(context, kStopTimeout); });
  }

  const std::vector<std::string> priorities_ = {"low", "normal", "high", "urgent"};
  CLI::App app_{"Queue 2D template matching searches and follow them", "margay"};
  std::string socket_ = default_socket();
  bool json_ = false;
  std::function<Exit(const Context&)> action_;
  int64_t item_ = 0;
  std::vector<int64_t> items_;
  std::string new_priority_;
  std::string timeout_;
  TemplateOptions template_;
  EnqueueOptions enqueue_;
  ListOptions list_;
  WaitOptions wait_;
  LogOptions log_;
  ResultOptions result_;
  RenderOptions render_;
  std::map<std::string, std::string> retry_options_;
  bool drop_options_ = false;
};

int report(const Context& context, const Failure& failure) {
  context.complain(failure.what());
  context.print_if_json(
      {{"error", api::error_json(kind_of(failure.exit()), failure.what(), failure.item())}});
  return static_cast<int>(failure.exit());
}

}  // namespace

int run(int argc, const char* const* argv, const Screen& screen, std::ostream& out,
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
  const Context context(program.socket(), program.wants_json(), screen, out, error);
  try {
    return static_cast<int>(program.run(context));
  } catch (const Failure& failure) {
    return report(context, failure);
  } catch (const std::exception& exception) {
    return report(context, Failure(Exit::kFailed, exception.what()));
  }
}

}  // namespace scheduler::cli
