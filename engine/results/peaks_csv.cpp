#include "engine/results/peaks_csv.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace engine {
namespace {

constexpr std::string_view kHeader =
    ",particle_index,mip,scaled_mip,correlation_mean,correlation_variance,total_correlations,pos_x,"
    "pos_y,pos_x_img,pos_y_img,pos_x_img_angstrom,pos_y_img_angstrom,phi,theta,psi,"
    "relative_defocus,defocus_u,defocus_v,astigmatism_angle,pixel_size,refined_pixel_size,voltage,"
    "spherical_aberration,amplitude_contrast_ratio,phase_shift,ctf_B_factor,even_zernikes,"
    "odd_zernikes,mag_matrix,micrograph_path,template_path,mip_path,scaled_mip_path,psi_path,"
    "theta_path,phi_path,defocus_path,correlation_average_path,correlation_variance_path\n";

// Python's str(): the fewest digits that read back to the same value; a decimal point or an
// exponent always, the exponent only below 1e-4 and from 1e16 on.
template <typename Float>
std::string python_float(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string text(buffer, end);  // d[.ddd]e[+-]dd
  const size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  if (value != 0 && (exponent < -4 || exponent >= 16)) return text;

  const std::string sign = std::signbit(value) ? "-" : "";
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  if (exponent < 0)
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

// pandas leaves a missing value empty.
template <typename Float>
std::string cell(Float value) {
  return std::isnan(value) ? "" : python_float(value);
}

// Quotes as Python's csv module does by default.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string json_object(const std::map<std::string, double>& values) {
  if (values.empty()) return "";
  std::string text = "{";
  for (const auto& [name, value] : values) {
    if (text.size() > 1) text += ", ";
    text += '"' + name + "\": " + python_float(value);
  }
  return text + '}';
}

std::string python_list(const std::optional<std::vector<double>>& values) {
  if (!values) return "";
  std::string text = "[";
  for (const double value : *values) {
    if (text.size() > 1) text += ", ";
    text += python_float(value);
  }
  return text + ']';
}

// The columns that are the same in every row, from defocus_u to the end of the line.
std::string common_columns(const SearchConfig& config) {
  const OpticsGroup& optics = config.optics;
  std::string text;
  for (const double value :
       {optics.defocus_u, optics.defocus_v, optics.astigmatism_angle, optics.pixel_size,
        optics.pixel_size, optics.voltage, optics.spherical_aberration,
        optics.amplitude_contrast_ratio, optics.phase_shift, optics.ctf_b_factor}) {
    text += ',' + cell(value);
  }
  const ResultPaths& maps = config.results;
  for (const std::string& value :
       {json_object(optics.even_zernikes), json_object(optics.odd_zernikes),
        python_list(optics.mag_matrix), config.micrograph_path, config.template_volume_path,
        maps.mip, maps.scaled_mip, maps.orientation_psi, maps.orientation_theta,
        maps.orientation_phi, maps.relative_defocus, maps.correlation_average,
        maps.correlation_variance}) {
    text += ',' + quoted(value);
  }
  return text + '\n';
}

std::string row_text(size_t row, const Peak& peak, double pixel_size, int64_t total_correlations,
                     int half_template) {
  const std::string index = std::to_string(row);
  const int x = peak.x + half_template;
  const int y = peak.y + half_template;
  std::string text = index + ',' + index;
  for (const float value : {peak.mip, peak.scaled_mip, peak.mean, peak.sd}) {
    text += ',' + cell(value);
  }
  text += ',' + std::to_string(total_correlations);
  for (const int value : {peak.x, peak.y, x, y}) text += ',' + std::to_string(value);
  text += ',' + cell(x * pixel_size) + ',' + cell(y * pixel_size);
  for (const float value : {peak.phi, peak.theta, peak.psi, peak.relative_defocus}) {
    text += ',' + cell(value);
  }
  return text;
}

}  // namespace

std::string peaks_csv(const std::vector<Peak>& peaks, const SearchConfig& config,
                      int64_t total_correlations, int template_size) {
  std::string text(kHeader);
  const std::string common = common_columns(config);
  for (size_t row = 0; row < peaks.size(); ++row) {
    text +=
        row_text(row, peaks[row], config.optics.pixel_size, total_correlations, template_size / 2) +
        common;
  }
  return text;
}

}  // namespace engine
