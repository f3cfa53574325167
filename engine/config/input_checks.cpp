#include "engine/config/input_checks.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/other_content.h"
#include "engine/error.h"

namespace engine {
namespace {

[[noreturn]] void refuse(const std::string& field, const std::string& path,
                         const std::string& problem) {
  throw InputError(field + ": '" + path + "' " + problem);
}

// One of the configuration's inputs, and the SHA-256 that it must have, if any.
struct Input {
  std::string field;
  std::string path;
  std::string hash_key;
  std::string sha256;
};

// Returns a text that says where relative paths start, for one that leads nowhere; else an empty
// one.
std::string where_it_starts(const std::filesystem::path& path) {
  std::error_code error;
  if (path.is_absolute() || std::filesystem::exists(path, error) || error) return "";
  const std::filesystem::path folder = std::filesystem::current_path(error);
  if (error) return "";
  return "; relative paths start from the current folder, '" + folder.string() + "'";
}

MrcFile read_input(const Input& input) {
  const auto& [field, path, hash_key, sha256] = input;
  try {
    return sha256.empty() ? read_hashed_mrc(path) : read_mrc_with_hash(path, sha256);
  } catch (const OtherContent&) {
    refuse(field, path, base::other_content_text(hash_key) + ", and nothing of it is searched");
  } catch (const InputError& error) {
    throw InputError(field + ": " + error.what() + where_it_starts(path));
  }
}

std::string shape_text(const MrcHeader& header) {
  std::string text = std::to_string(header.nx) + " x " + std::to_string(header.ny);
  if (header.nz != 1) text += " x " + std::to_string(header.nz);
  return text;
}

std::string number_text(double value) {
  std::ostringstream out;
  out.precision(7);
  out << value;
  return out.str();
}

// Where the value at `index` stands, for a person with a viewer.
std::string position_text(const MrcHeader& header, size_t index) {
  const auto columns = static_cast<size_t>(header.nx);
  const auto rows = static_cast<size_t>(header.ny);
  std::string text = "row " + std::to_string(index / columns % rows) + ", column " +
                     std::to_string(index % columns);
  if (header.nz != 1) text = "section " + std::to_string(index / columns / rows) + ", " + text;
  return text + " (counted from 0)";
}

void check_values(const std::string& field, const MrcFile& file) {
  const auto bad = std::find_if(file.values.begin(), file.values.end(),
                                [](float value) { return !std::isfinite(value); });
  if (bad != file.values.end()) {
    const auto index = static_cast<size_t>(bad - file.values.begin());
    refuse(field, file.path,
           std::string("holds ") + (std::isnan(*bad) ? "NaN" : "an infinite value") + " at " +
               position_text(file.header, index) + "; replace it with the mean of its neighbours");
  }
  const auto other = std::find_if(file.values.begin(), file.values.end(),
                                  [&](float value) { return value != file.values.front(); });
  if (other == file.values.end()) {
    refuse(field, file.path,
           "is constant: every value is " + number_text(file.values.front()) +
               ", so there is nothing to search");
  }
}

void check_pixel_size(const std::string& field, const MrcFile& file, SearchConfig& config,
                      bool allow_mismatch) {
  const double wanted = config.optics.pixel_size;
  const size_t axes = file.header.nz == 1 ? 2 : 3;
  bool unknown = true;
  for (size_t axis = 0; axis < axes; ++axis) {
    const double found = file.header.pixel_size[axis];
    if (found == 0) continue;
    unknown = false;
    if (std::abs(found - wanted) <= kPixelSizeTolerance * wanted) continue;
    const std::string fact = "has a pixel size of " + number_text(found) +
                             " A in its header, but optics_group.pixel_size is " +
                             number_text(wanted) + " A";
    if (!allow_mismatch) {
      refuse(field, file.path,
             fact +
                 "; correct the wrong one, or search by hand with margay-engine "
                 "--allow-pixel-size-mismatch, which trusts the configuration");
    }
    config.notes.push_back(field + ": '" + file.path + "' " + fact +
                           ", which is used because of --allow-pixel-size-mismatch.");
    return;
  }
  if (unknown) {
    config.notes.push_back(field + ": '" + file.path +
                           "' has no pixel size in its header; optics_group.pixel_size, " +
                           number_text(wanted) + " A, is used.");
  }
}

}  // namespace

MrcFile read_template(SearchConfig& config, bool allow_mismatch) {
  MrcFile volume = read_input({"template_volume_path", config.template_volume_path,
                               base::kVolumeHashKey, config.template_volume_sha256});
  check_template(volume, config, allow_mismatch);
  return volume;
}

InputFiles read_inputs(SearchConfig& config, bool allow_mismatch) {
  InputFiles files;
  files.volume = read_template(config, allow_mismatch);
  files.micrograph = read_input({"micrograph_path", config.micrograph_path,
                                 base::kMicrographHashKey, config.micrograph_sha256});
  check_micrograph(files.micrograph, config, allow_mismatch);
  check_shapes(files.micrograph, files.volume, config);
  return files;
}

void check_micrograph(const MrcFile& micrograph, SearchConfig& config, bool allow_mismatch) {
  const std::string field = "micrograph_path";
  const MrcHeader& header = micrograph.header;
  if (header.nz != 1) {
    refuse(field, micrograph.path,
           "is 3-D (" + shape_text(header) +
               "), but a micrograph is one 2-D image: sum the frames or "
               "take one section out");
  }
  if (header.nx % 2 != 0 || header.ny % 2 != 0) {
    refuse(field, micrograph.path,
           "is " + shape_text(header) +
               " pixels, but both sides must be even: cut off one row or "
               "column");
  }
  check_values(field, micrograph);
  check_pixel_size(field, micrograph, config, allow_mismatch);
}

void check_template(const MrcFile& volume, SearchConfig& config, bool allow_mismatch) {
  const std::string field = "template_volume_path";
  const MrcHeader& header = volume.header;
  if (header.nz == 1) {
    refuse(field, volume.path,
           "is a 2-D image (" + shape_text(header) + "), but a template is a 3-D volume");
  }
  if (header.volumes > 1) {
    refuse(field, volume.path,
           "is a stack of " + std::to_string(header.volumes) +
               " volumes, but a template is one: take one out");
  }
  if (header.nx != header.ny || header.nx != header.nz) {
    refuse(field, volume.path,
           "is not cubic (" + shape_text(header) + "): pad or cut it to equal sides");
  }
  if (header.nx % 2 != 0) {
    refuse(field, volume.path,
           "is " + shape_text(header) + " voxels, but the side must be even: pad it by one");
  }
  check_values(field, volume);
  check_pixel_size(field, volume, config, allow_mismatch);
}

void check_shapes(const MrcFile& micrograph, const MrcFile& volume, const SearchConfig& config) {
  const int side = volume.header.nx;
  if (side <= std::min(micrograph.header.nx, micrograph.header.ny)) return;
  refuse("template_volume_path", volume.path,
         "is larger (" + shape_text(volume.header) + ") than the micrograph '" +
             config.micrograph_path + "' (" + shape_text(micrograph.header) +
             "): take a smaller template or a larger micrograph");
}

}  // namespace engine
