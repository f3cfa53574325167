#include "tests/integration/small_search.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "engine/io/mrc.h"

namespace tests {

namespace fs = std::filesystem;

engine::Image small_micrograph(int height, int width) {
  std::mt19937 random(7);
  engine::Image image(height, width);
  // Not std::normal_distribution: its values differ between libraries.
  for (float& pixel : image.pixels) pixel = static_cast<float>(random() % 1000) / 100.0f;
  return image;
}

engine::Volume small_template(int size) {
  engine::Volume volume;
  volume.size = size;
  for (int i = 0; i < size * size * size; ++i) {
    const double z = i / (size * size) - size / 2.0;
    const double y = i / size % size - size / 2.0;
    const double x = i % size - size / 2.0;
    volume.voxels.push_back(static_cast<float>(std::exp(-(x * x / 4 + y * y / 8 + z * z / 12))));
  }
  return volume;
}

SmallSearch::SmallSearch() {
  engine::write_mrc(file("image.mrc"), small_micrograph(), 2.0);
  engine::write_mrc(file("template.mrc"), small_template(), 2.0);
  sections = {{"micrograph_path", "image.mrc"},
              {"template_volume_path", "template.mrc"},
              {"optics_group",
               "{label: small, pixel_size: 2.0, voltage: 300, defocus_u: 5000, defocus_v: 4800, "
               "astigmatism_angle: 20}"},
              {"defocus_search_config", "{enabled: false}"},
              {"orientation_search_config", "{psi_step: 90, theta_step: 60, symmetry: C2}"},
              {"preprocessing_filters", "{}"},
              {"computational_config", "{gpu_ids: cpu}"}};
}

std::string SmallSearch::yaml() const {
  std::string text;
  for (const auto& [key, value] : sections) text += key + ": " + value + "\n";
  text += "match_template_result:\n";
  const std::vector<std::pair<std::string, std::string>> maps = {{"mip", "mip"},
                                                                 {"scaled_mip", "scaled_mip"},
                                                                 {"correlation_average", "mean"},
                                                                 {"correlation_variance", "sd"},
                                                                 {"orientation_psi", "psi"},
                                                                 {"orientation_theta", "theta"},
                                                                 {"orientation_phi", "phi"},
                                                                 {"relative_defocus", "defocus"}};
  for (const auto& [key, name] : maps) {
    text += "  " + key + "_path: \"" + results + "/" + name + ".mrc\"\n";
  }
  return text;
}

void SmallSearch::write_config(const std::string& name) const {
  std::ofstream(file(name), std::ios::binary) << yaml();
}

Finished SmallSearch::match(const std::vector<std::string>& more) const {
  write_config();
  std::vector<std::string> arguments = {
      engine_program(), "match", "search.yaml", "--backend", "cpu", "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, folder());
}

std::map<std::string, uintmax_t> SmallSearch::contents() const {
  std::map<std::string, uintmax_t> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    found[entry.path().string()] = entry.is_regular_file() ? entry.file_size() : 0;
  }
  return found;
}

std::string engine_program() { return MARGAY_BIN_DIR "/margay-engine"; }

}  // namespace tests
