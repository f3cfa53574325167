// margay-engine match: one search from files to files.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>

#include "engine/commands/commands.h"
#include "engine/config/config_reader.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/io/format.h"
#include "engine/launch/local_ranks.h"
#include "engine/ranks/leader.h"
#include "engine/ranks/worker.h"
#include "engine/search/worker_run.h"

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

// For each of `ranks` local ranks: the command line without --nproc. Processors are shared out,
// unless --threads says how many each may have.
std::vector<std::string> command_of_ranks(const MatchCommand& match, int ranks) {
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string()};
  for (size_t i = 1; i < match.arguments.size(); ++i) {
    if (match.arguments[i] == "--nproc") {
      ++i;
    } else if (!match.arguments[i].starts_with("--nproc=")) {
      command.push_back(match.arguments[i]);
    }
  }
  if (match.options.device.threads == 0) {
    const int threads = std::max(1, cpu::available_cores() / ranks);
    command.insert(command.end(), {"--threads", std::to_string(threads)});
  }
  return command;
}

// Each of them would do the whole search, into the same files.
void refuse_launcher(const RankFlags& flags) {
  const RankPlace place = find_rank(flags, process_environment());
  if (place.size == 1) return;
  throw UsageError(
      "this is " + describe_rank(place) +
      ": --nproc starts all ranks of a search itself, on one machine. Leave it out and "
      "start one process for each rank, or start one process alone");
}

// `devices`: see LocalRanks.
ExitCode start_local_ranks(const MatchCommand& command, int count,
                           const std::vector<std::string>& devices, const std::atomic<bool>& stop) {
  const RankGroupOptions& rank_group = command.options.rank_group;
  return static_cast<ExitCode>(
      run_local_ranks({.command = command_of_ranks(command, count),
                       .count = count,
                       .devices = devices,
                       .grace_period = rank_group.timeout,
                       .continue_on_rank_loss = rank_group.continue_on_rank_loss},
                      stop));
}

void tell_of_ranks(const std::vector<std::string>& devices) {
  std::string names;
  for (const std::string& device : devices) names += (names.empty() ? "" : ", ") + device;
  tell(
      "note: computational_config.gpu_ids names several devices: one rank is started for each of " +
      names + " (--nproc 1 takes the first alone)");
}

ExitCode run_as_worker(const MatchOptions& options, const std::atomic<bool>& stop) {
  RankGroupOptions rank_group = options.rank_group;
  rank_group.message = tell;
  DeviceOptions device = options.device;
  device.device = device_of(rank_group.place, device.backend);
  try {
    return run_worker(rank_group, device, stop);
  } catch (const EndedByLeader& dismissed) {
    return dismissed.code();
  }
}

// Who waits for this rank is told, too.
SearchConfig read_config_or_abort_peers(const MatchCommand& command,
                                        const RankGroupOptions& rank_group) {
  try {
    check_resume(command.options.resume);
    return read_search_config(command.config);
  } catch (const Error& error) {
    if (rank_group.place.size > 1) Leader(rank_group).abandon(error);
    throw;
  }
}

}  // namespace

ExitCode match_command(const MatchCommand& command, const std::atomic<bool>& stop) {
  if (command.nproc > 0) {
    refuse_launcher(command.rank);
    return start_local_ranks(command, command.nproc, {}, stop);
  }
  MatchOptions options = command.options;
  options.rank_group.place = find_rank(command.rank, process_environment());
  if (!options.rank_group.place.first()) return run_as_worker(options, stop);
  options.message = tell;
  SearchConfig config = read_config_or_abort_peers(command, options.rank_group);
  if (options.rank_group.place.launcher == Launcher::kAlone) {
    const std::vector<std::string> devices =
        devices_of_local_ranks(config.computation.gpu_ids, devices_for(options.device.backend));
    if (!devices.empty()) {
      tell_of_ranks(devices);
      return start_local_ranks(command, static_cast<int>(devices.size()), devices, stop);
    }
  }
  const MatchOutcome outcome = run_match(std::move(config), options, stop);
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
