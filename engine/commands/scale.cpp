// Implements add_scale of commands.h: runs the same search with more and more ranks, on this
// machine or on the nodes of an allocation.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/json.h"
#include "base/private_folder.h"
#include "base/text.h"
#include "engine/commands/commands.h"
#include "engine/commands/options.h"
#include "engine/commands/scale_table.h"
#include "engine/config/config_reader.h"
#include "engine/config/input_checks.h"
#include "engine/config/with_results_in.h"
#include "engine/cpu/memory_nodes.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/io/format.h"
#include "engine/io/input_errors.h"
#include "engine/io/mrc.h"
#include "engine/launch/local_ranks.h"
#include "engine/launch/rank_identity.h"
#include "engine/launch/slurm_allocation.h"
#include "engine/launch/stop_signals.h"
#include "engine/launch/subprocess.h"
#include "engine/numerics/simulate.h"

namespace engine {
namespace {

struct ScaleCommand {
  std::string config;  // empty: a search of its own
  std::string output;  // the table as CSV; empty: none
  int nproc = 0;       // the most ranks; 0: a rank for each device, or for each core
  DeviceOptions device;
  bool allow_pixel_size_mismatch = false;
  bool overwrite = false;
  bool json = false;
};

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// ------------------------------------------------------------------------------------ A search ---

// A search that takes seconds; its results are not looked at.
struct OwnSearch {
  int side = 0;  // of the micrograph
  const char* steps = "";
};
constexpr OwnSearch kForProcessors = {512, "{psi_step: 15, theta_step: 15}"};
constexpr OwnSearch kForDevices = {2048, "{psi_step: 6, theta_step: 6}"};

Volume blob(int size) {
  Volume volume;
  volume.size = size;
  const double middle = size / 2.0;
  for (int z = 0; z < size; ++z) {
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const double far = std::pow((x - middle) / 6, 2) + std::pow((y - middle) / 9, 2) +
                           std::pow((z - middle) / 13, 2);
        volume.voxels.push_back(static_cast<float>(std::exp(-far)));
      }
    }
  }
  return volume;
}

