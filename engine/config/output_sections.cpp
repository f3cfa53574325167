// Implements read_results, read_computation, read_peaks and read_fourier_crop of sections.h.
#include <map>
#include <string>
#include <vector>

#include "engine/config/named_maps.h"
#include "engine/config/sections.h"

namespace engine {
namespace {

std::string key_of(const NamedMap& map) { return std::string(map.name) + "_path"; }

// Leopard-EM 1.3's other forms of results.
void refuse_newer_results(const YamlSection& section) {
  for (const std::string key : {"hdf5_path", "correlation_table_path"}) {
    if (section.has(key)) {
      section.refuse(key, "is not supported yet: leave it out and give the eight map paths");
    }
  }
  if (section.flag("compute_correlation_table", false)) {
    section.refuse("compute_correlation_table", "is not supported yet: set it to false");
  }
}

// Devices as Leopard-EM writes them: 0, "0", all, cpu, cuda, cuda:1.
std::string read_device(const YamlValue& value) {
  const std::string name = value.text();
  if (name == "all" || name == "cpu" || name == "cuda") return name;
  const std::string number = name.starts_with("cuda:") ? name.substr(5) : name;
  const bool digits = number.find_first_not_of("0123456789") == std::string::npos;
  if (digits && !number.empty() && number.size() <= 4) return name;
  value.refuse("must be a device number, all, cpu or cuda:N, but is '" + name + "'");
}

std::vector<std::string> read_devices(const YamlSection& section) {
  const YamlValue value = section.value("gpu_ids");
  if (!value.is_list()) return {read_device(value)};
  std::vector<std::string> devices;
  for (const YamlValue& item : value.items()) devices.push_back(read_device(item));
  if (devices.empty()) value.refuse("is an empty list: name at least one device");
  return devices;
}

}  // namespace

ResultPaths read_results(const YamlSection& section) {
  std::vector<std::string> known = {"allow_file_overwrite",
                                    "total_projections",
                                    "total_orientations",
                                    "total_defocus",
                                    "hdf5_path",
                                    "correlation_table_path",
                                    "compute_correlation_table",
                                    "compress"};
  for (const NamedMap& map : kMaps) known.push_back(key_of(map));
  section.allow_only(known);
  refuse_newer_results(section);
  ResultPaths paths;
  paths.allow_file_overwrite = section.flag("allow_file_overwrite", paths.allow_file_overwrite);
  std::map<std::string, std::string> used;  // path -> key
  for (const NamedMap& map : kMaps) {
    const std::string key = key_of(map);
    const std::string path = section.text(key);
    if (path.empty()) section.refuse(key, "is empty");
    const auto [other, fresh] = used.emplace(path, key);
    if (!fresh) section.refuse(key, "is the same file as " + other->second);
    paths.*map.path = path;
  }
  // Filled in by Leopard-EM after a search; here they are only checked.
  for (const std::string key : {"total_projections", "total_orientations", "total_defocus"}) {
    section.number_at_least(key, 0.0, 0.0);
  }
  return paths;
}

PeakSection read_peaks(const YamlSection& section) {
  section.allow_only({"metric", "false_positives", "particle_radius"});
  PeakSection peaks;
  if (section.has("metric")) {
    peaks.metric = section.text("metric");
    if (*peaks.metric != "scaled-mip" && *peaks.metric != "mip") {
      section.refuse("metric", "must be scaled-mip or mip, but is '" + *peaks.metric + "'");
    }
  }
  if (section.has("false_positives")) {
    peaks.false_positives = section.value("false_positives").positive_number();
  }
  if (section.has("particle_radius")) {
    peaks.particle_radius = section.value("particle_radius").number_at_least(0.0);
  }
  return peaks;
}

bool read_fourier_crop(const YamlSection& section) {
  section.allow_only({"enabled"});
  return section.flag("enabled", false);
}

ComputationalConfig read_computation(const YamlSection& section, std::vector<std::string>& notes) {
  const std::vector<std::string> known = {"gpu_ids", "num_cpus", "backend"};
  for (const std::string& unknown : section.unknown_keys(known)) {
    notes.push_back(unknown + " (it has no effect)");
  }
  ComputationalConfig computation;
  if (section.has("gpu_ids")) computation.gpu_ids = read_devices(section);
  computation.num_cpus = section.integer("num_cpus", computation.num_cpus, 1);
  if (section.has("backend")) computation.backend = section.text("backend");
  const std::string& name = computation.backend;
  if (name != "streamed" && name != "batched" && name != "zipfft") {
    section.refuse("backend", "must be streamed, batched or zipfft, but is '" + name + "'");
  }
  if (computation.num_cpus != 1) {
    notes.push_back(section.key_path("num_cpus") +
                    " counts Leopard-EM's CUDA streams and has no effect here: see --threads.");
  }
  if (name != "streamed") {
    notes.push_back(section.key_path("backend") +
                    " chooses among Leopard-EM's own backends and has no effect here.");
  }
  return computation;
}

}  // namespace engine
