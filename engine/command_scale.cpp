// margay-engine scale: the same search by more and more ranks on this machine.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/commands.h"
#include "engine/config_checks.h"
#include "engine/config_copy.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/human_text.h"
#include "engine/local_ranks.h"
#include "engine/mrc.h"
#include "engine/private_folder.h"
#include "engine/ranks.h"
#include "engine/results.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Of one run.
struct Row {
  int ranks = 1;
  double seconds = 0;
  std::vector<int64_t> correlations{};  // by rank

  int64_t smallest() const { return *std::min_element(correlations.begin(), correlations.end()); }
  int64_t largest() const { return *std::max_element(correlations.begin(), correlations.end()); }
};

struct Table {
  std::string search;  // in words
  int64_t correlations = 0;
  std::string backend, device;
  int threads = 1;  // of every rank
  std::vector<Row> rows{};

  double speed_up(const Row& row) const { return rows.front().seconds / row.seconds; }
  double efficiency(const Row& row) const { return speed_up(row) / row.ranks; }
  double rate(const Row& row) const { return static_cast<double>(correlations) / row.seconds; }
  double share(int64_t of) const {
    return static_cast<double>(of) / static_cast<double>(correlations);
  }
};

std::string format(const char* pattern, auto... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string ranks_text(int ranks) {
  return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

// ------------------------------------------------------------------------------------- A search
// ---

// Work that takes seconds: nobody looks at what is found.
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
  const Json paths = {{"micrograph", folder + "/micrograph.mrc"},
                      {"template", folder + "/template.mrc"}};
  return "micrograph_path: " + paths["micrograph"].dump() +
         "\ntemplate_volume_path: " + paths["template"].dump() +
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

bool search_on_devices(const DeviceOptions& device) {
  return device.backend == "cuda" || (device.backend == "auto" && nvidia_device_present());
}

void refuse_launcher() {
  const RankPlace place = find_rank({}, process_environment());
  if (place.size == 1) return;
  throw UsageError("this is " + describe_rank(place) +
                   ": scale starts the ranks itself, on one machine. Run it without the launcher, "
                   "by hand in the allocation, as margay-engine scale --nproc N");
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

// The machine's share of each rank is the same in every run, so that more ranks are more hardware.
int threads_of_a_rank(const DeviceOptions& device, int most) {
  const int cores = cpu::available_cores();
  const int threads = device.threads > 0 ? device.threads : std::max(1, cores / most);
  if (!search_on_devices(device) && threads * most > cores) {
    tell("note: " + ranks_text(most) + " x " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads") +
         " are more than the cores that this process may use (" + std::to_string(cores) +
         "): beyond them, more ranks are no more hardware");
  }
  return threads;
}

std::vector<std::string> command_of_ranks(const ScaleCommand& scale, int threads,
                                          const std::string& config, const std::string& folder) {
  const DeviceOptions& device = scale.device;
  std::vector<std::string> command = {fs::read_symlink("/proc/self/exe").string(),
                                      "match",
                                      config,
                                      "--output",
                                      folder + "/peaks.csv",
                                      "--backend",
                                      device.backend,
                                      "--fft",
                                      device.fft,
                                      "--precision",
                                      device.precision,
                                      "--threads",
                                      std::to_string(threads),
                                      "--batch",
                                      std::to_string(device.batch)};
  if (scale.allow_pixel_size_mismatch) command.push_back("--allow-pixel-size-mismatch");
  return command;
}

Row row_of(const Json& manifest, int ranks) {
  Row row{.ranks = ranks, .seconds = manifest.at("timings").at("search_seconds").get<double>()};
  row.correlations.push_back(manifest.at("counts").at("rank_0_correlations").get<int64_t>());
  for (const Json& other : manifest.at("other_ranks")) {
    row.correlations.push_back(other.at("correlations").get<int64_t>());
  }
  return row;
}

void describe_search(const Json& manifest, Table& table) {
  const Json& micrograph = manifest.at("inputs").at("micrograph");
  const Json& counts = manifest.at("counts");
  table.correlations = counts.at("correlations").get<int64_t>();
  table.search = micrograph.at("width").dump() + " x " + micrograph.at("height").dump() +
                 " pixels, template " + manifest.at("inputs").at("template").at("size").dump() +
                 "^3, " + grouped_number(table.correlations) + " correlations in " +
                 grouped_number(counts.at("units").get<int64_t>()) + " units";
  table.backend = manifest.at("device").at("backend").get<std::string>();
  table.device = manifest.at("device").at("name").get<std::string>();
}

// ----------------------------------------------------------------------------------- The table ---

void print(const Table& table) {
  std::cout << table.search << "\n"
            << table.device << ", " << table.backend << ", " << table.threads
            << (table.threads == 1 ? " thread" : " threads") << " in every rank\n\n"
            << "ranks   seconds  speed-up  efficiency  correlations/s  correlations of a rank\n";
  for (const Row& row : table.rows) {
    std::cout << format("%5d %9.2f %9.2f %9.1f %% %15.1f  ", row.ranks, row.seconds,
                        table.speed_up(row), 100 * table.efficiency(row), table.rate(row))
              << grouped_number(row.smallest()) << " to " << grouped_number(row.largest())
              << format(" (%.1f to %.1f %%)\n", 100 * table.share(row.smallest()),
                        100 * table.share(row.largest()));
  }
  std::cout << std::flush;
}

std::string csv(const Table& table) {
  std::ostringstream text;
  text << "ranks,threads_per_rank,seconds,speed_up,efficiency,correlations_per_second,"
          "correlations,smallest_of_a_rank,largest_of_a_rank\n";
  for (const Row& row : table.rows) {
    text << row.ranks << ',' << table.threads << ',' << row.seconds << ',' << table.speed_up(row)
         << ',' << table.efficiency(row) << ',' << table.rate(row) << ',' << table.correlations
         << ',' << row.smallest() << ',' << row.largest() << '\n';
  }
  return text.str();
}

Json json(const Table& table) {
  Json rows = Json::array();
  for (const Row& row : table.rows) {
    rows.push_back({{"ranks", row.ranks},
                    {"seconds", row.seconds},
                    {"speed_up", table.speed_up(row)},
                    {"efficiency", table.efficiency(row)},
                    {"correlations_per_second", table.rate(row)},
                    {"correlations_of_ranks", row.correlations}});
  }
  return {
      {"search", table.search}, {"correlations", table.correlations}, {"backend", table.backend},
      {"device", table.device}, {"threads_per_rank", table.threads},  {"rows", rows}};
}

// The runs one after another, each in a folder of its own that is gone after it.
class Measurement {
 public:
  explicit Measurement(const ScaleCommand& command)
      : command_(command), on_devices_(search_on_devices(command.device)) {
    const int one_each = on_devices_ ? cuda::visible_devices() : cpu::available_cores();
    most_ = command.nproc > 0 ? command.nproc : std::max(1, one_each);
    table_.threads = threads_of_a_rank(command.device, most_);
    yaml_ = command.config.empty()
                ? make_search(scratch_.path(), on_devices_ ? kForDevices : kForProcessors)
                : text_of_file(command.config);
  }

  ExitCode run(const std::atomic<bool>& stop) {
    for (const int ranks : numbers_of_ranks(most_)) {
      const ExitCode code = run(ranks, stop);
      if (code != ExitCode::kDone) {
        tell(stop ? "stopped on request" : "the search by " + ranks_text(ranks) + " failed");
        return code;
      }
    }
    return ExitCode::kDone;
  }

  const Table& table() const { return table_; }

 private:
  ExitCode run(int ranks, const std::atomic<bool>& stop) {
    const std::string folder = scratch_.path() + "/" + std::to_string(ranks);
    const std::string config = folder + "/search.yaml";
    fs::create_directory(folder);
    write_text_atomically(config, with_results_in(folder, yaml_));
    const int code =
        run_local_ranks({.command = command_of_ranks(command_, table_.threads, config, folder),
                         .count = ranks,
                         .quiet = true},
                        stop);
    if (code != 0) return static_cast<ExitCode>(code);
    const Json manifest = Json::parse(text_of_file(folder + "/manifest.json"));
    describe_search(manifest, table_);
    table_.rows.push_back(row_of(manifest, ranks));
    tell(ranks_text(ranks) + ": " + format("%.2f s", table_.rows.back().seconds));
    fs::remove_all(folder);
    return ExitCode::kDone;
  }

  const ScaleCommand& command_;
  const bool on_devices_;
  const PrivateFolder scratch_{"scale"};
  std::string yaml_;
  int most_ = 1;
  Table table_;
};

}  // namespace

ExitCode scale_command(const ScaleCommand& command, const std::atomic<bool>& stop) {
  refuse_launcher();
  if (!command.output.empty()) {
    check_output_file("--output", command.output, command.overwrite, {command.config});
  }
  // What is wrong with it is told by its own name.
  if (!command.config.empty()) read_search_config(command.config);
  Measurement measurement(command);
  const ExitCode code = measurement.run(stop);
  if (code != ExitCode::kDone) return code;
  const Table& table = measurement.table();
  if (!command.output.empty()) write_text_atomically(command.output, csv(table));
  if (command.json) {
    std::cout << json(table).dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  } else {
    print(table);
  }
  return ExitCode::kDone;
}

}  // namespace engine
