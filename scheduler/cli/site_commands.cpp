#include "scheduler/cli/site_commands.h"

#include <chrono>

#include "scheduler/cli/plan.h"
#include "scheduler/cli/site.h"
#include "scheduler/cli/terminal/arguments.h"

namespace scheduler::cli {
namespace {

constexpr std::chrono::seconds kStopTimeout{10};

}  // namespace

void SiteCommands::add(CLI::App& app, const AddCommand& add_command) {
  add_command(app, "status", "Show daemon health and queue counts", "margay status",
              [](const Context& context) { return status(context); });
  add_command(app, "plan",
              "Show what is to be submitted now, what is next and why; exits with 10 when there is "
              "something to do",
              "margay plan", [](const Context& context) { return plan(context); });
  add_command(app, "whoami", "Show your user, groups and permissions", "margay whoami",
              [](const Context& context) { return whoami(context); });
  add_command(app, "doctor", "Check the installation and run a test job; takes a minute",
              "margay doctor", [](const Context& context) { return doctor(context); });
  add_pausing(app, add_command);
  add_command(app, "stop", "Stop the daemon; running jobs continue", "margay stop",
              [](const Context& context) { return stop(context, kStopTimeout); });
}

void SiteCommands::add_pausing(CLI::App& app, const AddCommand& add_command) {
  CLI::App* pausing = add_command(
      app, "pause", "Submit no further jobs, e.g. before maintenance; running jobs continue",
      "margay pause --partition gpu --reason 'new driver on the GPU nodes'",
      [this](const Context& context) { return pause(context, reason_, lane_); });
  add_option(*pausing, "--reason", reason_, "TEXT", "Reason that users see");
  CLI::App* resuming =
      add_command(app, "resume", "Submit jobs again after 'margay pause'", "margay resume",
                  [this](const Context& context) { return resume(context, lane_); });
  for (CLI::App* command : {pausing, resuming}) {
    for (const char* name : {"account", "partition", "qos", "reservation"}) {
      add_option(*command, std::string("--") + name, lane_[name], "NAME",
                 std::string("Only jobs with this ") + (std::string(name) == "qos" ? "QOS" : name));
    }
  }
}

}  // namespace scheduler::cli
