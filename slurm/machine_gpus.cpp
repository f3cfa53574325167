#include "slurm/machine_gpus.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/environment.h"
#include "base/parse_number.h"
#include "base/run_command.h"
#include "base/text.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestLook{30};
constexpr size_t kMostOutput = 256U << 10U;

// Nothing else may come into a job's environment, or into a list with commas.
bool is_id(const std::string& text) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '/' || c == '_' || c == '.';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

// "GPU-5d5b" in "GPU 0: NVIDIA H100 (UUID: GPU-5d5b)"; `before`: "GPU 0: NVIDIA H100".
std::string uuid_in(const std::string& line, std::string& before) {
  constexpr std::string_view kMark = "(UUID: ";
  const size_t mark = line.rfind(kMark);
  const size_t end = line.find(')', mark == line.npos ? 0 : mark);
  if (mark == line.npos || end == line.npos) return "";
  before = base::trimmed(line.substr(0, mark));
  const std::string id = line.substr(mark + kMark.size(), end - mark - kMark.size());
  return is_id(id) ? id : "";
}

bool is_number(const std::string& name) { return base::is_digits(name); }

// The one that is named; null: none is, or several are.
const Gpu* part_named(const ListedGpu& listed, const std::string& name) {
  const Gpu* only = nullptr;
  for (const Gpu& part : listed.parts) {
    if (!part.id.starts_with(name)) continue;
    if (only != nullptr) return nullptr;
    only = &part;
  }
  return only;
}

std::optional<ListedGpu> gpu_named(const std::vector<ListedGpu>& found, const std::string& name) {
  if (is_number(name)) {
    const auto number = base::parse_number<size_t>(name);
    if (!number || *number >= found.size()) return std::nullopt;
    return found[*number];
  }
  std::vector<ListedGpu> matching;
  for (const ListedGpu& listed : found) {
    if (!name.empty() && listed.whole.id.starts_with(name)) matching.push_back(listed);
    const Gpu* part = name.empty() ? nullptr : part_named(listed, name);
    if (part != nullptr) matching.push_back({.whole = *part});
  }
  if (matching.size() != 1) return std::nullopt;
  return matching.front();
}

std::vector<Gpu> in_pieces(const std::vector<ListedGpu>& gpus) {
  std::vector<Gpu> all;
  for (const ListedGpu& listed : gpus) {
    if (listed.parts.empty()) all.push_back(listed.whole);
    all.insert(all.end(), listed.parts.begin(), listed.parts.end());
  }
  return all;
}

bool are_of_one_model(const std::vector<ListedGpu>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [&](const ListedGpu& listed) {
    return listed.whole.model == gpus.front().whole.model;
  });
}

// "nvidia0", not "nvidiactl".
bool is_device_file(const std::string& name) {
  constexpr std::string_view kBeginning = "nvidia";
  return name.starts_with(kBeginning) && base::is_digits(name.substr(kBeginning.size()));
}

std::vector<ListedGpu> numbered_gpus(const fs::path& devices) {
  std::vector<ListedGpu> gpus;
  std::error_code ignored;  // what cannot be seen is not there
  for (const auto& entry : fs::directory_iterator(devices, ignored)) {
    if (!is_device_file(entry.path().filename().string())) continue;
    gpus.push_back({.whole = {.id = std::to_string(gpus.size())}});
  }
  return gpus;
}

base::CommandResult list_gpus(const std::string& nvidia_smi) {
  return base::run_command(
      {.program = nvidia_smi,
       .arguments = {"-L"},
       .environment = {{"PATH", base::variable("PATH", "/usr/bin:/bin")}, {"LC_ALL", "C"}},
       .timeout = kLongestLook,
       .most_output = kMostOutput});
}

// What it says of its failure; empty where it did not fail.
std::string complaint_of(const base::CommandResult& result) {
  if (result.ok()) return "";
  std::string words = base::trimmed(result.error.empty() ? result.output : result.error);
  words = words.substr(0, words.find('\n'));
  return result.why + (words.empty() ? "" : ": " + words);
}

