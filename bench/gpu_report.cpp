#include "bench/gpu_report.h"

#include "base/json.h"
#include "engine/io/format.h"

namespace bench {
namespace {

using engine::format;
using Json = nlohmann::ordered_json;

Json spread_json(const Spread& s) {
  return {{"median", s.median}, {"smallest", s.smallest}, {"largest", s.largest}};
}

double giga_pixels(const Case& c) { return static_cast<double>(c.height) * c.width * 1e-9; }

Json kernel_json(const KernelTime& kernel, const Side& side, double bandwidth) {
  const auto correlations = static_cast<double>(side.correlations);
  Json json = {{"name", kernel.name},
               {"launches_per_call", kernel.launches},
               {"microseconds_per_correlation", kernel.seconds / correlations * 1e6}};
  if (const auto floor = floor_seconds(kernel, bandwidth)) {
    json["megabytes_per_correlation"] = *kernel.bytes / correlations * 1e-6;
    json["floor_microseconds_per_correlation"] = *floor / correlations * 1e6;
    json["floor_over_time"] = *floor / kernel.seconds;
  }
  return json;
}

void add_figures(Json& json, const Case& c, const Side& side, double bandwidth) {
  const Spread rate = spread_of(side.rates);
  const double pixels = giga_pixels(c);
  json["correlations_per_second"] = spread_json(rate);
  json["gpix_per_second"] =
      spread_json({rate.median * pixels, rate.smallest * pixels, rate.largest * pixels});
  const Side& base = c.sides.front();
  if (c.sides.size() > 1 && base.refused.empty()) {
    json["ratio_to_" + base.fft] = spread_json(ratio_of(side.rates, base.rates));
  }
  if (side.mip_rms) json["mip_rms_from_" + base.fft] = *side.mip_rms;
  json["start_seconds"] = side.start_seconds;
  json["device_megabytes"] = static_cast<double>(side.device_bytes) * 1e-6;
  json["planned_megabytes"] = static_cast<double>(side.planned_bytes) * 1e-6;
  json["batch"] = side.batch;
  int64_t launches = 0;
  Json kernels = Json::array();
  for (const KernelTime& kernel : side.kernels) {
    launches += kernel.launches;
    kernels.push_back(kernel_json(kernel, side, bandwidth));
  }
  json["launches_per_correlation"] =
      static_cast<double>(launches) / static_cast<double>(side.correlations);
  json["kernels"] = std::move(kernels);
}

// "fused fp32 chunks-first in-three".
std::string name_of(const Side& side) {
  return side.fft + " " + side.precision + (side.columns.empty() ? "" : " " + side.columns);
}

Json side_json(const Case& c, const Side& side, double bandwidth) {
  Json json = {{"fft", side.fft}, {"precision", side.precision}};
  if (!side.columns.empty()) json["columns"] = side.columns;
  if (!side.refused.empty()) {
    json["refused"] = side.refused;
    return json;
  }
  if (!side.tiling.empty()) json["tiling"] = side.tiling;
  if (!side.notes.empty()) json["notes"] = side.notes;
  add_figures(json, c, side, bandwidth);
  return json;
}

// As tests/gpu holds them.
double most_mip_rms(const std::string& precision) { return precision == "fp16" ? 1e-2 : 1e-4; }

std::string side_lines(const Case& c, const Side& side, double bandwidth) {
  const std::string name = name_of(side);
  if (!side.refused.empty()) return format("  %-20s %s\n", name.c_str(), side.refused.c_str());
  const Spread rate = spread_of(side.rates);
  std::string text =
      format("  %-20s %9.1f CC/s (%.1f to %.1f)  %8.2f Gpix/s  start %.2f s  %.0f MB\n",
             name.c_str(), rate.median, rate.smallest, rate.largest, rate.median * giga_pixels(c),
             side.start_seconds, static_cast<double>(side.device_bytes) * 1e-6);
  if (side.mip_rms) text += format("    MIP's rms from the first side %.2g\n", *side.mip_rms);
  for (const std::string& note : side.notes) text += "    " + note + "\n";
  for (const KernelTime& kernel : side.kernels) {
    const auto correlations = static_cast<double>(side.correlations);
    const auto floor = floor_seconds(kernel, bandwidth);
    text += format("    %-46s %5lld launches %9.2f us/CC", kernel.name.c_str(),
                   static_cast<long long>(kernel.launches), kernel.seconds / correlations * 1e6);
    text += floor ? format("  floor %8.2f\n", *floor / correlations * 1e6) : "  floor unknown\n";
  }
  return text;
}

}  // namespace

std::optional<double> floor_seconds(const KernelTime& kernel, double copy_bytes_per_second) {
  if (!kernel.bytes || !(copy_bytes_per_second > 0)) return std::nullopt;
  return *kernel.bytes / copy_bytes_per_second;
}

std::string report_json(const Report& report) {
  Json cases = Json::array();
  for (const Case& c : report.cases) {
    Json sides = Json::array();
    for (const Side& side : c.sides) {
      sides.push_back(side_json(c, side, report.copy_bytes_per_second));
    }
    cases.push_back({{"height", c.height},
                     {"width", c.width},
                     {"template", c.n},
                     {"planes", c.planes},
                     {"sides", std::move(sides)}});
  }
  Json versions = Json::object();
  for (const auto& [name, version] : report.versions) versions[name] = version;
  Json properties = Json::object();
  for (const auto& [name, value] : report.properties) properties[name] = value;
  const Json json = {{"program", "gpu_bench"},
                     {"device", report.device},
                     {"versions", std::move(versions)},
                     {"properties", std::move(properties)},
                     {"copy_gigabytes_per_second", report.copy_bytes_per_second * 1e-9},
                     {"open_seconds", report.open_seconds},
                     {"cases", std::move(cases)}};
  return json.dump(1) + "\n";
}

std::string report_head(const Report& report) {
  std::string cache;
  for (const auto& [name, value] : report.properties) {
    if (name == "l2CacheSize") cache = format("L2 of %.1f MB, ", static_cast<double>(value) * 1e-6);
  }
  return format("%s: %sa copy moves %.0f GB/s (read and written), open in %.2f s\n",
                report.device.c_str(), cache.c_str(), report.copy_bytes_per_second * 1e-9,
                report.open_seconds);
}

std::string case_table(const Case& c, double copy_bytes_per_second) {
  std::string text = format("%d x %d, template %d, %d planes\n", c.width, c.height, c.n, c.planes);
  for (const Side& side : c.sides) text += side_lines(c, side, copy_bytes_per_second);
  return text;
}

std::vector<std::string> complaints(const Report& report) {
  std::vector<std::string> out;
  for (const Case& c : report.cases) {
    for (const Side& side : c.sides) {
      const std::string name =
          format("%d x %d, template %d, %s: ", c.width, c.height, c.n, name_of(side).c_str());
      if (!side.refused.empty()) out.push_back(name + "did not run: " + side.refused);
      const double most = most_mip_rms(side.precision);
      if (side.mip_rms && !(*side.mip_rms <= most)) {
        out.push_back(name +
                      format("the MIP's rms from the first side is %.2g; at most %.2g is right",
                             *side.mip_rms, most));
      }
    }
  }
  return out;
}

}  // namespace bench
