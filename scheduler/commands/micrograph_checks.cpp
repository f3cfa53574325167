#include "scheduler/commands/micrograph_checks.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "scheduler/errors.h"
#include "scheduler/files/mrc_file.h"

namespace scheduler {
namespace {

constexpr double kTolerance = 1e-3;  // relative, as the engine's

std::string number_text(double value) {
  std::ostringstream text;
  text.precision(7);
  text << value;
  return text.str();
}

std::string sides_text(int64_t width, int64_t height) {
  return std::to_string(width) + " x " + std::to_string(height);
}

std::string name_of(const db::Template& search_template) {
  return "template " + search_template.name + "@" + std::to_string(search_template.version);
}

// Values of which one is not known agree.
bool agree(double found, double wanted) {
  return found == 0 || wanted == 0 || std::abs(found - wanted) <= kTolerance * wanted;
}

}  // namespace

db::ImageSize micrograph_size(int descriptor, const FileFacts& file) {
  const auto refuse = [&](const std::string& problem) -> void {
    throw Invalid("'" + file.path + "' " + problem);
  };
  base::MrcHeader header;
  try {
    header = read_mrc_header(descriptor, file.bytes);
  } catch (const base::MrcError& error) {
    refuse(error.what());
  }
  if (header.nz != 1) {
    refuse("is a stack or a volume (" + sides_text(header.nx, header.ny) + " x " +
           std::to_string(header.nz) +
           "), but a micrograph is one image: sum the frames or take one section out");
  }
  if (header.nx % 2 != 0 || header.ny % 2 != 0) {
    refuse("is " + sides_text(header.nx, header.ny) +
           " pixels, but both sides must be even: cut off one row or column");
  }
  return {.width = header.nx, .height = header.ny, .pixel_size = header.pixel_size[0]};
}

void check_fits(const std::string& path, const db::ImageSize& image,
                const db::Template& search_template, const SearchOptics& settings) {
  if (image.width == 0) return;
  const int64_t side = search_template.counts.template_size;
  if (side > std::min(image.width, image.height)) {
    throw Invalid("'" + path + "' has " + sides_text(image.width, image.height) + " pixels, and " +
                  name_of(search_template) + " is " + std::to_string(side) +
                  " voxels wide: take a smaller template or a larger micrograph");
  }
  if (agree(image.pixel_size, settings.pixel_size)) return;
  throw Invalid("'" + path + "' has a pixel size of " + number_text(image.pixel_size) +
                " A in its header, and " + name_of(search_template) + " searches at " +
                number_text(settings.pixel_size) +
                " A (optics_group.pixel_size): correct the wrong one");
}

void check_listed(const std::string& path, const SearchOptics& listed,
                  const db::Template& search_template, const SearchOptics& settings) {
  const auto check = [&](double found, double wanted, const char* key, const char* unit) {
    if (agree(found, wanted)) return;
    throw Invalid("'" + path + "' has " + key + " " + number_text(found) + unit +
                  " in its list or CTF file, and " + name_of(search_template) + " searches with " +
                  number_text(wanted) + unit + ": correct the wrong one");
  };
  check(listed.pixel_size, settings.pixel_size, "pixel_size", " A");
  check(listed.voltage, settings.voltage, "voltage", " kV");
  check(listed.spherical_aberration, settings.spherical_aberration, "spherical_aberration", " mm");
}

}  // namespace scheduler
