#include "tests/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "engine/io/mrc.h"
#include "engine/numerics/orientations.h"
#include "engine/search/selftest.h"

namespace tests {
namespace {

using Row = std::map<std::string, std::string>;

// Tables without quoted commas before their last column that is asked for.
std::vector<Row> read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const auto cells = [](const std::string& line) {
    std::vector<std::string> found;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) found.push_back(cell);
    return found;
  };
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = cells(line);
    Row row;
    for (size_t i = 0; i < names.size(); ++i) row[names[i]] = i < values.size() ? values[i] : "";
    rows.push_back(row);
  }
  return rows;
}

double number(const Row& row, const std::string& name) { return std::stod(row.at(name)); }

std::string data_path(const std::string& file) {
  return std::string(MARGAY_TEST_DATA) + "/" + file;
}

std::vector<engine::Image*> sections(engine::Maps& maps) {
  return {&maps.mip, &maps.scaled_mip, &maps.mean, &maps.sd,
          &maps.psi, &maps.theta,      &maps.phi,  &maps.relative_defocus};
}

engine::Image cut(const engine::Image& image, int row, int column, int height, int width) {
  engine::Image part(height, width);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) part.at(y, x) = image.at(row + y, column + x);
  }
  return part;
}

struct Difference {
  double rms = 0;
  double largest = 0;
};

Difference difference(const engine::Image& a, const engine::Image& b) {
  if (a.height != b.height || a.width != b.width) {
    throw std::runtime_error("maps of different sizes are compared");
  }
  double sum = 0;
  Difference result;
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    const double d = static_cast<double>(a.pixels[i]) - b.pixels[i];
    sum += d * d;
    // A NaN must not hide behind a comparison that is false for it.
    if (!(std::abs(d) <= result.largest)) result.largest = std::abs(d);
  }
  result.rms = std::sqrt(sum / static_cast<double>(a.pixels.size()));
  return result;
}

bool same_pose(const engine::Maps& a, const engine::Maps& b, size_t i) {
  const auto near = [i](const engine::Image& p, const engine::Image& q) {
    return std::abs(p.pixels[i] - q.pixels[i]) < 1e-2f;
  };
  return near(a.phi, b.phi) && near(a.theta, b.theta) && near(a.psi, b.psi) &&
         near(a.relative_defocus, b.relative_defocus);
}

// True when some sample of the slice other than its centre lies on the plane kx = 0.
bool is_degenerate(const engine::Maps& maps, size_t pixel, int size) {
  constexpr double kOnPlane = 1e-5;  // in samples; float32 rounds to about this
  const engine::Rotation r = engine::rotation_matrix(
      maps.phi.pixels[pixel], maps.theta.pixels[pixel], maps.psi.pixels[pixel]);
  for (int kx = 0; kx <= size / 2; ++kx) {
    for (int ky = -size / 2; ky < size / 2; ++ky) {
      if ((kx != 0 || ky != 0) && std::abs(r[0] * kx + r[1] * ky) < kOnPlane) return true;
    }
  }
  return false;
}

Particle particle_of(const engine::Peak& peak, int template_size) {
  return {static_cast<double>(peak.x + template_size / 2),
          static_cast<double>(peak.y + template_size / 2),
          peak.phi,
          peak.theta,
          peak.psi,
          peak.relative_defocus,
          peak.scaled_mip,
          peak.mip};
}

}  // namespace

ReferenceCase reference_case(const std::string& name) {
  for (const Row& row : read_table(data_path("leopard-em/cases.csv"))) {
    if (row.at("case") != name) continue;
    ReferenceCase found{
        name, std::stoll(row.at("orientations")), std::stoll(row.at("planes")), {}, {}};
    if (!row.at("window_column").empty()) {
      found.window_column = std::stoi(row.at("window_column"));
      found.window_row = std::stoi(row.at("window_row"));
    }
    return found;
  }
  throw std::runtime_error("no reference case " + name);
}

std::string reference_path(const std::string& name, const std::string& file) {
  return data_path("leopard-em/" + name + "/" + file);
}

