// Reads the engine's peak list, a CSV file with Leopard-EM's columns. Pure.
#pragma once

#include <string>
#include <vector>

namespace scheduler::api {

struct PeakRow {
  double x = 0, y = 0;  // pixels of the micrograph: centre of the template's box
  double z = 0;         // scaled MIP value
  double mip = 0;
  double phi = 0, theta = 0, psi = 0;  // degrees
  double relative_defocus = 0;         // A
};

// Fields may be quoted and hold commas, doubled quotes and line breaks (paths do).
std::vector<std::vector<std::string>> parse_csv(const std::string& text);

// Finds the columns by their names and keeps the list's order. Throws std::runtime_error naming
// `name` and the column that is missing or not a number.
std::vector<PeakRow> read_peaks(const std::string& csv, const std::string& name);

}  // namespace scheduler::api
