// Implements add_match of commands.h: runs one search from its input files to its output files.
#include "engine/search/match.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>
#include <string>
#include <utility>

#include "base/checkpoint_text.h"
#include "base/duration.h"
#include "base/text.h"
#include "engine/commands/commands.h"
#include "engine/commands/options.h"
#include "engine/config/config_reader.h"
#include "engine/cpu/memory_nodes.h"
#include "engine/io/format.h"
#include "engine/launch/local_ranks.h"
#include "engine/launch/stop_signals.h"
#include "engine/ranks/leader.h"
#include "engine/ranks/worker.h"
#include "engine/search/worker_run.h"

namespace engine {
namespace {

struct MatchCommand {
  std::string config;
  std::string micrograph;  // empty: the configuration's
  MatchOptions options;
  RankFlags rank;
  int nproc = 0;                       // local ranks to start; 0: this process is one itself
  std::vector<std::string> arguments;  // argv of this very program
};

constexpr size_t kShown = 10;

// Positions are those of the particles, in pixels of the micrograph, as pos_x_img and pos_y_img of
// the peak list.
void print_best(const FinishedSearch& search) {
  if (search.peaks.empty()) return;
  const bool by_mip = search.manifest.peak_metric == "mip";
  const int half = search.template_size / 2;
  std::cout << "      z     x px    y px     phi   theta     psi  defocus A\n";
  for (size_t i = 0; i < std::min(search.peaks.size(), kShown); ++i) {
    const Peak& peak = search.peaks[i];
    std::cout << format("%7.2f  %7d %7d  %6.1f  %6.1f  %6.1f  %9.0f\n",
                        static_cast<double>(by_mip ? peak.mip : peak.scaled_mip), peak.x + half,
                        peak.y + half, static_cast<double>(peak.phi),
                        static_cast<double>(peak.theta), static_cast<double>(peak.psi),
                        static_cast<double>(peak.relative_defocus));
  }
  if (search.peaks.size() > kShown) {
    std::cout << "and " << search.peaks.size() - kShown << " more in the peak list\n";
  }
}

void print_summary(const FinishedSearch& search) {
  const Manifest& manifest = search.manifest;
  std::cout << base::counted(manifest.peaks, "peak")
            << format(" above %.3f, best z %.2f", manifest.cutoff, manifest.best_z)
            << ", searched in " << base::duration_text(manifest.timings.search) << '\n';
  print_best(search);
  std::cout << "peak list  " << manifest.outputs.csv << '\n'
            << "manifest   " << manifest.outputs.manifest << '\n';
  for (const auto& [name, path] : manifest.pictures) std::cout << "picture    " << path << '\n';
}

// Throws InputError for a checkpoint that cannot be read, before any folder is made.
void check_resume(const std::string& checkpoint) {
  if (checkpoint.empty() || ::access(checkpoint.c_str(), R_OK) == 0) return;
  throw InputError("--resume: " + base::checkpoint_text(checkpoint) +
                   " cannot be read: " + std::strerror(errno));
}

// The command line of each of `ranks` local ranks: this one's without --nproc. The cores are
// divided among them unless --threads is given.
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

// Throws UsageError under a launcher, where each of its processes would do the whole search, into
// the same files.
void refuse_launcher(const RankFlags& flags) {
  const RankPlace place = find_rank(flags, process_environment());
  if (place.size == 1) return;
  throw UsageError(
      "this is " + describe_rank(place) +
      ": --nproc starts all ranks of a search itself, on one machine. Leave --nproc out and "
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

void note_local_ranks(const std::vector<std::string>& devices) {
  std::string names;
  for (const std::string& device : devices) names += (names.empty() ? "" : ", ") + device;
  print_message(
      "note: computational_config.gpu_ids names several devices: starting one rank for each of " +
      names + " (--nproc 1 uses the first alone)");
}

ExitCode run_as_worker(const MatchOptions& options, const std::atomic<bool>& stop) {
  RankGroupOptions rank_group = options.rank_group;
  rank_group.message = print_message;
  DeviceOptions device = options.device;
  device.device = device_of(rank_group.place, device.backend);
  try {
    return run_worker(rank_group, device, stop);
  } catch (const EndedByLeader& ended) {
    return ended.code();
  }
}

// The ranks that wait for this one end with the same error.
SearchConfig read_config_or_abort_peers(const MatchCommand& command,
                                        const RankGroupOptions& rank_group) {
  try {
    check_resume(command.options.resume);
    return read_search_config(command.config, command.micrograph);
  } catch (const Error& error) {
    if (rank_group.place.size > 1) Leader(rank_group).abandon(error);
    throw;
  }
}

ExitCode run(const MatchCommand& command, const std::atomic<bool>& stop) {
  if (command.nproc > 0) {
    refuse_launcher(command.rank);
    return start_local_ranks(command, command.nproc, {}, stop);
  }
  MatchOptions options = command.options;
  options.rank_group.place = find_rank(command.rank, process_environment());
  if (!options.rank_group.place.first()) return run_as_worker(options, stop);
  options.message = print_message;
  const std::string& note = options.rank_group.place.note;
  if (!note.empty()) print_message("note: " + note);
  SearchConfig config = read_config_or_abort_peers(command, options.rank_group);
  if (options.rank_group.place.launcher == Launcher::kAlone) {
    const std::vector<std::string> devices =
        devices_of_local_ranks(config.computation.gpu_ids, devices_for(options.device.backend));
    if (!devices.empty()) {
      note_local_ranks(devices);
      return start_local_ranks(command, static_cast<int>(devices.size()), devices, stop);
    }
  }
  if (const auto finished = run_match(std::move(config), options, stop)) {
    print_summary(*finished);
    return ExitCode::kDone;
  }
  print_message(options.checkpoint.empty()
                    ? "stopped on request; nothing is saved without --checkpoint"
                    : "stopped on request; resume with --resume '" + options.checkpoint + "'");
  return ExitCode::kStopped;
}

void add_rank_options(CLI::App& command, MatchCommand& match) {
  CLI::Option_group& group =
      *command.add_option_group("Several ranks",
                                "Run one search by several processes, one device each; torchrun, "
                                "srun and mpirun number them.");
  RankGroupOptions& rank_group = match.options.rank_group;
  add_count(group, "--nproc", match.nproc, 1, 4096, "Start this many ranks on this machine");
  constexpr int kMostRanks = std::numeric_limits<int>::max();
  add_choice_of_count(group, "--rank", match.rank.rank, 0, kMostRanks - 1,
                      "Rank of this process, from 0");
  add_choice_of_count(group, "--world-size", match.rank.world_size, 1, kMostRanks,
                      "Total number of ranks");
  add_choice_of_count(group, "--local-rank", match.rank.local_rank, 0, kMostRanks - 1,
                      "Rank among those on this host, which selects the device");
  group
      .add_option("--rendezvous", match.rank.rendezvous,
                  "Meet at HOST:PORT of rank 0, or through file:PATH that all ranks can see")
      ->type_name("PLACE");
  group
      .add_option("--run-id", match.rank.run_id,
                  "Identifier shared by all ranks of this run and by no other run")
      ->type_name("NAME");
  add_duration(group, "--rank-timeout", rank_group.timeout,
               "Give up on a rank that is silent for this long (default: 60s)");
  group
      .add_option_function<std::string>(
          "--on-rank-loss",
          [&rank_group](const std::string& what) {
            rank_group.continue_on_rank_loss = what == "continue";
          },
          "abort: end the search, to be resumed from its checkpoint; continue: let the other "
          "ranks take over the lost one's work (default: abort)")
      ->check(one_of({"abort", "continue"}))
      ->type_name("WHAT");
  add_choice(group, "--collectives", rank_group.collectives, {"auto", "gloo", "nccl"},
             "Exchange data between ranks by auto, gloo or nccl");
  add_count(group, "--chunk", rank_group.chunk, 0, 1 << 30,
            "Units of work handed to a rank at once (0 = automatic)")
      .capture_default_str();
}

}  // namespace

void add_match(CLI::App& app, ExitCode& code, const std::vector<std::string>& arguments) {
  const auto [command, match] = add_command<MatchCommand>(
      app, code, "match", "Search one micrograph for one template",
      "SIGTERM, SIGUSR1 and Ctrl-C finish the batch, write the checkpoint and end with status "
      "85.\nExample:\n  margay-engine match search.yaml --output results/peaks.csv --threads 8",
      [](const MatchCommand& given) {
        const StopSignals signals;
        return run(given, signals.requested());
      });
  match.arguments = arguments;
  MatchOptions& options = match.options;
  add_config(command, match.config, "Configuration of Leopard-EM's match_template");
  add_file(command, "--micrograph", match.micrograph,
           "Search this micrograph in place of the configuration's");
  add_file(command, "--output", options.output,
           "Write the peak list to DIR/NAME.csv or DIR/NAME_peaks.csv, and beside it "
           "NAME_manifest.json, NAME_progress.json and pictures; for DIR/peaks.csv without NAME_ "
           "(default: beside scaled_mip_path)");
  add_device_options(command, options.device);
  add_file(command, "--checkpoint", options.checkpoint,
           "Save the work done so far to this file; it is removed at the end (default: none)");
  add_duration(command, "--checkpoint-every", options.checkpoint_every,
               "Save it this often: 500ms, 90s, 10m, 2h (default: 10m)");
  add_file(command, "--resume", options.resume, "Resume from this checkpoint");
  add_file(command, "--progress", options.progress,
           "Write progress as JSON to this file (default: progress.json beside the manifest)");
  command.add_flag("--overwrite", options.overwrite, "Replace the results of a finished search");
  add_mismatch_flag(command, options.allow_pixel_size_mismatch);
  command.add_option("--attempt", options.attempt, "Record this name of the run in the manifest")
      ->type_name("NAME");
  add_peak_options(command, options.peaks);
  add_rank_options(command, match);
}

}  // namespace engine
