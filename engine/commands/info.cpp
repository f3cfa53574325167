// Implements add_info of commands.h: shows MRC headers, or this build and this machine.
#include <algorithm>
#include <array>
#include <iostream>

#include "base/json.h"
#include "base/size_text.h"
#include "base/text.h"
#include "engine/backend/available_memory.h"
#include "engine/commands/commands.h"
#include "engine/commands/options.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/fused/backend.h"
#include "engine/cpu/memory_nodes.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/error.h"
#include "engine/io/format.h"
#include "engine/io/mrc.h"
#include "engine/numerics/fft.h"
#include "engine/search/device.h"

namespace engine {
namespace {

struct InfoCommand {
  std::vector<std::string> files;  // empty: about this build and machine
  bool build = false;
  bool json = false;
};

using Json = nlohmann::ordered_json;

// File names are bytes, JSON is UTF-8: what is not becomes U+FFFD.
void print_json(const Json& json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

Json header_json(const std::string& path, const MrcHeader& header) {
  return {{"path", path},
          {"columns", header.nx},
          {"rows", header.ny},
          {"sections", header.nz},
          {"mode", header.mode},
          {"type", type_of_mode(header.mode)},
          {"pixel_size", {header.pixel_size[0], header.pixel_size[1], header.pixel_size[2]}},
          {"axes", {header.axes[0] + 1, header.axes[1] + 1, header.axes[2] + 1}},
          {"bytes_swapped", header.swapped},
          {"space_group", header.space_group},
          {"volumes", header.volumes},
          {"extended_header_bytes", header.extended_header_bytes},
          {"extended_header_type", header.extended_type},
          {"labels", header.labels}};
}

void print_header(const std::string& path, const MrcHeader& header) {
  std::cout << path << '\n'
            << "  size         " << header.nx << " columns x " << header.ny << " rows x "
            << header.nz << (header.nz == 1 ? " section\n" : " sections\n") << "  mode         "
            << header.mode << " (" << type_of_mode(header.mode)
            << (header.swapped ? ", bytes swapped" : "") << ")\n"
            << "  pixel size   ";
  if (header.pixel_size[0] == 0) {
    std::cout << "unknown\n";
  } else {
    std::cout << header.pixel_size[0] << " x " << header.pixel_size[1] << " x "
              << header.pixel_size[2] << " A\n";
  }
  if (header.axes != std::array<int, 3>{0, 1, 2}) {
    std::cout << "  axes         " << header.axes[0] + 1 << ", " << header.axes[1] + 1 << ", "
              << header.axes[2] + 1 << " (mapc, mapr, maps; the size is along x, y, z)\n";
  }
  std::cout << "  space group  " << header.space_group << '\n';
  if (header.volumes > 1) std::cout << "  volumes      " << header.volumes << '\n';
  if (header.extended_header_bytes > 0) {
    std::cout << "  extended     " << header.extended_header_bytes << " bytes "
              << header.extended_type << '\n';
  }
  for (const std::string& label : header.labels) std::cout << "  label        " << label << '\n';
}

// The CUDA device that a search would take, or why there is none, which is no failure here.
std::string cuda_device_text() {
  if (!cuda::built_in()) return "no CUDA in this build";
  try {
    const cuda::DeviceFacts facts = cuda::require_device(0);
    return facts.name + " (" + facts.architecture + "), " +
           base::size_text(static_cast<int64_t>(facts.free_memory)) + " free";
  } catch (const Error& error) {
    return error.what();
  }
}

// The search that the line about the processor is for: a usual micrograph and template.
constexpr ProblemShape kUsualSearch{4096, 4096, 512, 1};

// As every core would do it, whether or not it fits this machine's memory.
DevicePlan usual_plan() {
  const cpu::MemoryPlan work = cpu::fused::plan_memory(kUsualSearch, {});
  return {.backend = "cpu", .threads = work.threads, .batch = work.batch, .work = work};
}

Json backends_of_this_build() {
  return cuda::built_in() ? Json{"cpu", "cuda"} : Json::array({"cpu"});
}

void print_title() {
  std::cout << "margay-engine " << MARGAY_VERSION << ", GCC " << __VERSION__ << '\n'
            << "  backends         " << (cuda::built_in() ? "cpu, cuda\n" : "cpu\n");
}

void print_transforms() {
  for (const std::string& transforms : transforms_of_this_build()) {
    std::cout << "  transforms       " << transforms << '\n';
  }
}

// Measures nothing and leaves devices alone.
void print_build(bool as_json) {
  const FftLibrary library = fft_library();
  if (as_json) {
    print_json({{"program", "margay-engine"},
                {"version", MARGAY_VERSION},
                {"compiler", std::string("GCC ") + __VERSION__},
                {"backends", backends_of_this_build()},
                {"transforms", transforms_of_this_build()},
                {"libraries", {{library.name, library.version}}}});
    return;
  }
  print_title();
  print_transforms();
  std::cout << "  library          " << library.name << ' ' << library.version << '\n';
}

std::string memory_nodes_text() {
  const size_t nodes = cpu::memory_nodes().size();
  return nodes < 2 ? "" : " on " + std::to_string(nodes) + " memory nodes";
}

void print_machine(bool as_json) {
  const DevicePlan plan = usual_plan();
  const PredictedRate rate = predict_rate(kUsualSearch, plan, true);
  const DeviceInfo device = describe_device(plan);
  Json libraries = Json::object();
  for (const auto& [name, version] : device.libraries) libraries[name] = version;
  const std::string cuda_device = cuda_device_text();
  const Json json = {{"program", "margay-engine"},
                     {"version", MARGAY_VERSION},
                     {"compiler", std::string("GCC ") + __VERSION__},
                     {"backends", backends_of_this_build()},
                     {"processor", device.name},
                     {"instruction_set", device.instruction_set},
                     {"cores", device.threads},
                     {"memory_nodes", std::max(size_t{1}, cpu::memory_nodes().size())},
                     {"free_memory_bytes", available_memory()},
                     {"nvidia_device", cuda::nvidia_device_present()},
                     {"cuda", cuda_device},
                     {"transforms", transforms_of_this_build()},
                     {"search_on_processor",
                      {{"fft", plan.fft},
                       {"precision", plan.precision},
                       {"threads", plan.threads},
                       {"vector_floats", cpu::fused::vector_width()},
                       {"height", kUsualSearch.height},
                       {"width", kUsualSearch.width},
                       {"template_size", kUsualSearch.template_size},
                       {"correlations_per_second", rate.correlations_per_second},
                       {"measured", rate.measured}}},
                     {"libraries", libraries}};
  if (as_json) {
    print_json(json);
    return;
  }
  print_title();
  std::cout << "  processor        " << device.name << '\n'
            << "  cores            " << device.threads << memory_nodes_text() << '\n'
            << "  instruction set  " << device.instruction_set << '\n'
            << "  free memory      " << base::size_text(static_cast<int64_t>(available_memory()))
            << '\n'
            << "  NVIDIA device    " << (cuda::nvidia_device_present() ? "present" : "none") << '\n'
            << "  CUDA             " << cuda_device << '\n';
  std::cout << "  search           " << describe_workers(plan) << ": about "
            << base::rate_text(rate.correlations_per_second) << " correlations/s of "
            << kUsualSearch.width << " x " << kUsualSearch.height << " pixels with a template of "
            << kUsualSearch.template_size << "^3 (measured, as busy as this machine is now)\n";
  print_transforms();
  for (const auto& [name, version] : device.libraries) {
    std::cout << "  library          " << name << ' ' << version << '\n';
  }
}

ExitCode run(const InfoCommand& command) {
  if (command.build) {
    print_build(command.json);
    return ExitCode::kDone;
  }
  if (command.files.empty()) {
    print_machine(command.json);
    return ExitCode::kDone;
  }
  Json all = Json::array();
  ExitCode code = ExitCode::kDone;
  for (const std::string& path : command.files) {
    try {
      const MrcHeader header = read_mrc_header(path);
      if (command.json) {
        all.push_back(header_json(path, header));
      } else {
        print_header(path, header);
      }
    } catch (const InputError& error) {
      if (command.json) all.push_back({{"path", path}, {"error", error.what()}});
      print_message(error.what());
      code = error.code();
    }
  }
  if (command.json) print_json(all);
  return code;
}

}  // namespace

void add_info(CLI::App& app, ExitCode& code) {
  const auto [command, info] = add_command<InfoCommand>(
      app, code, "info", "Show this build and machine, or the headers of MRC files",
      "Example:\n  margay-engine info micrograph.mrc template.mrc --json", run);
  command.add_option("FILES", info.files, "MRC files (default: show this build and machine)")
      ->type_name("");
  command
      .add_flag("--build", info.build,
                "Show this build alone: nothing is measured, and no device is used")
      ->excludes("FILES");
  command.add_flag("--json", info.json, "Print JSON");
}

}  // namespace engine
