// Reference peak lists (tests/data/leopard-em) read back.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "engine/numerics/peaks.h"

namespace engine {

// No field of these files is quoted.
inline std::vector<std::vector<std::string>> csv_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
  }
  return rows;
}

inline std::vector<Peak> peaks_of_csv(const std::string& text) {
  const auto rows = csv_rows(text);
  std::vector<Peak> peaks;
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto number = [&](size_t column) {
      return std::strtof(rows[i][column].c_str(), nullptr);
    };
    peaks.push_back({.x = std::atoi(rows[i][7].c_str()),
                     .y = std::atoi(rows[i][8].c_str()),
                     .mip = number(2),
                     .scaled_mip = number(3),
                     .mean = number(4),
                     .sd = number(5),
                     .phi = number(13),
                     .theta = number(14),
                     .psi = number(15),
                     .relative_defocus = number(16)});
  }
  return peaks;
}

inline int64_t correlations_of_csv(const std::string& text) {
  const auto rows = csv_rows(text);
  return rows.size() > 1 ? std::atoll(rows[1][6].c_str()) : 0;
}

}  // namespace engine
