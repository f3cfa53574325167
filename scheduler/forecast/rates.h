// How much work a search is: W, the seconds that its correlations take on one device, and the other
// terms of the runtime model, learned from finished searches. Pure; db::MeasureStore stores the
// measures.
//
// Each quantity is a running mean of its logarithm. Correlations per second depend on the engine's
// version, the device's model and the sizes of image and template; the others on the first two.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/forecast/runtime_model.h"
#include "scheduler/forecast/site_widths.h"

namespace scheduler {

using Measures = std::vector<db::Measure>;

// What the manifest of a finished search says. Times are in seconds.
struct FinishedSearch {
  std::string engine{};  // version
  std::string device{};  // model, the same for all ranks
  int64_t height = 0;    // of the image
  int64_t width = 0;
  int64_t template_size = 0;
  int64_t gpus = 1;  // ranks, each with a device of its own
  int64_t nodes = 1;
  double correlations = 0;  // done by this attempt
  double search_seconds = 0;
  double serial_seconds = 0;              // read, filter, reduce, write
  std::optional<double> start_seconds{};  // the rest of the job's time; unset: not known
};

// Standard deviation of log(value) over its searches; 0 for fewer than two.
double deviation(const db::Measure& measure);

// The measures that this search changes, for storing; empty when its figures make no sense. The
// rate is per device. A search on several devices teaches the straggler loss if the rate of one
// device is known from other searches; otherwise it teaches the rate, corrected for the loss as far
// as that is known.
Measures learn(const Measures& known, const FinishedSearch& search);

// The size of a search that is still to be done.
struct SearchSize {
  db::SearchCounts counts{};
  db::ImageSize image{};
  // The daemon sets neither yet, since it does not know on which model a search will run and
  // chooses no width for one on processors.
  std::string device{};  // model; empty: the one that most searches ran on
  int cores = 0;         // for a search on processors; 0: it has a GPU
};

// Where a rate comes from.
enum class RateSource {
  kMeasured,     // searches of this size
  kOtherSize,    // searches of the nearest size, by the pixels of the image
  kOtherEngine,  // searches with another version of the engine or fourier_crop, perhaps of another
                 // size, too
  kSite,         // `rates` of the configuration
  kNominal,      // the engine's own constant: not measured yet
};

struct WorkEstimate {
  double seconds = 0;  // W
  double correlations = 0;
  double rate = 0;     // correlations per second
  double sigma = 0.2;  // standard deviation of log(seconds)
  RateSource source = RateSource::kNominal;
  int64_t runs = 0;      // runs from which the rate was learned
  std::string device{};  // model; empty: not known
  int64_t height = 0;    // height of the images, for kOtherSize and kOtherEngine
  int64_t width = 0;
};

inline constexpr const char* kImageUnknown = "the size of its micrograph is not known";
// Why the work cannot be estimated, a clause; empty when it can.
std::string why_unknown(const SearchSize& search);
// `site_rates` are correlations per second on an image of 4096 x 4096, by model of device. nullopt
// when why_unknown() has a reason.
std::optional<WorkEstimate> estimate_work(const Measures& known,
                                          const std::map<std::string, double>& site_rates,
                                          const SearchSize& search);
// "20.5 M correlations at 356/s, 37 past runs, +-4 %".
std::string describe(const WorkEstimate& estimate);

// The model with the terms that were measured on this model of device; the others as RuntimeModel
// has them.
RuntimeModel learned_model(const Measures& known, const WorkEstimate& estimate);

// Work and model together, as input for the choice of a width; nullopt when why_unknown() has a
// reason.
std::optional<SearchTime> search_time(const Measures& known,
                                      const std::map<std::string, double>& site_rates,
                                      const SearchSize& search);

}  // namespace scheduler
