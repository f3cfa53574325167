// Implements add_plan of commands.h: shows what a search would take, without running it.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/duration.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/commands/commands.h"
#include "engine/commands/options.h"
#include "engine/config/config_reader.h"
#include "engine/config/input_checks.h"
#include "engine/cpu/memory_nodes.h"
#include "engine/io/format.h"
#include "engine/search/device.h"
#include "engine/search/plan_text.h"
#include "engine/search/plausibility.h"
#include "engine/search/search.h"

namespace engine {
namespace {

struct PlanCommand {
  std::string config;
  std::string micrograph;  // empty: the configuration's
  DeviceOptions device;
  int nproc = 0;       // local ranks; 0: as match would start for the configuration
  int image_size = 0;  // of a square image in place of the micrograph; 0: the micrograph's
  bool allow_pixel_size_mismatch = false;
  bool json = false;
};

using Json = nlohmann::ordered_json;

// Of all ranks together, and how it came about.
struct Rate {
  double correlations_per_second = 0;
  bool measured = false;
  const char* basis = "";
  std::string words;  // the basis for people
};

// Ranks that search at once share memory and, on one machine, the clock of its processors, so that
// what one of them does alone is no measurement of all.
Rate of_all_ranks(const PredictedRate& one, int ranks) {
  const double all = one.correlations_per_second * ranks;
  if (!one.measured) return {all, false, "guessed", "a rough guess: within a factor of three"};
  if (ranks == 1) return {all, true, "measured", "measured on this machine, as busy as it is now"};
  return {all, false, "extrapolated",
          "extrapolated: " + base::rate_text(one.correlations_per_second) +
              " measured on this machine for one rank alone, times " + std::to_string(ranks) +
              "; ranks on one machine slow each other"};
}

struct Plan {
  int ranks = 1;
  SearchSpace space;
  ProblemShape shape;                // of the micrograph
  std::optional<SearchGrid> grid{};  // nullopt: the micrograph's own
  DevicePlan device;
  Rate rate;
  double seconds = 0;
};

int ranks_of(const PlanCommand& command, const SearchConfig& config) {
  if (command.nproc > 0) return command.nproc;
  const VisibleDevices visible = devices_for(command.device.backend);
  const size_t ranks = devices_of_local_ranks(config.computation.gpu_ids, visible).size();
  return std::max(1, static_cast<int>(ranks));
}

// Of image and template; without a micrograph the image is as large as was asked for, or as the
// template.
ProblemShape shape_of(const PlanCommand& command, SearchConfig& config) {
  if (command.image_size > 0) {
    const int side = read_template(config, command.allow_pixel_size_mismatch).header.nx;
    const int image = std::max(command.image_size, side);
    return {image, image, side};
  }
  const InputFiles files = read_inputs(config, command.allow_pixel_size_mismatch);
  const MrcHeader& micrograph = files.micrograph.header;
  return {micrograph.ny, micrograph.nx, files.volume.header.nx};
}

Plan make_plan(const PlanCommand& command, SearchConfig& config) {
  Plan plan;
  plan.space = make_search_space(config);
  plan.shape = shape_of(command, config);
  plan.shape.planes = static_cast<int>(plan.space.planes.size());
  plan.shape.orientations = plan.space.orientations();
  plan.ranks = ranks_of(command, config);
  DeviceOptions wanted = command.device;
  wanted.exchange = exchange_memory("auto", plan.ranks);
  // match divides the cores in the same way.
  if (wanted.threads == 0) wanted.threads = std::max(1, cpu::available_cores() / plan.ranks);
  wanted.device = first_device(config.computation.gpu_ids, devices_for(wanted.backend).count);
  plan.grid = search_grid_of(config, plan.shape.height, plan.shape.width, plan.shape.template_size);
  const std::string note_of_crop = crop_note(config, plan.grid);
  if (!note_of_crop.empty()) config.notes.push_back(note_of_crop);
  const ProblemShape of_search = on_grid(plan.shape, plan.grid);
  plan.device = plan_device(of_search, wanted);
  if (plan.grid) add_crop_memory(plan.device, plan.shape, *plan.grid, in_single_precision(wanted));
  // Who plans for any image wants counts, and at once.
  plan.rate =
      of_all_ranks(predict_rate(of_search, plan.device, command.image_size == 0), plan.ranks);
  plan.seconds = static_cast<double>(plan.space.correlations()) / plan.rate.correlations_per_second;
  return plan;
}

Json grid_json(const std::optional<SearchGrid>& grid) {
  if (!grid) return nullptr;
  return {{"height", grid->height}, {"width", grid->width}, {"template_size", grid->template_size}};
}

Json plan_json(const Plan& plan) {
  Json memory = Json::object();
  for (const MemoryItem& item : plan.device.memory) memory[item.name] = item.bytes;
  return {{"version", MARGAY_VERSION},
          {"orientations", plan.space.orientations()},
          {"defocus_planes", plan.space.planes},
          {"pixel_sizes", 1},
          {"correlations", plan.space.correlations()},
          {"units", plan.space.units.size()},
          {"micrograph", {{"height", plan.shape.height}, {"width", plan.shape.width}}},
          {"template_size", plan.shape.template_size},
          {"fourier_crop", grid_json(plan.grid)},
          {"backend", plan.device.backend},
          {"threads", plan.device.threads},
          {"batch", plan.device.batch},
          {"ranks", plan.ranks},
          {"fft", plan.device.fft},
          {"precision", plan.device.precision},
          {"tiling", plan.device.tiling.empty() ? Json(nullptr) : Json(plan.device.tiling)},
          {"memory_bytes", plan.device.bytes},
          {"memory", memory},
          {"predicted_rate",
           {{"correlations_per_second", plan.rate.correlations_per_second},
            {"measured", plan.rate.measured},
            {"basis", plan.rate.basis}}},
          {"predicted_seconds", std::round(plan.seconds)}};
}

ExitCode run(const PlanCommand& command) {
  SearchConfig config = read_search_config(command.config, command.micrograph);
  // Before the orientations are listed, which so many may keep from ending.
  for (const std::string& note : implausible_settings(config)) print_message("warning: " + note);
  const Plan plan = make_plan(command, config);
  for (const std::string& note : config.notes) print_message("note: " + note);
  for (const std::string& note : plan.device.notes) print_message("note: " + note);
  if (command.json) {
    std::cout << plan_json(plan).dump(2) << '\n';
    return ExitCode::kDone;
  }
  std::cout << describe_plan(config, plan.space, plan.shape, plan.grid, plan.device) << '\n'
            << (plan.ranks == 1 ? "" : std::to_string(plan.ranks) + " ranks, each with this much\n")
            << base::grouped_number(static_cast<int64_t>(plan.space.units.size()))
            << " units of work, " << plan.device.batch << " in flight; planes from "
            << plan.space.planes.front() << " to " << plan.space.planes.back() << " A\n"
            << "time: about " << base::duration_text(plan.seconds) << ", at "
            << base::rate_text(plan.rate.correlations_per_second) << " correlations/s ("
            << plan.rate.words << ")\n";
  return ExitCode::kDone;
}

}  // namespace

void add_plan(CLI::App& app, ExitCode& code) {
  const auto [command, plan] = add_command<PlanCommand>(
      app, code, "plan", "Show counts, memory and time of a search without running it",
      "Example:\n  margay-engine plan search.yaml --threads 8", run);
  add_config(command, plan.config, "Configuration of the search");
  add_file(command, "--micrograph", plan.micrograph,
           "Plan for this micrograph in place of the configuration's");
  add_device_options(command, plan.device);
  add_count(command, "--nproc", plan.nproc, 1, 4096,
            "Plan for this many ranks on this machine (default: as match starts them)");
  add_count(
      command, "--image-size", plan.image_size, 2, 65536,
      "Plan for a square image of so many pixels in place of the micrograph, which is not read");
  add_mismatch_flag(command, plan.allow_pixel_size_mismatch);
  command.add_flag("--json", plan.json, "Print JSON");
}

}  // namespace engine
