#include "engine/results/results.h"

#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "engine/config/named_maps.h"
#include "engine/error.h"
#include "engine/io/input_errors.h"
#include "engine/io/mrc.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

using base::folder_of;

// In the order of kMaps.
template <typename MapsType>
auto images_of(MapsType& maps) {
  const std::array images{&maps.mip, &maps.scaled_mip, &maps.mean, &maps.sd,
                          &maps.psi, &maps.theta,      &maps.phi,  &maps.relative_defocus};
  static_assert(images.size() == kMaps.size());
  return images;
}

std::string csv_of_option(const std::string& output) {
  const fs::path path(output);
  std::error_code ignored;
  if (path.extension() != ".csv" || fs::is_directory(path, ignored)) {
    throw UsageError("--output '" + output +
                     "': must be the name of a peak list ending in .csv, e.g. '" +
                     (path / "peaks.csv").string() + "'");
  }
  return output;
}

// "x_" of x.csv, x_peaks.csv and x_scaled_mip_peaks.csv; "" where they have no x.
std::string beginning_of(const std::string& csv) {
  std::string name = fs::path(csv).stem().string();
  for (const std::string word : {"peaks", "scaled_mip"}) {
    if (name == word) name.clear();
    if (name.ends_with("_" + word)) name.resize(name.size() - word.size() - 1);
  }
  return name.empty() ? "" : name + "_";
}

}  // namespace

OutputPaths output_paths(const SearchConfig& config, const std::string& output) {
  OutputPaths paths;
  paths.maps = config.results;
  if (output.empty()) {
    const fs::path scaled_mip(config.results.scaled_mip);
    paths.csv = (scaled_mip.parent_path() / (scaled_mip.stem().string() + "_peaks.csv")).string();
  } else {
    paths.csv = csv_of_option(output);
  }
  paths.beginning = (fs::path(folder_of(paths.csv)) / beginning_of(paths.csv)).string();
  paths.manifest = paths.beginning + "manifest.json";
  paths.progress = paths.beginning + "progress.json";
  return paths;
}

void write_maps(const Maps& maps, const ResultPaths& paths, double pixel_size) {
  with_input_errors([&] {
    // All are written before the first is renamed: a full disk leaves the old set whole.
    std::vector<base::AtomicFile> files;
    const auto images = images_of(maps);
    for (size_t i = 0; i < images.size(); ++i) {
      files.emplace_back(paths.*kMaps[i].path, base::Folder::kMake);
      write_mrc(files.back().create(), *images[i], pixel_size, files.back().path());
    }
    std::set<std::string> folders;
    for (base::AtomicFile& file : files) {
      file.commit();
      folders.insert(folder_of(file.path()));
    }
    for (const std::string& folder : folders) {
      base::sync_folder_of((fs::path(folder) / "x").string());
    }
  });
}

void write_image(const std::string& path, const Image& image, double pixel_size) {
  with_input_errors([&] {
    base::AtomicFile file(path, base::Folder::kMake);
    write_mrc(file.create(), image, pixel_size, path);
    file.commit();
    base::sync_folder_of(path);
  });
}

Maps read_maps(const ResultPaths& paths) {
  Maps maps;
  const auto images = images_of(maps);
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string& path = paths.*kMaps[i].path;
    Image* const image = images[i];
    MrcFile file = read_mrc(path);
    if (file.header.nz != 1) {
      throw InputError("'" + path + "': " + std::to_string(file.header.nz) +
                       " sections; a map of a search has one");
    }
    *image = to_image(std::move(file));
    if (image->height != maps.mip.height || image->width != maps.mip.width) {
      throw InputError("'" + path + "': " + std::to_string(image->width) + " x " +
                       std::to_string(image->height) + " pixels, but '" + paths.mip + "' has " +
                       std::to_string(maps.mip.width) + " x " + std::to_string(maps.mip.height) +
                       "; the maps must be of one search");
    }
  }
  maps.height = maps.mip.height;
  maps.width = maps.mip.width;
  return maps;
}

}  // namespace engine
