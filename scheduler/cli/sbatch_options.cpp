#include "scheduler/cli/sbatch_options.h"

#include <array>
#include <vector>

namespace scheduler::cli {
namespace {

constexpr const char* kGroup = "Slurm options, as sbatch's (only where the daemon uses Slurm)";

struct Option {
  const char* name;
  const char* type;
  const char* description;
};
constexpr std::array<Option, 21> kOptions = {{
    {"time", "TIME", "Time limit: 30, 2:00:00, 1-12"},
    {"partition", "NAME", "Partition to run in"},
    {"qos", "NAME", "Quality of service"},
    {"account", "NAME", "Account to charge"},
    {"nodes", "N", "Number of nodes"},
    {"mem", "SIZE", "Memory of each node: 64G; 0 = all"},
    {"mem-per-cpu", "SIZE", "Memory of each CPU, instead of --mem"},
    {"mem-per-gpu", "SIZE", "Memory of each GPU, instead of --mem"},
    {"ntasks-per-node", "N", "Engine processes on each node"},
    {"cpus-per-task", "N", "Cores of each engine process"},
    {"gres", "LIST", "Generic resources of each node: gpu:4"},
    {"gpus-per-node", "N", "GPUs of each node: N or TYPE:N"},
    {"gpus-per-task", "N", "GPUs of each engine process: N or TYPE:N"},
    {"constraint", "FEATURES", "Features that the nodes must have"},
    {"reservation", "NAME", "Reservation to run in"},
    {"mail-user", "ADDRESS", "Recipient of Slurm's mails"},
    {"mail-type", "LIST", "Events to mail: END,FAIL"},
    {"job-name", "TEXT", "Label for the job's comment; its name is Margay's"},
    {"error", "FILE", "File for the job's standard error [default: its log]"},
    {"chdir", "DIR", "Working folder of the job"},
    {"ntasks", "N", "Number of engine processes"},
}};

void put(std::map<std::string, std::string>& options, const std::string& name,
         const std::string& value) {
  if (options.emplace(name, value).second) return;
  throw CLI::ValidationError("--" + name, "is given twice");
}

// NAME=VALUE, or NAME alone for an option without a value; dashes in front do no harm.
void put_any(std::map<std::string, std::string>& options, const std::string& text) {
  const size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  name.erase(0, std::min(name.size(), name.find_first_not_of('-')));
  if (name.empty()) throw CLI::ValidationError("--sbatch", "'" + text + "' is not NAME=VALUE");
  put(options, name, equals == std::string::npos ? "" : text.substr(equals + 1));
}

}  // namespace

void add_sbatch_options(CLI::App& command, std::map<std::string, std::string>& options) {
  for (const Option& option : kOptions) {
    const std::string name = option.name;
    command
        .add_option_function<std::string>(
            "--" + name, [&options, name](const std::string& value) { put(options, name, value); },
            option.description)
        ->group(kGroup)
        ->type_name(option.type);
  }
  // A flag, so that a file behind it is not taken for its value.
  command
      .add_flag_function(
          "--exclusive", [&options](int64_t) { put(options, "exclusive", ""); },
          "Reserve whole nodes; --sbatch exclusive=user shares them with the user's own jobs")
      ->group(kGroup);
  command
      .add_option_function<std::vector<std::string>>(
          "--sbatch",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) put_any(options, text);
          },
          "Any other sbatch option; may be repeated")
      ->expected(1)
      ->take_all()
      ->group(kGroup)
      ->type_name("NAME=VALUE");
}

}  // namespace scheduler::cli