MachineGpus gpus_of_machine(const GpuSources& sources) {
  const base::CommandResult result = list_gpus(sources.nvidia_smi);
  const std::string complaint = complaint_of(result);
  MachineGpus machine{.gpus = parse_gpu_list(result.output)};
  if (!machine.gpus.empty()) {
    if (!complaint.empty()) machine.note = "nvidia-smi -L lists what follows, but " + complaint;
    return machine;
  }
  machine.gpus = numbered_gpus(sources.devices);
  if (!machine.gpus.empty()) {
    machine.note = "nvidia-smi -L lists no GPU" +
                   (complaint.empty() ? "" : " (" + complaint + ")") + "; those of the files " +
                   (sources.devices / "nvidia[0-9]*").string() + " are used, by number";
  } else if (!complaint.empty() && result.ending != base::CommandResult::Ending::kNotStarted) {
    machine.note = "nvidia-smi -L lists no GPU (" + complaint + ")";
  }
  return machine;
}

}  // namespace

std::vector<ListedGpu> parse_gpu_list(const std::string& text) {
  std::vector<ListedGpu> gpus;
  for (const std::string& line : base::split(text, '\n')) {
    std::string before;
    const std::string id = uuid_in(line, before);
    if (id.empty()) continue;
    const size_t colon = before.find(": ");
    if (before.starts_with("GPU ") && colon != before.npos) {
      gpus.push_back({.whole = {.id = id, .model = before.substr(colon + 2)}});
    } else if (before.starts_with("MIG ") && !gpus.empty()) {
      const std::string kind = before.substr(0, before.find(' ', 4));
      gpus.back().parts.push_back({.id = id, .model = gpus.back().whole.model + " " + kind});
    }
  }
  return gpus;
}

std::vector<Gpu> choose_gpus(const std::vector<ListedGpu>& found, const GpuChoice& choice) {
  std::vector<Gpu> all = in_pieces(found);
  if (choice.count) {
    const auto wanted = static_cast<size_t>(*choice.count);
    if (wanted > all.size()) {
      throw GpuAbsent("asks for " + base::counted(*choice.count, "GPU") +
                      ", and this machine has " + std::to_string(all.size()));
    }
    all.resize(wanted);
    return all;
  }
  if (choice.named.empty()) return all;
  std::vector<Gpu> chosen;
  for (const std::string& name : choice.named) {
    const auto gpu = gpu_named(found, name);
    if (!gpu) {
      throw GpuAbsent("names '" + name + "', which is not one GPU of this machine; there " +
                      (all.size() == 1 ? "is " : "are ") +
                      base::counted(int64_t(found.size()), "GPU"));
    }
    for (const Gpu& piece : in_pieces({*gpu})) {
      if (std::find(chosen.begin(), chosen.end(), piece) != chosen.end()) {
        throw GpuError("names the GPU " + piece.id + " twice");
      }
      chosen.push_back(piece);
    }
  }
  return chosen;
}

std::vector<ListedGpu> visible_gpus(const std::vector<ListedGpu>& found, const std::string& names,
                                    const std::string& order) {
  const bool counts_alike = order == "PCI_BUS_ID" || are_of_one_model(found);
  std::vector<ListedGpu> visible;
  for (const std::string& entry : base::split(names, ',')) {
    const std::string name = base::trimmed(entry);
    if (is_number(name) && !counts_alike) {
      throw GpuError(
          "of different models cannot be identified by the numbers in CUDA_VISIBLE_DEVICES=" +
          names +
          ": name them by UUID there, as nvidia-smi -L prints it, or set "
          "CUDA_DEVICE_ORDER=PCI_BUS_ID");
    }
    const auto gpu = gpu_named(found, name);
    if (!gpu || std::find(visible.begin(), visible.end(), *gpu) != visible.end()) break;
    visible.push_back(*gpu);
  }
  return visible;
}

GpuSources gpu_sources() {
  GpuSources sources{.order = base::variable("CUDA_DEVICE_ORDER")};
  // Set and empty, it hides all of them.
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr) sources.visible = visible;
  return sources;
}

MachineGpus find_gpus(const GpuSources& sources) {
  MachineGpus machine = gpus_of_machine(sources);
  if (!sources.visible) return machine;
  const size_t all = machine.gpus.size();
  machine.gpus = visible_gpus(machine.gpus, *sources.visible, sources.order);
  if (machine.gpus.size() < all) {
    machine.note += (machine.note.empty() ? "" : "; ") +
                    ("CUDA_VISIBLE_DEVICES=" + *sources.visible) + " leaves " +
                    std::to_string(machine.gpus.size()) + " of " +
                    base::counted(static_cast<int64_t>(all), "GPU");
  }
  return machine;
}

}  // namespace slurm
