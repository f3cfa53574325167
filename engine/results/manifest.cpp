#include "engine/results/manifest.h"

#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "base/json.h"
#include "base/mrc_header.h"
#include "base/read_file.h"
#include "base/sha256.h"
#include "engine/config/named_maps.h"
#include "engine/error.h"
#include "engine/io/input_errors.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kManifestFormat = 1;

std::string absolute(const std::string& path) {
  return path.empty() ? "" : fs::absolute(path).lexically_normal().string();
}

std::string host_name() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0) return "";
  return name;
}

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string sha256_of(const std::string& path) {
  return with_input_errors([&] { return base::sha256_of_file(path); });
}

Json input(const std::string& path, const std::string& sha256) {
  return {{"path", absolute(path)}, {"sha256", sha256}};
}

Json output(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error) throw InputError("cannot read '" + path + "': " + error.message());
  return {{"path", absolute(path)}, {"sha256", sha256_of(path)}, {"bytes", bytes}};
}

Json device(const DeviceInfo& info) {
  Json libraries = Json::object();
  for (const auto& [name, version] : info.libraries) libraries[name] = version;
  return {{"backend", info.backend},
          {"name", info.name},
          {"instruction_set", info.instruction_set},
          {"threads", info.threads},
          {"libraries", libraries},
          {"transforms", info.transforms}};
}

Json other_ranks(const std::vector<OtherRank>& ranks) {
  Json list = Json::array();
  for (const OtherRank& one : ranks) {
    list.push_back({{"rank", one.rank},
                    {"host", one.host},
                    {"device", one.device},
                    {"correlations", one.correlations}});
  }
  return list;
}

// Null where nothing was measured: single precision is what others are measured by.
Json precision_error(const std::optional<PrecisionError>& error) {
  if (!error) return nullptr;
  return {{"units", error->units}, {"mip_rms", error->rms}, {"mip_largest", error->largest}};
}

// Null where the search ran on the micrograph's own pixels.
Json fourier_crop(const Manifest& manifest) {
  if (!manifest.grid) return nullptr;
  Json crop = {{"height", manifest.grid->height},
               {"width", manifest.grid->width},
               {"template_size", manifest.grid->template_size}};
  if (const auto& error = manifest.crop_error) {
    crop["units"] = error->units;
    crop["mip_rms"] = error->rms;
    crop["mip_largest"] = error->largest;
    crop["peaks_lower"] = error->lower;
    crop["peaks_lower_most"] = error->lower_most;
  }
  return crop;
}

Json inputs(const Manifest& manifest) {
  const SearchConfig& config = manifest.config;
  const InputHashes& hashes = manifest.input_hashes;
  Json micrograph = input(config.micrograph_path, hashes.micrograph);
  micrograph["height"] = manifest.micrograph_height;
  micrograph["width"] = manifest.micrograph_width;
  micrograph["pixel_size"] = config.optics.pixel_size;
  Json volume = input(config.template_volume_path, hashes.volume);
  volume["size"] = manifest.template_size;
  return {{"configuration", input(config.path, hashes.configuration)},
          {"micrograph", micrograph},
          {"template", volume}};
}

Json counts(const Manifest& manifest) {
  return {{"orientations", manifest.orientations},
          {"defocus_planes", manifest.defocus_planes},
          {"correlations", manifest.correlations},
          {"units", manifest.units},
          {"resumed_units", manifest.resumed_units},
          {"rank_0_correlations", manifest.rank_0_correlations},
          {"map_height", manifest.map_height},
          {"map_width", manifest.map_width}};
}

Json timings(const Manifest& manifest) {
  const Timings& times = manifest.timings;
  // The rate of this attempt: what earlier ones finished took none of its time.
  double correlations = static_cast<double>(manifest.correlations);
  if (manifest.units > 0) {
    correlations *=
        1.0 - static_cast<double>(manifest.resumed_units) / static_cast<double>(manifest.units);
  }
  return {{"started", times.started},
          {"finished", times.finished},
          {"read_seconds", times.read},
          {"preprocess_seconds", times.preprocess},
          {"search_seconds", times.search},
          {"write_seconds", times.write},
          {"correlations_per_second", times.search > 0 ? correlations / times.search : 0.0}};
}

Json outputs(const OutputPaths& paths) {
  Json all;
  for (const auto& [name, path] : kMaps) all[name] = output(paths.maps.*path);
  all["peaks_csv"] = output(paths.csv);
  return all;
}

}  // namespace

