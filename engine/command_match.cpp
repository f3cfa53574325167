// margay-engine match: one search from files to files.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "engine/commands.h"
#include "engine/config.h"
#include "engine/human_text.h"

namespace engine {
namespace {

void print_summary(const Manifest& manifest) {
  char numbers[120];
  std::snprintf(numbers, sizeof numbers, "%lld %s above %.3f, best z %.2f",
                static_cast<long long>(manifest.peaks), manifest.peaks == 1 ? "peak" : "peaks",
                manifest.cutoff, manifest.best_z);
  std::cout << numbers << ", searched in " << duration_text(manifest.timings.search) << '\n'
            << "peak list  " << manifest.outputs.csv << '\n'
            << "manifest   " << manifest.outputs.manifest << '\n';
  for (const auto& [name, path] : manifest.pictures) std::cout << "picture    " << path << '\n';
}

// Found before the folders of the results are made.
void check_resume(const std::string& checkpoint) {
  if (checkpoint.empty() || ::access(checkpoint.c_str(), R_OK) == 0) return;
  throw InputError("--resume: '" + checkpoint + "' cannot be read: " + std::strerror(errno));
}

// Several tasks of one job would each do the whole search and write over each other's files.
void refuse_other_ranks() {
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"}) {
    const char* tasks = std::getenv(name);
    if (tasks == nullptr || std::atoi(tasks) <= 1) continue;
    throw UsageError(std::string(name) + " is " + tasks +
                     ": this version searches with one process; start it as one task "
                     "(srun --ntasks=1), each micrograph in a job of its own");
  }
}

}  // namespace

ExitCode match_command(const MatchCommand& command, const std::atomic<bool>& stop) {
  refuse_other_ranks();
  MatchOptions options = command.options;
  options.message = tell;
  check_resume(options.resume);
  const MatchOutcome outcome = run_match(read_search_config(command.config), options, stop);
  if (!outcome.stopped) {
    print_summary(outcome.manifest);
    return ExitCode::kDone;
  }
  tell(options.checkpoint.empty()
           ? "stopped on request; nothing was kept, since no --checkpoint was given"
           : "stopped on request; go on with --resume '" + options.checkpoint + "'");
  return ExitCode::kStopped;
}

}  // namespace engine
