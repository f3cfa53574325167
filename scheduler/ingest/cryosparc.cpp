#include "scheduler/ingest/cryosparc.h"

#include <cmath>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "scheduler/ingest/ingest_error.h"
#include "scheduler/ingest/numpy.h"

namespace scheduler::ingest {
namespace {

constexpr double kDegrees = 180 / std::numbers::pi;

constexpr const char* kPath = "micrograph_blob/path";

// What is wrong with a record, a clause.
class RecordError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ExposureReader {
 public:
  ExposureReader(const NumpyRecords& records, const std::string& name)
      : records_(records), name_(name) {
    std::vector<std::string> missing;
    for (const char* field : {kPath, "ctf/df1_A", "ctf/df2_A", "ctf/df_angle_rad"}) {
      if (records.find(field) == nullptr) missing.emplace_back(field);
    }
    if (missing.empty()) return;
    throw IngestError(name + ": no field " + base::joined(missing) +
                      "; give exposures with their CTF, as Patch CTF or CTFFIND in cryoSPARC "
                      "export them");
  }

  ListedMicrograph read(size_t record) const {
    ListedMicrograph listed{.place = "record " + std::to_string(record + 1)};
    try {
      listed.path = path(record);
      listed.ctf.defocus_u = number(record, "ctf/df1_A");
      listed.ctf.defocus_v = number(record, "ctf/df2_A");
      listed.ctf.astigmatism_angle = number(record, "ctf/df_angle_rad") * kDegrees;
      listed.ctf.phase_shift = number(record, "ctf/phase_shift_rad") * kDegrees;
      listed.ctf.source = name_;
      listed.optics = {.pixel_size = number(record, "micrograph_blob/psize_A"),
                       .voltage = number(record, "ctf/accel_kv"),
                       .spherical_aberration = number(record, "ctf/cs_mm")};
    } catch (const RecordError& error) {
      listed.refused = error.what();
    }
    return listed;
  }

 private:
  std::string path(size_t record) const {
    std::optional<std::string> path = records_.text(record, *records_.find(kPath));
    if (!path) throw RecordError(std::string(kPath) + " is not text");
    // cryoSPARC marks paths that it resolved itself.
    if (path->starts_with('>')) path->erase(0, 1);
    if (path->empty()) throw RecordError(std::string(kPath) + " is empty");
    if (path->find('\0') != std::string::npos) {
      throw RecordError(std::string(kPath) + " holds a zero byte");
    }
    return *path;
  }

  // 0 for a field that is not there.
  double number(size_t record, const char* name) const {
    const NumpyField* field = records_.find(name);
    if (field == nullptr) return 0;
    const std::optional<double> value = records_.number(record, *field);
    if (!value || !std::isfinite(*value)) throw RecordError(std::string(name) + " is not a number");
    return *value;
  }

  const NumpyRecords& records_;
  const std::string& name_;
};

}  // namespace

std::vector<ListedMicrograph> parse_cryosparc(const std::string& bytes, const std::string& name) {
  if (std::string_view(bytes).starts_with("\x94"
                                          "CSDAT")) {
    throw IngestError(name +
                      ": is in cryoSPARC's compressed format, which is not read; save it as "
                      "a NumPy file (cryosparc-tools: Dataset.load(...).save(...))");
  }
  const NumpyRecords records(bytes, name);
  const ExposureReader reader(records, name);
  std::vector<ListedMicrograph> micrographs;
  for (size_t i = 0; i < records.size(); ++i) micrographs.push_back(reader.read(i));
  return micrographs;
}

}  // namespace scheduler::ingest