InputHashes hash_inputs(const SearchConfig& config, const InputFiles& files) {
  return {.configuration = config.path.empty() ? "" : sha256_of(config.path),
          .micrograph = files.micrograph.sha256,
          .volume = files.volume.sha256};
}

std::string manifest_json(const Manifest& manifest) {
  Json pictures = Json::object();
  for (const auto& [name, path] : manifest.pictures) pictures[name] = output(path);
  const Json json = {{"format", kManifestFormat},
                     {"program", "margay-engine"},
                     {"version", MARGAY_VERSION},
                     {"build", {{"compiler", compiler()}}},
                     {"attempt", manifest.attempt},
                     {"status", "done"},
                     {"host", host_name()},
                     {"device", device(manifest.device)},
                     {"other_ranks", other_ranks(manifest.other_ranks)},
                     {"precision", manifest.precision},
                     {"precision_error", precision_error(manifest.precision_error)},
                     {"fourier_crop", fourier_crop(manifest)},
                     {"fft", manifest.fft},
                     {"tiling", manifest.tiling.empty() ? Json(nullptr) : Json(manifest.tiling)},
                     {"numerics_version", manifest.numerics_version},
                     {"search_hash", manifest.search_hash},
                     {"inputs", inputs(manifest)},
                     {"counts", counts(manifest)},
                     {"timings", timings(manifest)},
                     {"peaks",
                      {{"count", manifest.peaks},
                       {"metric", manifest.peak_metric},
                       {"false_positives", manifest.false_positives},
                       {"mask_radius", manifest.mask_radius},
                       {"cutoff", manifest.cutoff},
                       {"best_z", manifest.best_z}}},
                     {"outputs", outputs(manifest.outputs)},
                     {"pictures", pictures},
                     {"notes", manifest.notes}};
  // File names are bytes, JSON is UTF-8: what is not becomes U+FFFD; the caller knows its paths.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void write_manifest(const Manifest& manifest) {
  write_text_atomically(manifest.outputs.manifest, manifest_json(manifest));
}

namespace {

std::optional<SearchGrid> grid_in(const Json& manifest, const std::string& path) {
  constexpr int kLargestTemplate = 1 << 14;
  const Json crop = manifest.value("fourier_crop", Json());  // not in those of earlier versions
  if (crop.is_null()) return std::nullopt;
  const Json& whole = manifest.at("inputs");
  const int size = base::whole_number<int>(whole.at("template"), "size");
  const int cropped = base::whole_number<int>(crop, "template_size");
  if (cropped < 1 || cropped >= size || size > kLargestTemplate) {
    throw InputError("'" + path + "': fourier_crop.template_size is " + std::to_string(cropped) +
                     ", of a template of " + std::to_string(size) +
                     " pixels; remove the manifest or run the search again");
  }
  const Json& micrograph = whole.at("micrograph");
  const auto side = [&](const char* key) {
    const int pixels = base::whole_number<int>(micrograph, key);
    if (pixels >= 1 && pixels <= base::kLongestMrcAxis) return pixels;
    throw InputError("'" + path + "': inputs.micrograph." + key + " is " + std::to_string(pixels) +
                     "; remove the manifest or run the search again");
  };
  const int shared = std::gcd(size, cropped);
  SearchGrid grid = grid_of_sides(side("height"), side("width"), cropped / shared, size / shared);
  grid.template_size = cropped;
  return grid;
}

}  // namespace

std::optional<SearchedMaps> read_searched_maps(const std::string& path,
                                               const std::string& scaled_mip) {
  const auto text = with_input_errors([&] { return base::read_file(path); });
  if (!text) return std::nullopt;
  try {
    const Json json = Json::parse(*text);
    if (base::whole_number<int>(json, "format") > kManifestFormat) {
      throw InputError("'" + path + "': written by a newer margay-engine (format " +
                       json.at("format").dump() + "); use that one");
    }
    SearchedMaps maps{
        .correlations = base::whole_number<int64_t>(json.at("counts"), "correlations"),
        .grid = grid_in(json, path)};
    if (maps.correlations < 1) {
      throw InputError("'" + path + "': counts.correlations is " +
                       std::to_string(maps.correlations) +
                       "; remove the manifest or run the search again");
    }
    const auto theirs = json.at("outputs").at("scaled_mip").at("path").get<std::string>();
    if (fs::path(theirs).filename() != fs::path(scaled_mip).filename()) return std::nullopt;
    return maps;
  } catch (const Json::exception& error) {
    throw InputError("'" + path + "': not a whole manifest of margay-engine (" + error.what() +
                     "); remove it or run the search again");
  }
}

}  // namespace engine
