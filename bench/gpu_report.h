// What gpu_bench measured, as JSON and as a table for people. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/rounds.h"

namespace bench {

// A kernel, or a library transform, in one call of Backend::correlate.
struct KernelTime {
  std::string name;
  int64_t launches = 0;
  double seconds = 0;           // of all its launches
  std::optional<double> bytes;  // the fewest that they move
};

// One way of correlating.
struct Side {
  std::string fft, precision;
  // Of the fused path, how columns are correlated; of a refused side what was asked for.
  std::string columns;
  std::string refused;  // why it could not run here; then nothing below is filled
  std::string tiling;
  std::vector<std::string> notes;  // of the plan: a batch that was shrunk
  int batch = 0;
  int64_t correlations = 0;  // of one call
  double start_seconds = 0;  // to plan, to make the backend and for its first call
  uint64_t device_bytes = 0, planned_bytes = 0;
  std::vector<double> rates;        // correlations per second, round by round
  std::optional<double> mip_rms;    // from the first side's MIP, after the same work
  std::vector<KernelTime> kernels;  // of one call, the mean of several, apart from the rounds
};

struct Case {
  int height = 0, width = 0, n = 0, planes = 0;
  std::vector<Side> sides;  // the first is what the others are compared with
};

struct Report {
  std::string device;
  std::vector<std::pair<std::string, std::string>> versions;  // name, version
  std::vector<std::pair<std::string, int64_t>> properties;    // CUDA's name of each, value
  double copy_bytes_per_second = 0;  // read and written, of a large copy on the device
  double open_seconds = 0;           // until the device was open
  std::vector<Case> cases;
};

// Seconds a kernel cannot do without, at the bandwidth of a copy.
std::optional<double> floor_seconds(const KernelTime& kernel, double copy_bytes_per_second);

// What a benchmark must not pass over: sides that did not run, or whose maps are too far from the
// first side's for their precision.
std::vector<std::string> complaints(const Report& report);

std::string report_json(const Report& report);
// The table for people: its first line, and each case's lines.
std::string report_head(const Report& report);
std::string case_table(const Case& c, double copy_bytes_per_second);

}  // namespace bench
