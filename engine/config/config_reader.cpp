#include "engine/config/config_reader.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/descriptor.h"
#include "base/other_content.h"
#include "base/yaml_section.h"
#include "engine/config/sections.h"
#include "engine/error.h"

namespace engine {
namespace {

// Longer than any configuration; a micrograph given by mistake is not read whole.
constexpr size_t kLongestFile = size_t{16} << 20;

std::string read_text(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    throw InputError("configuration '" + path + "' " +
                     (errno == ENOENT ? std::string("does not exist")
                                      : std::string("cannot be opened: ") + std::strerror(errno)));
  }
  const std::optional<std::string> text = base::read_all(file.get(), kLongestFile + 1);
  if (!text) throw InputError("configuration '" + path + "' cannot be read: is it a folder?");
  if (text->size() > kLongestFile) {
    throw InputError("configuration '" + path + "' is longer than 16 MB: is it a YAML file?");
  }
  return *text;
}

std::string input_path(const YamlSection& top, const std::string& key) {
  std::string path = top.text(key);
  if (path.empty()) top.refuse(key, "is empty");
  return path;
}

// Empty where it is not given.
std::string hash_of_input(const YamlSection& top, const std::string& key) {
  constexpr size_t kDigits = 64;
  if (!top.has(key)) return "";
  const std::string hash = top.text(key);
  const bool is_hash =
      hash.size() == kDigits && hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hash) top.refuse(key, "must be a SHA-256: 64 hexadecimal digits, in lower case");
  return hash;
}

SearchConfig read_top(const YamlSection& top, const std::string& micrograph) {
  top.allow_only({"micrograph_path", "template_volume_path", base::kMicrographHashKey,
                  base::kVolumeHashKey, "optics_group", "defocus_search_config",
                  "orientation_search_config", "preprocessing_filters", "match_template_result",
                  "computational_config", "peaks", "fourier_crop", "micrograph",
                  "template_volume"});
  for (const std::string key : {"micrograph", "template_volume"}) {
    if (top.has(key)) top.refuse(key, "cannot be given in a file: write " + key + "_path");
  }
  SearchConfig config;
  config.micrograph_path = micrograph.empty() ? input_path(top, "micrograph_path") : micrograph;
  config.template_volume_path = input_path(top, "template_volume_path");
  const std::string micrograph_hash = hash_of_input(top, base::kMicrographHashKey);
  if (micrograph.empty()) config.micrograph_sha256 = micrograph_hash;
  config.template_volume_sha256 = hash_of_input(top, base::kVolumeHashKey);
  config.optics = read_optics(top.section("optics_group"), config.notes);
  config.defocus = read_defocus(top.section("defocus_search_config"));
  config.orientations = read_orientations(top.section("orientation_search_config"));
  config.filters = read_filters(top.section("preprocessing_filters"), config.notes);
  config.results = read_results(top.section("match_template_result"));
  config.computation = read_computation(top.section("computational_config"), config.notes);
  config.peaks = read_peaks(top.optional_section("peaks"));
  config.fourier_crop = read_fourier_crop(top.optional_section("fourier_crop"));
  return config;
}

}  // namespace

SearchConfig parse_search_config(const std::string& yaml_text, const std::string& name,
                                 const std::string& micrograph) {
  try {
    const YamlSection top = base::parse_yaml(yaml_text, name);
    if (top.empty()) throw InputError("'" + name + "' is empty");
    return read_top(top, micrograph);
  } catch (const base::YamlError& error) {
    throw InputError(error.what());
  }
}

SearchConfig read_search_config(const std::string& path, const std::string& micrograph) {
  SearchConfig config = parse_search_config(read_text(path), path, micrograph);
  config.path = path;
  return config;
}

}  // namespace engine