std::optional<std::string> whole_reference() {
  const char* folder = std::getenv("MARGAY_REFERENCE");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

engine::Maps read_window(const std::string& path) {
  const engine::MrcFile file = engine::read_mrc(path);
  engine::Maps maps;
  maps.height = file.header.ny;
  maps.width = file.header.nx;
  const std::vector<engine::Image*> images = sections(maps);
  if (file.header.nz != static_cast<int>(images.size())) {
    throw std::runtime_error(path + " does not hold eight maps");
  }
  const std::ptrdiff_t area = static_cast<std::ptrdiff_t>(maps.height) * maps.width;
  auto next = file.values.begin();
  for (engine::Image* image : images) {
    *image = engine::Image(maps.height, maps.width);
    image->pixels.assign(next, next + area);
    next += area;
  }
  return maps;
}

engine::Image read_image(const std::string& path) {
  return engine::to_image(engine::read_mrc(path));
}

engine::Maps read_whole_maps(const std::string& folder) {
  engine::Maps maps;
  const std::vector<engine::Image*> images = sections(maps);
  const std::vector<std::string> names = {"mip", "scaled_mip", "mean", "sd",
                                          "psi", "theta",      "phi",  "defocus"};
  for (size_t i = 0; i < names.size(); ++i) {
    *images[i] = read_image(folder + "/" + names[i] + ".mrc");
  }
  maps.height = maps.mip.height;
  maps.width = maps.mip.width;
  return maps;
}

engine::Maps cut(const engine::Maps& maps, int row, int column, int height, int width) {
  engine::Maps part = maps;
  part.height = height;
  part.width = width;
  for (engine::Image* image : sections(part)) *image = cut(*image, row, column, height, width);
  return part;
}

Agreement compare(const engine::Maps& ours, const engine::Maps& reference,
                  const std::optional<engine::Image>& untied) {
  double unit = 0;
  for (const float value : reference.sd.pixels) unit += value;
  unit /= static_cast<double>(reference.sd.pixels.size());
  Agreement found;
  const Difference mip = difference(ours.mip, reference.mip);
  found.mip = mip.rms / unit;
  found.largest_mip = mip.largest;
  found.scaled_mip = difference(ours.scaled_mip, reference.scaled_mip).rms / unit;
  found.mean = difference(ours.mean, reference.mean).rms / unit;
  found.sd = difference(ours.sd, reference.sd).rms / unit;
  int64_t same = 0;
  for (size_t i = 0; i < reference.mip.pixels.size(); ++i) {
    if (same_pose(ours, reference, i)) {
      ++same;
    } else if (untied && untied->pixels.at(i) > 0.5f) {
      ++found.wrong_untied;
    }
  }
  found.same_pose = static_cast<double>(same) / static_cast<double>(reference.mip.pixels.size());
  return found;
}

std::string describe(const Agreement& a) {
  std::ostringstream text;
  text << "rms of the difference in mean deviations: mip " << a.mip << ", scaled mip "
       << a.scaled_mip << ", mean " << a.mean << ", sd " << a.sd << "; largest of mip "
       << a.largest_mip << "; same pose in " << 100 * a.same_pose << " % of all pixels, "
       << a.wrong_untied << " wrong without a tie";
  return text.str();
}

MapsPair at_regular_poses(const engine::Maps& ours, const engine::Maps& reference, int size) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < reference.mip.pixels.size(); ++i) {
    if (!is_degenerate(ours, i, size) && !is_degenerate(reference, i, size)) kept.push_back(i);
  }
  MapsPair pair = {ours, reference};
  for (engine::Maps* maps : {&pair.ours, &pair.reference}) {
    maps->height = 1;
    maps->width = static_cast<int>(kept.size());
    for (engine::Image* image : sections(*maps)) {
      engine::Image row(1, maps->width);
      for (size_t k = 0; k < kept.size(); ++k) row.pixels[k] = image->pixels[kept[k]];
      *image = std::move(row);
    }
  }
  return pair;
}

std::vector<Particle> read_peak_list(const std::string& path) {
  std::vector<Particle> particles;
  for (const Row& row : read_table(path)) {
    particles.push_back({number(row, "pos_x_img"), number(row, "pos_y_img"), number(row, "phi"),
                         number(row, "theta"), number(row, "psi"), number(row, "relative_defocus"),
                         number(row, "scaled_mip"), number(row, "mip")});
  }
  return particles;
}

std::vector<Particle> read_truth(const std::string& path) {
  std::vector<Particle> particles;
  for (const engine::PlantedParticle& planted : engine::read_truth_csv(path)) {
    particles.push_back({.x = planted.x,
                         .y = planted.y,
                         .phi = planted.phi,
                         .theta = planted.theta,
                         .psi = planted.psi,
                         .relative_defocus = planted.defocus_offset});
  }
  return particles;
}

std::vector<Particle> particles_of(const engine::Maps& maps, int template_size) {
  std::vector<Particle> particles;
  for (const engine::Peak& peak : engine::find_peaks(maps, {})) {
    particles.push_back(particle_of(peak, template_size));
  }
  return particles;
}

double distance(const Particle& a, const Particle& b) { return std::hypot(a.x - b.x, a.y - b.y); }

double pose_distance(const Particle& a, const Particle& b) {
  return engine::rotation_distance(engine::rotation_matrix(a.phi, a.theta, a.psi),
                                   engine::rotation_matrix(b.phi, b.theta, b.psi));
}

std::optional<Particle> nearest(const std::vector<Particle>& particles, const Particle& wanted,
                                double reach) {
  std::optional<Particle> best;
  for (const Particle& particle : particles) {
    if (distance(particle, wanted) > reach) continue;
    if (!best || distance(particle, wanted) < distance(*best, wanted)) best = particle;
  }
  return best;
}

}  // namespace tests
