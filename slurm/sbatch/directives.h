// What a job asks of the cluster: sbatch's options by their long names, from the #SBATCH lines of a
// script, the site's configuration or an item. Pure text; slurmrestd ignores #SBATCH lines, so they
// become fields of its request (Resources).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace slurm {

// Long name without dashes -> value; a flag without a value ("exclusive") has "".
using Directives = std::map<std::string, std::string>;

// Its message names the file and the line, or the option.
class DirectiveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The #SBATCH lines of a script up to its first command, as sbatch reads them: long and short
// options, comments after '#', quotes, several options in a line. `name` stands for the script in
// messages. Throws DirectiveError for an unknown option, one given twice with different values, one
// that is Margay's own (job-name, output, requeue, no-requeue, dependency, array, hold, comment,
// test-only, wait, parsable), and a value that does not fit its option.
Directives parse_directives(const std::string& script, const std::string& name);

// Adds one option by its long name, as in the configuration (`partition: gpu`), with its value in
// canonical spelling. Throws as parse_directives(), with `where` before the message.
void add_directive(Directives& directives, const std::string& option, const std::string& value,
                   const std::string& where);

// The options of both; `over` takes precedence. A kind of memory (mem, mem-per-cpu, mem-per-gpu)
// replaces the others, and so does a way to ask for GPUs (gres with a GPU, gpus, gpus-per-node,
// gpus-per-task). A gres without GPUs is added to them.
Directives merge(const Directives& base, const Directives& over);

// Throws DirectiveError, beginning with `where`, for options that contradict each other: several
// kinds of memory, gpus-per-task without tasks, more tasks than nodes hold ...
void check(const Directives& directives, const std::string& where);

// The "#SBATCH --name=value" lines in a fixed order, quoted where needed, each ending in a newline.
std::string to_lines(const Directives& directives);
// The script with these #SBATCH lines after its first line, in place of its own. Throws
// DirectiveError when it does not begin with #!.
std::string with_directives(const std::string& script, const Directives& directives);

// The directives as numbers and texts, for the fields of slurmrestd's request. Unset: the cluster's
// default.
struct Resources {
  std::optional<int64_t> time_minutes{};  // rounded up; -1 = unlimited
  std::string partition{};
  std::string qos{};
  std::string account{};
  std::string reservation{};
  std::string constraint{};
  std::string licenses{};
  std::string mail_user{};
  std::string mail_type{};  // "END,FAIL"
  std::optional<int> min_nodes{};
  std::optional<int> max_nodes{};
  std::optional<int> tasks{};
  std::optional<int> tasks_per_node{};
  std::optional<int> cpus_per_task{};
  std::optional<int64_t> memory_per_node_mb{};  // 0 = all; mem-per-gpu x GPUs per node is here too
  std::optional<int64_t> memory_per_cpu_mb{};
  std::string gres{};           // "gpu:4", "gpu:a100:2", per node
  std::string gpus{};           // "8" or "a100:8", of the whole job
  std::string gpus_per_node{};  // the same, per node
  std::string gpus_per_task{};  // the same, per task
  std::string exclusive{};      // "", "exclusive", "user" or "mcs"
  std::string nodelist{};
  std::string exclude{};
  std::string error_path{};
  std::string directory{};            // chdir
  std::string signal_name{};          // "USR1"
  std::optional<int> signal_delay{};  // seconds before the time limit
  std::optional<int> nice{};
  std::string begin{};
  std::string deadline{};
  std::string wckey{};
  std::optional<int64_t> temporary_disk_mb{};  // of a node
};

// Throws DirectiveError like check().
Resources resources_of(const Directives& directives, const std::string& where);

// GPUs of the whole job, 0 = none.
int gpus_of(const Resources& resources);

}  // namespace slurm
