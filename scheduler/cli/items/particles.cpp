#include "scheduler/cli/items/particles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include "base/parse_number.h"
#include "scheduler/api/peaks.h"
#include "scheduler/cli/terminal/exit.h"
#include "scheduler/ingest/star.h"

namespace scheduler::cli {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::vector<std::string>>;

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6f", value);
  return text.data();
}

std::string micrograph_name(const std::string& path, const std::string& project) {
  if (project.empty()) return path;
  const std::string relative = fs::path(path).lexically_relative(project).string();
  return relative.empty() || relative.starts_with("..") ? path : relative;
}

std::string loop_of(const std::string& block, const std::vector<const char*>& columns) {
  std::string text = "\n# version 30001\n\ndata_" + block + "\n\nloop_\n";
  for (size_t i = 0; i < columns.size(); ++i) {
    text += std::string("_rln") + columns[i] + " #" + std::to_string(i + 1) + "\n";
  }
  return text;
}

// Where the row that begins at `at` ends, behind its line break; line breaks in quotes are its own.
size_t end_of_row(std::string_view text, size_t at) {
  bool quoted = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (text[at] == '\n' && !quoted) return at + 1;
  }
  return at;
}

}  // namespace

// A peak list by the names of its columns.
class ParticlesStar::PeakTable {
 public:
  explicit PeakTable(const PeakList& list) : rows_(api::parse_csv(list.csv)), name_(list.name) {
    if (rows_.empty()) throw Failure(Exit::kFailed, name_ + ": the peak list is empty");
  }

  size_t size() const { return rows_.size() - 1; }

  const std::string& text(size_t peak, const std::string& column) const {
    const std::vector<std::string>& header = rows_.front();
    const auto found = std::find(header.begin(), header.end(), column);
    const auto at = static_cast<size_t>(found - header.begin());
    if (found == header.end() || at >= rows_[peak + 1].size()) {
      throw Failure(Exit::kFailed, name_ + ": no column " + column);
    }
    return rows_[peak + 1][at];
  }

  double number(size_t peak, const std::string& column) const {
    const std::string& word = text(peak, column);
    if (const auto value = base::parse_number<double>(word)) return *value;
    throw Failure(Exit::kFailed, name_ + ": column " + column + ": '" + word + "' is not a number");
  }

 private:
  Rows rows_;
  const std::string& name_;
};

void ParticlesStar::add(const PeakList& list) {
  const PeakTable peaks(list);
  for (size_t i = 0; i < peaks.size(); ++i) add(peaks, i);
}

void ParticlesStar::add(const PeakTable& peaks, size_t i) {
  const auto number = [&](const char* column) { return peaks.number(i, column); };
  const Optics optics = {
      number("pixel_size"),           number("voltage"),
      number("spherical_aberration"), number("amplitude_contrast_ratio"),
      number("pixel_size"),           2 * (number("pos_x_img") - number("pos_x"))};
  const int next = static_cast<int>(groups_.size()) + 1;
  const int group = groups_.try_emplace(optics, next).first->second;
  const double relative = number("relative_defocus");
  for (const double value :
       {number("pos_x_img"), number("pos_y_img"), number("phi"), number("theta"), number("psi"),
        number("defocus_u") + relative, number("defocus_v") + relative, number("astigmatism_angle"),
        number("phase_shift"), number("scaled_mip")}) {
    rows_ += number_text(value) + " ";
  }
  const std::string name = micrograph_name(peaks.text(i, "micrograph_path"), project_);
  const auto value = ingest::star_value(name);
  if (!value) {
    throw Failure(Exit::kFailed, "'" + name +
                                     "' cannot be written into a STAR file: RELION reads back no "
                                     "control characters, no two blanks beside each other, and no "
                                     "text with blanks that has both kinds of quotes before one or "
                                     "at its end; rename the micrograph, or write --csv");
  }
  rows_ += std::to_string(group) + " " + *value + "\n";
}

std::string ParticlesStar::text() const {
  std::string text = loop_of("optics", {"OpticsGroupName", "OpticsGroup", "MicrographPixelSize",
                                        "Voltage", "SphericalAberration", "AmplitudeContrast",
                                        "ImagePixelSize", "ImageSize", "ImageDimensionality"});
  for (const auto& [optics, number] : groups_) {
    text += "opticsGroup" + std::to_string(number) + " " + std::to_string(number);
    for (size_t i = 0; i + 1 < optics.size(); ++i) text += " " + number_text(optics[i]);
    text += " " + std::to_string(std::llround(optics.back())) + " 2\n";
  }
  return text + "\n" +
         loop_of("particles", {"CoordinateX", "CoordinateY", "AngleRot", "AngleTilt", "AnglePsi",
                               "DefocusU", "DefocusV", "DefocusAngle", "PhaseShift",
                               "AutopickFigureOfMerit", "OpticsGroup", "MicrographName"}) +
         rows_ + "\n";
}

void JoinedCsv::add(const PeakList& list) {
  const std::string_view text = list.csv;
  size_t at = end_of_row(text, 0);
  if (first_.empty()) {
    text_ = header_ = text.substr(0, at);
    first_ = list.name;
  } else if (text.substr(0, at) != header_) {
    throw Failure(Exit::kFailed, list.name + ": has other columns than " + first_);
  }
  while (at < text.size()) {
    const size_t end = end_of_row(text, at);
    const std::string_view row = text.substr(at, end - at);
    // The index of the row and that of the particle come first.
    const size_t index = row.find(',');
    const size_t rest = index == std::string_view::npos ? index : row.find(',', index + 1);
    if (rest == std::string_view::npos) {
      throw Failure(Exit::kFailed, list.name + ": a row without its first columns");
    }
    const std::string number = std::to_string(rows_++);
    text_ += number + "," + number;
    text_ += row.substr(rest);
    at = end;
  }
}

}  // namespace scheduler::cli
