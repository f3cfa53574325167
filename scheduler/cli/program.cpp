#include "scheduler/cli/program.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <functional>
#include <ostream>

#include "scheduler/api/json_text.h"
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
    "Exit codes: 0 well, 1 failed, 2 usage, 3 some of many failed, 4 not found, 5 not permitted,\n"
    "6 exists already, 7 no daemon, 9 waited long enough, 75 try again later.";
constexpr std::chrono::seconds kStopPatience{10};

std::string default_socket() {
  const char* socket = std::getenv("MARGAY_SOCKET");
  return socket != nullptr && *socket != '\0' ? socket : "/run/margay/margay.sock";
}

std::string check_duration(const std::string& text) {
  return parse_duration(text) ? "" : "'" + text + "' is no duration, e.g. 90s, 10m, 2h";
}

// Options of all commands; the command that was chosen runs from `action`.
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
    add_one("show", "Everything known of an item: CTF, attempts, result, who did what",
            "margay show 12", [this](const Context& context) { return show(context, item_); });
    add_one("explain", "Why an item waits, runs or ended", "margay explain 12",
            [this](const Context& context) { return explain(context, item_); });
    add_promote();
    add_change("hold", "Keep queued items from starting", "margay hold 12 13");
    add_change("release", "Let held items start", "margay release 12 13");
    add_change("cancel", "Give items up; a running search is stopped", "margay cancel 12");
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
    command->add_option("--socket", socket_, "The daemon's socket (also MARGAY_SOCKET)")
        ->type_name("PATH");
    command->callback([this, action] { action_ = action; });
    return command;
  }

  CLI::App* add_one(const std::string& name, const std::string& description,
                    const std::string& example, const std::function<Exit(const Context&)>& action) {
    CLI::App* command = add(app_, name, description, example, action);
    command->add_option("ITEM", item_, "Number of the item")
        ->required()
        ->check(positive_)
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
    command->add_option("ITEM", items_, "Numbers of the items")
        ->required()
        ->check(positive_)
        ->type_name("");
    return command;
  }

  void add_promote() {
    CLI::App* command = add_change("promote", "Change the priority of items",
                                   "margay promote 12 --priority urgent");
    command->add_option("--priority", new_priority_, "The new one")
        ->required()
        ->check(CLI::IsMember(priorities_))
        ->type_name("PRIORITY");
  }

  void add_retry() {
    CLI::App* command = add_change("retry", "Try failed, quarantined or cancelled items again",
                                   "margay retry 12\n  margay retry 12 --time 8:00:00");
    command->add_flag("--drop-options", drop_options_,
                      "Without what the item asked of Slurm until now");
    add_sbatch_options(*command, retry_options_);
  }

  void add_templates() {
    CLI::App* parent = app_.add_subcommand("template", "Templates with their search settings");
    parent->require_subcommand(1);
    parent->footer(
        "Example:\n  margay template add ribosome.mrc --name ribosome --config "
        "search.yaml");
    CLI::App* command =
        add(*parent, "add", "Register a template volume with its search settings",
            "margay template add ribosome.mrc --name ribosome --config search.yaml",
            [this](const Context& context) { return add_template(context, template_); });
    command->add_option("FILE", template_.volume, "The volume, MRC")->required()->type_name("");
    command->add_option("--name", template_.name, "What `enqueue --template` calls it")
        ->required()
        ->type_name("NAME");
    command
        ->add_option("--config", template_.config,
                     "Leopard-EM's match_template YAML; its micrograph and result paths are "
                     "not used")
        ->required()
        ->type_name("YAML");
    add(*parent, "list", "The registered templates", "margay template list",
        [](const Context& context) { return list_templates(context); });
  }

  void add_enqueue() {
    CLI::App* command = add(
        app_, "enqueue", "Search micrographs for a template",
        "margay enqueue 'grid1/*.mrc' --template ribosome --ctf '{dir}/{stem}_ctf.txt'\n  margay "
        "enqueue one.mrc --template ribosome --priority high --defocus-u 10200 --defocus-v 9800 "
        "--astigmatism-angle 35",
        [this](const Context& context) { return enqueue(context, enqueue_); });
    command->add_option("FILE", enqueue_.files, "Micrographs (MRC), or globs in quotes")
        ->required()
        ->type_name("");
    command->add_option("--template", enqueue_.search_template, "Its name, or NAME@VERSION")
        ->required()
        ->type_name("NAME");
    command->add_option("--priority", enqueue_.priority, "Which items go first")
        ->check(CLI::IsMember(priorities_))
        ->type_name("PRIORITY")
        ->capture_default_str();
    add_ctf(*command);
    command->add_flag("--again", enqueue_.again, "Also what was enqueued before: another item");
    command->add_flag("--hold", enqueue_.hold, "Start only when released");
    command->add_option("--label", enqueue_.label, "A word of yours to find them by")
        ->type_name("TEXT");
    add_sbatch_options(*command, enqueue_.options);
  }

  void add_ctf(CLI::App& command) {
    CtfOptions& ctf = enqueue_.ctf;
    command
        .add_option("--ctf", ctf.pattern,
                    "CTFFIND's text file of each micrograph; {dir}, {stem} and {name} are its "
                    "folder, its name without and with extension")
        ->type_name("PATTERN");
    command.add_option("--defocus-u", ctf.defocus_u, "In A, underfocus positive")->type_name("A");
    command.add_option("--defocus-v", ctf.defocus_v, "In A")->type_name("A");
    command
        .add_option("--astigmatism-angle", ctf.astigmatism_angle,
                    "Of defocus u, from the x axis, in degrees")
        ->type_name("DEG");
    command.add_option("--phase-shift", ctf.phase_shift, "In degrees, default 0")->type_name("DEG");
    command.add_flag("--same-ctf", ctf.same, "One CTF is meant for several files");
  }

  void add_list() {
    CLI::App* command =
        add(app_, "list", "The items, by number", "margay list --state queued,active",
            [this](const Context& context) { return list(context, list_); });
    command
        ->add_option("--state", list_.state,
                     "Only these: queued, held, planned, active, done, failed, cancelled, "
                     "quarantined")
        ->type_name("STATES");
    command->add_option("--priority", list_.priority, "Only these: low, normal, high, urgent")
        ->type_name("PRIORITIES");
    command->add_option("--label", list_.label, "Only with this label")->type_name("TEXT");
    command->add_option("--limit", list_.limit, "At most so many")
        ->check(positive_)
        ->type_name("N");
  }

  void add_wait() {
    CLI::App* command = add(app_, "wait", "Wait until items have ended, showing their progress",
                            "margay wait 12 13 --timeout 2h", [this](const Context& context) {
                              if (!timeout_.empty()) wait_.timeout = parse_duration(timeout_);
                              return wait(context, wait_);
                            });
    command->add_option("ITEM", wait_.items, "Numbers of items; none: yours that have not ended")
        ->check(positive_)
        ->type_name("");
    command->add_flag("--all", wait_.all, "Everybody's that have not ended");
    command->add_option("--timeout", timeout_, "Give up after this long (exit code 9)")
        ->check(check_duration)
        ->type_name("TIME");
  }

  void add_logs() {
    CLI::App* command = add_one("logs", "What the search of an item printed",
                                "margay logs 12 --follow", [this](const Context& context) {
                                  log_.item = item_;
                                  return logs(context, log_);
                                });
    command->add_flag("--follow", log_.follow, "Go on until it ends");
    command->add_option("--attempt", log_.attempt, "Of this attempt, default the newest")
        ->check(positive_)
        ->type_name("N");
  }

  void add_results() {
    CLI::App* command =
        add_one("results", "Peaks of an item, and where its maps and pictures are",
                "margay results 12 --output-dir peaks_of_12", [this](const Context& context) {
                  result_.item = item_;
                  return results(context, result_);
                });
    command->add_flag("--path", result_.path_only, "Print the result's folder and nothing else");
    command
        ->add_option("--output-dir", result_.output_directory,
                     "Copy peak list, manifest and pictures into this folder")
        ->type_name("DIR");
  }

  void add_render() {
    CLI::App* command =
        add_one("render", "The job script of an item, as it was submitted or would be now",
                "margay render 12 > x.sh",
                [this](const Context& context) { return render(context, item_, render_); });
    command->add_option("--shape", render_.shape, "As a job of this shape: cpu, gpu, node, nodes")
        ->check(CLI::IsMember({"cpu", "gpu", "node", "nodes"}).description(""))
        ->type_name("SHAPE");
    command->add_flag("--test-only", render_.test_only,
                      "Ask Slurm whether it would take it (`slurm.transport: cli` alone)");
  }

  void add_daemon_commands() {
    add(app_, "status", "Who runs, since when, how old its data is, what there is to do",
        "margay status", [](const Context& context) { return status(context); });
    add(app_, "doctor",
        "What is wrong with the site: programs, folders, cluster, and a tiny job; takes a minute",
        "margay doctor", [](const Context& context) { return doctor(context); });
    add(app_, "stop", "Stop the daemon; running jobs go on", "margay stop",
        [](const Context& context) { return stop(context, kStopPatience); });
  }

  // Without its own words in the help.
  const CLI::Validator positive_ = CLI::Validator(CLI::PositiveNumber).description("");
  const std::vector<std::string> priorities_ = {"low", "normal", "high", "urgent"};
  CLI::App app_{"margay: the queue of 2D template matching searches"};
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
  if (context.wants_json()) {
    nlohmann::json error = {{"kind", kind_of(failure.exit())}};
    api::put_text(error, "message", failure.what());
    if (failure.item() != 0) error["item"] = failure.item();
    context.print(nlohmann::json{{"error", error}});
  }
  return static_cast<int>(failure.exit());
}

}  // namespace

int run(int argc, const char* const* argv, const Screen& screen, std::ostream& out,
        std::ostream& error) {
  Program program;
  try {
    program.app().parse(argc, argv);
  } catch (const CLI::ParseError& parse_error) {
    const int code = program.app().exit(parse_error, out, error);
    return static_cast<int>(code == 0 ? Exit::kOk : Exit::kUsage);
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
