#include "scheduler/ingest/relion.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/parse_number.h"
#include "base/text.h"
#include "scheduler/ingest/ingest_error.h"
#include "scheduler/ingest/star.h"

namespace scheduler::ingest {
namespace {

// What is wrong with a row, a clause.
class RowError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

double number_in(const StarTable& table, const StarRow& row, size_t column) {
  const std::string& word = row.values[column];
  const auto value = base::parse_number<double>(word);
  if (value && std::isfinite(*value)) return *value;
  throw RowError(table.columns[column].substr(1) + ": '" + word + "' is not a number");
}

// Of a column that need not be there; 0 without it.
double optional_number(const StarTable& table, const StarRow& row, const char* column) {
  const auto at = table.find(column);
  return at ? number_in(table, row, *at) : 0;
}

// 3.0 has the detector's pixels in um and the magnification.
double pixel_size_in(const StarTable& table, const StarRow& row) {
  for (const char* column : {"_rlnMicrographPixelSize", "_rlnMicrographOriginalPixelSize"}) {
    if (table.find(column)) return optional_number(table, row, column);
  }
  const double magnification = optional_number(table, row, "_rlnMagnification");
  const double detector = optional_number(table, row, "_rlnDetectorPixelSize");
  return magnification > 0 ? 1e4 * detector / magnification : 0;
}

ListedOptics optics_in(const StarTable& table, const StarRow& row) {
  return {.pixel_size = pixel_size_in(table, row),
          .voltage = optional_number(table, row, "_rlnVoltage"),
          .spherical_aberration = optional_number(table, row, "_rlnSphericalAberration")};
}

using OpticsGroups = std::map<std::string, ListedOptics>;

// By the number of the group; empty for 3.0.
OpticsGroups optics_groups(const std::vector<StarTable>& tables, const std::string& name) {
  OpticsGroups groups;
  for (const StarTable& table : tables) {
    const auto number = table.find("_rlnOpticsGroup");
    if (table.name != "optics" || !number) continue;
    for (const StarRow& row : table.rows) {
      try {
        groups[row.values[*number]] = optics_in(table, row);
      } catch (const RowError& error) {
        throw IngestError(name + ": line " + std::to_string(row.line) + ": " + error.what());
      }
    }
  }
  return groups;
}

// 3.1 and later have it with the micrograph's name in "data_micrographs", 3.0 in "data_".
const StarTable& micrographs_in(const std::vector<StarTable>& tables, const std::string& name) {
  const StarTable* found = nullptr;
  for (const StarTable& table : tables) {
    if (table.name == "optics") continue;
    if (table.find("_rlnCoordinateX")) {
      throw IngestError(name + ": a list of particles; give the list of micrographs, RELION's " +
                        "CtfFind/job.../micrographs_ctf.star");
    }
    if (found == nullptr && table.find("_rlnMicrographName")) found = &table;
  }
  if (found == nullptr) throw IngestError(name + ": no column _rlnMicrographName");
  return *found;
}

class MicrographReader {
 public:
  MicrographReader(const std::vector<StarTable>& tables, const std::string& name)
      : table_(micrographs_in(tables, name)), groups_(optics_groups(tables, name)), name_(name) {
    std::vector<std::string> missing;
    for (const char* column : {"_rlnDefocusU", "_rlnDefocusV", "_rlnDefocusAngle"}) {
      if (!table_.find(column)) missing.emplace_back(column);
    }
    if (missing.empty()) return;
    throw IngestError(name + ": no column " + base::joined(missing) +
                      "; give the list that RELION's CtfFind job wrote, micrographs_ctf.star");
  }

  std::vector<ListedMicrograph> read() const {
    std::vector<ListedMicrograph> micrographs;
    for (const StarRow& row : table_.rows) {
      ListedMicrograph listed{.place = "line " + std::to_string(row.line),
                              .path = row.values[*table_.find("_rlnMicrographName")]};
      try {
        listed.ctf = ctf_of(row);
        listed.optics = optics_of(row);
        if (listed.path.empty()) throw RowError("_rlnMicrographName is empty");
      } catch (const RowError& error) {
        listed.refused = error.what();
      }
      micrographs.push_back(std::move(listed));
    }
    return micrographs;
  }

 private:
  db::Ctf ctf_of(const StarRow& row) const {
    const auto number = [&](const char* column) {
      return number_in(table_, row, table_.find(column).value());
    };
    db::Ctf ctf;
    ctf.defocus_u = number("_rlnDefocusU");
    ctf.defocus_v = number("_rlnDefocusV");
    ctf.astigmatism_angle = number("_rlnDefocusAngle");
    ctf.phase_shift = optional_number(table_, row, "_rlnPhaseShift");
    ctf.source = name_;
    return ctf;
  }

  ListedOptics optics_of(const StarRow& row) const {
    const auto column = table_.find("_rlnOpticsGroup");
    if (!column) return optics_in(table_, row);
    const auto group = groups_.find(row.values[*column]);
    if (group != groups_.end()) return group->second;
    throw RowError("no optics group " + row.values[*column] + " in the file's block data_optics");
  }

  const StarTable& table_;
  OpticsGroups groups_;
  const std::string& name_;
};

}  // namespace

std::vector<ListedMicrograph> parse_relion(const std::string& text, const std::string& name) {
  const std::vector<StarTable> tables = parse_star(text, name);
  return MicrographReader(tables, name).read();
}

}  // namespace scheduler::ingest
