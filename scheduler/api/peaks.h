// The engine's peak list (CSV with Leopard-EM's columns) as the API tells it.
#pragma once

#include <string>
#include <vector>

namespace scheduler::api {

struct PeakRow {
  double x = 0, y = 0;  // pixels of the micrograph: centre of the template's box
  double z = 0;         // scaled MIP
  double mip = 0;
  double phi = 0, theta = 0, psi = 0;  // degrees
  double relative_defocus = 0;         // A
};

// Fields may be quoted and hold commas, doubled quotes and line breaks (paths do).
std::vector<std::vector<std::string>> parse_csv(const std::string& text);

// By the columns' names, in the list's order. Throws std::runtime_error naming `name` and the
// column that is missing or is not a number.
std::vector<PeakRow> read_peaks(const std::string& csv, const std::string& name);

}  // namespace scheduler::api