std::string make_search(const std::string& folder, const OwnSearch& wanted) {
  constexpr int kTemplateSize = 64;
  constexpr double kPixelSize = 2.0;
  const Volume volume = blob(kTemplateSize);
  const OpticsGroup optics = {
      .pixel_size = kPixelSize, .voltage = 300, .defocus_u = 10000, .defocus_v = 10000};
  const Simulation made = simulate(volume, optics, {.height = wanted.side, .width = wanted.side});
  write_mrc(folder + "/micrograph.mrc", made.micrograph, kPixelSize);
  write_mrc(folder + "/template.mrc", volume, kPixelSize);
  return "micrograph_path: " + Json(folder + "/micrograph.mrc").dump() +
         "\ntemplate_volume_path: " + Json(folder + "/template.mrc").dump() +
         "\noptics_group: {label: scale, pixel_size: 2.0, voltage: 300, defocus_u: 10000, "
         "defocus_v: 10000, astigmatism_angle: 0}\n"
         "defocus_search_config: {enabled: false}\n"
         "orientation_search_config: " +
         wanted.steps +
         "\npreprocessing_filters: {whitening_filter: {enabled: true}}\n"
         "computational_config: {gpu_ids: all}\n";
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read '" + path + "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

// ------------------------------------------------------------------------------------ The runs ---

void refuse_launcher() {
  const RankPlace place = find_rank({}, process_environment());
  if (place.size == 1) return;
  throw UsageError("this is " + describe_rank(place) +
                   ": scale starts the ranks itself. Run it without the launcher, by hand or in a "
                   "batch script, as margay-engine scale --nproc N; in an allocation of several "
                   "nodes it makes a step of Slurm for every number of ranks");
}

// 1, 2, 4, ... and the most; all of them where they are few.
std::vector<int> numbers_of_ranks(int most) {
  constexpr int kFew = 4;
  std::vector<int> numbers;
  for (int ranks = 1; ranks < most; ranks = most <= kFew ? ranks + 1 : ranks * 2) {
    numbers.push_back(ranks);
  }
  numbers.push_back(most);
  return numbers;
}

// Where the ranks run: on this machine or on the nodes of an allocation.
struct Place {
  std::optional<Allocation> allocation;  // nothing: this machine
  bool on_devices = false;
  Spread spread;
  std::string backend;

  int nodes(int ranks) const { return allocation ? nodes_of(spread, ranks) : 1; }
};

// The machine's share of each rank is the same in every run, so that more ranks are more hardware.
Spread spread_here(const ScaleCommand& command, bool on_devices) {
  const int cores = cpu::available_cores();
  const int one_each = on_devices ? cuda::visible_devices() : cores;
  const int most = command.nproc > 0 ? command.nproc : std::max(1, one_each);
  const int threads =
      command.device.threads > 0 ? command.device.threads : std::max(1, cores / most);
  if (!on_devices && threads * most > cores) {
    print_message("note: " + base::counted(most, "rank") + " x " +
                  base::counted(threads, "thread") +
                  " are more than the cores that this process may use (" + std::to_string(cores) +
                  "): beyond them, more ranks are no more hardware");
  }
  return {.most = most, .per_node = most, .threads = threads};
}

Place place_of(const ScaleCommand& command) {
  const std::string& wanted = command.device.backend;
  Place place{.allocation = find_allocation(process_environment()), .backend = wanted};
  const bool devices_there =
      place.allocation ? place.allocation->gpus > 0 : cuda::nvidia_device_present();
  place.on_devices = wanted == "cuda" || (wanted == "auto" && devices_there);
  if (!place.allocation) {
    place.spread = spread_here(command, place.on_devices);
    return place;
  }
  // A node may have devices that are not the allocation's.
  if (wanted == "auto") place.backend = place.on_devices ? "cuda" : "cpu";
  place.spread =
      spread_over(*place.allocation, place.on_devices, command.nproc, command.device.threads);
  return place;
}

std::vector<std::string> command_of_ranks(const ScaleCommand& scale, const Place& place,
                                          const std::string& config, const std::string& folder) {
  const DeviceOptions& device = scale.device;
  const std::vector<std::pair<std::string, std::string>> options = {
      {"--output", folder + "/peaks.csv"},
      {"--backend", place.backend},
      {"--fft", device.fft},
      {"--precision", device.precision},
      {"--threads", std::to_string(place.spread.threads)},
      {"--batch", std::to_string(device.batch)},
      {"--memory", std::to_string(device.memory)}};
  std::vector<std::string> command = {fs::read_symlink("/proc/self/exe").string(), "match", config};
  for (const auto& [name, value] : options) command.insert(command.end(), {name, value});
  if (scale.allow_pixel_size_mismatch) command.push_back("--allow-pixel-size-mismatch");
  return command;
}

ScaleRow row_of(const Json& manifest, int ranks, int nodes) {
  ScaleRow row{.ranks = ranks,
               .nodes = nodes,
               .seconds = manifest.at("timings").at("search_seconds").get<double>()};
  row.correlations.push_back(
      base::whole_number<int64_t>(manifest.at("counts"), "rank_0_correlations"));
  for (const Json& other : manifest.at("other_ranks")) {
    row.correlations.push_back(base::whole_number<int64_t>(other, "correlations"));
  }
  return row;
}

void describe_search(const Json& manifest, ScaleTable& table) {
  const Json& micrograph = manifest.at("inputs").at("micrograph");
  const Json& counts = manifest.at("counts");
  table.correlations = base::whole_number<int64_t>(counts, "correlations");
  table.search = micrograph.at("width").dump() + " x " + micrograph.at("height").dump() +
                 " pixels, template " + manifest.at("inputs").at("template").at("size").dump() +
                 "^3, " + base::grouped_number(table.correlations) + " correlations in " +
                 base::grouped_number(base::whole_number<int64_t>(counts, "units")) + " units";
  table.backend = manifest.at("device").at("backend").get<std::string>();
  table.device = manifest.at("device").at("name").get<std::string>();
}

// What rank 0 has written on another machine may take a while to be seen here.
void wait_for_file(const std::string& path) {
  constexpr std::chrono::seconds kLongest{60};
  const Clock::time_point end = Clock::now() + kLongest;
  while (!fs::exists(path) && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// Runs the ranks as a step of the allocation and returns its exit code. The ranks meet by a file:
// they write into that folder in any case, while the nodes may not resolve each other's names.
int run_ranks_on_nodes(const Place& place, int ranks, std::vector<std::string> command,
                       const std::string& folder, const std::atomic<bool>& stop) {
  constexpr std::chrono::seconds kTimeout{60};
  command.insert(command.end(), {"--rendezvous", "file:" + folder + "/rendezvous"});
  const ProcessResult end =
      run_subprocess(step_command(place.spread, place.on_devices, ranks, command), kTimeout, stop);
  if (end.code == 0) {
    wait_for_file(folder + "/manifest.json");
  } else if (!stop) {
    std::cerr << end.messages << std::flush;
    print_message("the step of " + base::counted(ranks, "rank") + " on " +
                  base::counted(place.nodes(ranks), "node") + " ended with exit code " +
                  std::to_string(end.code));
  }
  return stop ? static_cast<int>(ExitCode::kStopped) : end.code;
}

// A folder for temporary files is each node's own; where a job is submitted is not.
std::unique_ptr<base::PrivateFolder> scratch_folder(const Place& place) {
  try {
    if (!place.allocation) return std::make_unique<base::PrivateFolder>("scale");
    return std::make_unique<base::PrivateFolder>("scale", fs::current_path().string());
  } catch (const std::system_error& error) {
    throw InputError(std::string(error.what()) +
                     (place.allocation ? ": run it in a folder that you may write to and that all "
                                         "nodes of the allocation see"
                                       : ": set TMPDIR to a folder that you may write to"));
  }
}

// The runs one after another, each in a folder of its own that is gone after it.
class Measurement {
 public:
  explicit Measurement(const ScaleCommand& command)
      : command_(command), place_(place_of(command)), scratch_(scratch_folder(place_)) {
    table_.threads = place_.spread.threads;
    yaml_ = command.config.empty()
                ? make_search(scratch_->path(), place_.on_devices ? kForDevices : kForProcessors)
                : text_of_file(command.config);
  }

  ExitCode run(const std::atomic<bool>& stop) {
    for (const int ranks : numbers_of_ranks(place_.spread.most)) {
      const ExitCode code = run(ranks, stop);
      if (code != ExitCode::kDone) {
        print_message(stop ? "stopped on request"
                           : "the search by " + base::counted(ranks, "rank") + " failed");
        return code;
      }
    }
    return ExitCode::kDone;
  }

  const ScaleTable& table() const { return table_; }

 private:
  ExitCode run(int ranks, const std::atomic<bool>& stop) {
    print_message("searching with " + base::counted(ranks, "rank"));
    const std::string folder = scratch_->path() + "/" + std::to_string(ranks);
    const std::string config = folder + "/search.yaml";
    fs::create_directory(folder);
    write_text_atomically(config, with_results_in(folder, yaml_));
    const std::vector<std::string> command = command_of_ranks(command_, place_, config, folder);
    const int code =
        place_.allocation
            ? run_ranks_on_nodes(place_, ranks, command, folder, stop)
            : run_local_ranks({.command = command, .count = ranks, .quiet = true}, stop);
    if (code != 0) return static_cast<ExitCode>(code);
    take_manifest(folder + "/manifest.json", ranks);
    print_message(base::counted(ranks, "rank") + format(": %.2f s", table_.rows.back().seconds));
    fs::remove_all(folder);
    return ExitCode::kDone;
  }

  void take_manifest(const std::string& path, int ranks) {
    try {
      const Json manifest = Json::parse(text_of_file(path));
      describe_search(manifest, table_);
      table_.rows.push_back(row_of(manifest, ranks, place_.nodes(ranks)));
    } catch (const Json::exception& error) {
      throw InputError("'" + path + "': not a whole manifest of margay-engine (" + error.what() +
                       "); run scale again");
    }
  }

  const ScaleCommand& command_;
  const Place place_;
  const std::unique_ptr<base::PrivateFolder> scratch_;
  std::string yaml_;
  ScaleTable table_;
};

ExitCode run(const ScaleCommand& command, const std::atomic<bool>& stop) {
  refuse_launcher();
  if (!command.output.empty()) {
    check_ending("--output", command.output, Written::kCsv);
    check_output_file("--output", command.output, command.overwrite, {command.config});
  }
  // Refused by its own name here, not by that of its copy in the scratch folder.
  if (!command.config.empty()) read_search_config(command.config);
  Measurement measurement(command);
  const ExitCode code = measurement.run(stop);
  if (code != ExitCode::kDone) return code;
  const ScaleTable& table = measurement.table();
  if (!command.output.empty()) write_text_atomically(command.output, scale_csv(table));
  const std::string doubt = scale_doubt(table);
  if (!doubt.empty()) print_message("note: " + doubt);
  std::cout << (command.json ? scale_json(table) + "\n" : scale_text(table)) << std::flush;
  return ExitCode::kDone;
}

}  // namespace

void add_scale(CLI::App& app, ExitCode& code) {
  const auto [command, scale] = add_command<ScaleCommand>(
      app, code, "scale",
      "Measure speed-up with 1 to N ranks, on this machine or on an allocation's nodes",
      "Runs the search in a scratch folder (TMPDIR) with 1, 2, 4, ... N ranks; up to 4, with every "
      "number. Every rank has the same number of threads: --threads, or the cores divided by N.\n"
      "In a Slurm batch script or under salloc each number of ranks is a step that fills one node "
      "after the other; the scratch folder is then in the working folder, which all nodes must "
      "see.\n"
      "Example:\n  margay-engine scale --nproc 4 --output speed_up.csv",
      [](const ScaleCommand& given) {
        const StopSignals signals;
        return run(given, signals.requested());
      });
  command
      .add_option("CONFIG", scale.config,
                  "Configuration of the search to run (default: a small built-in one)")
      ->type_name("FILE");
  add_count(command, "--nproc", scale.nproc, 1, 4096,
            "Most ranks to run (default: one for each NVIDIA device, or else for each core; in an "
            "allocation for each of its GPUs, or else of its tasks)");
  add_device_options(command, scale.device);
  add_mismatch_flag(command, scale.allow_pixel_size_mismatch);
  command.add_flag("--json", scale.json, "Print JSON, with the correlations of every rank");
  add_file(command, "--output", scale.output, "Also write the table to this CSV file");
  command.add_flag("--overwrite", scale.overwrite, "Replace an existing table");
}

}  // namespace engine
