#include "scheduler/forecast/rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "base/mrc_header.h"
#include "base/nominal_rate.h"
#include "base/text.h"

namespace scheduler {
namespace {

using db::Measure;
using db::MeasureKind;

constexpr int64_t kEnoughRuns = 5;  // for a spread of their own
constexpr double kUnknownSpread = 0.2;
constexpr double kSitePixels = 4096.0 * 4096.0;
// A tenth of a second: times are known to the second.
constexpr double kLeastSeconds = 0.1;
constexpr double kLeastFigure = 1e-9;
constexpr double kMostFigure = 1e12;

bool makes_sense(double value) { return value >= kLeastFigure && value <= kMostFigure; }

bool is_side(int64_t pixels) { return pixels > 0 && pixels <= base::kLongestMrcAxis; }

bool makes_sense(const FinishedSearch& search) {
  return !search.engine.empty() && !search.device.empty() && is_side(search.height) &&
         is_side(search.width) && is_side(search.template_size) && search.gpus > 0 &&
         search.nodes > 0 && makes_sense(search.correlations) &&
         makes_sense(search.search_seconds) && search.serial_seconds >= 0 &&
         search.serial_seconds <= kMostFigure;
}

auto key_of(const Measure& measure) {
  return std::tie(measure.kind, measure.engine, measure.device, measure.height, measure.width,
                  measure.template_size, measure.gpus);
}

const Measure* find(const Measures& known, const Measure& key) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Measure& other) {
    return key_of(other) == key_of(key) && other.runs > 0;
  });
  return found == known.end() ? nullptr : &*found;
}

// `key` with the runs that are known, and one more. Welford's way.
Measure with(const Measures& known, const Measure& key, double value) {
  const Measure* before = find(known, key);
  Measure measure = before != nullptr ? *before : key;
  const double logarithm = std::log(value);
  ++measure.runs;
  const double distance = logarithm - measure.mean;
  measure.mean += distance / static_cast<double>(measure.runs);
  measure.squares += distance * (logarithm - measure.mean);
  return measure;
}

Measure rate_key(const FinishedSearch& search) {
  return {.kind = MeasureKind::kRate,
          .engine = search.engine,
          .device = search.device,
          .height = search.height,
          .width = search.width,
          .template_size = search.template_size};
}

// As RuntimeModel distinguishes them: one GPU, one node, several.
int64_t start_class(int64_t gpus, int64_t nodes) {
  if (gpus == 1) return 1;
  return nodes == 1 ? 2 : 3;
}

Measure plain_key(MeasureKind kind, const std::string& engine, const std::string& device,
                  int64_t gpus = 0) {
  return {.kind = kind, .engine = engine, .device = device, .gpus = gpus};
}

double pixels_of(const Measure& measure) {
  return static_cast<double>(measure.height) * static_cast<double>(measure.width);
}

double pixels_of(const db::ImageSize& image) {
  return static_cast<double>(image.height) * static_cast<double>(image.width);
}

// The model that most searches ran on; empty: none has run.
std::string usual_device(const Measures& known) {
  std::map<std::string, int64_t> runs;
  for (const Measure& measure : known) {
    if (measure.kind == MeasureKind::kRate) runs[measure.device] += measure.runs;
  }
  const auto most = std::max_element(
      runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == runs.end() ? "" : most->first;
}

// By version of the engine, then by size of the image, then by that of the template.
const Measure* nearest_rate(const Measures& known, const SearchSize& search,
                            const std::string& device) {
  const auto distance = [&](const Measure& measure) {
    const double pixels = std::abs(std::log(pixels_of(measure) / pixels_of(search.image)));
    return std::tuple(measure.engine != search.counts.engine, pixels,
                      std::abs(measure.template_size - search.counts.template_size));
  };
  const Measure* nearest = nullptr;
  for (const Measure& measure : known) {
    if (measure.kind != MeasureKind::kRate || measure.device != device || measure.runs < 1)
      continue;
    if (nearest == nullptr || distance(measure) < distance(*nearest)) nearest = &measure;
  }
  return nearest;
}

RateSource source_of(const Measure& measure, const SearchSize& search) {
  if (measure.engine != search.counts.engine) return RateSource::kOtherEngine;
  const bool same = measure.height == search.image.height && measure.width == search.image.width &&
                    measure.template_size == search.counts.template_size;
  return same ? RateSource::kMeasured : RateSource::kOtherSize;
}

WorkEstimate from_measure(const Measure& measure, const SearchSize& search) {
  WorkEstimate estimate{
      .rate = std::exp(measure.mean) * pixels_of(measure) / pixels_of(search.image),
      .source = source_of(measure, search),
      .runs = measure.runs,
      .device = measure.device,
      .height = measure.height,
      .width = measure.width};
  const bool own_spread = estimate.source == RateSource::kMeasured && measure.runs >= kEnoughRuns;
  estimate.sigma = own_spread ? deviation(measure) : kUnknownSpread;
  return estimate;
}

// Without a model: the rate of the only one that the site names.
std::optional<WorkEstimate> from_site(const std::map<std::string, double>& rates,
                                      const SearchSize& search, const std::string& device) {
  auto found = rates.find(device);
  if (device.empty() && rates.size() == 1) found = rates.begin();
  if (found == rates.end()) return std::nullopt;
  return WorkEstimate{.rate = found->second * kSitePixels / pixels_of(search.image),
                      .source = RateSource::kSite,
                      .device = found->first};
}

WorkEstimate nominal(const SearchSize& search, const std::string& device) {
  const double pixels = pixels_of(search.image);
  const double seconds = search.cores > 0
                             ? base::seconds_on_cores(pixels, search.cores, base::kFusedOnCore)
                             : base::seconds_on_gpu(pixels, base::kCufftBytes);
  return {.rate = 1 / seconds, .source = RateSource::kNominal, .device = device};
}

std::string number(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string count_text(double count) {
  if (count >= 1e9) return number("%.3g G", count / 1e9);
  if (count >= 1e6) return number("%.3g M", count / 1e6);
  return base::grouped_number(std::llround(count));
}

std::string runs_text(int64_t runs) {
  return std::to_string(runs) + (runs == 1 ? " past run" : " past runs");
}

}  // namespace

double deviation(const Measure& measure) {
  if (measure.runs < 2) return 0;
  return std::sqrt(measure.squares / static_cast<double>(measure.runs - 1));
}

Measures learn(const Measures& known, const FinishedSearch& search) {
  if (!makes_sense(search)) return {};
  Measures changed;
  const auto gpus = static_cast<double>(search.gpus);
  const double together = search.correlations / search.search_seconds / gpus;
  const Measure key = rate_key(search);
  const Measure* rate = search.gpus > 1 ? find(known, key) : nullptr;
  const Measure loss_key = plain_key(MeasureKind::kLoss, search.engine, search.device, search.gpus);
  if (rate != nullptr) {
    // 1 + h; less than 1 is chance.
    changed.push_back(with(known, loss_key, std::max(1.0, std::exp(rate->mean) / together)));
  } else {
    const Measure* loss = search.gpus > 1 ? find(known, loss_key) : nullptr;
    changed.push_back(with(known, key, together * (loss == nullptr ? 1 : std::exp(loss->mean))));
  }
  const Measure serial = plain_key(MeasureKind::kSerial, search.engine, search.device);
  changed.push_back(with(known, serial, std::max(kLeastSeconds, search.serial_seconds)));
  if (search.start_seconds && *search.start_seconds <= kMostFigure) {
    const Measure start = plain_key(MeasureKind::kStart, search.engine, search.device,
                                    start_class(search.gpus, search.nodes));
    changed.push_back(with(known, start, std::max(kLeastSeconds, *search.start_seconds)));
  }
  return changed;
}

std::string why_unknown(const SearchSize& search) {
  if (search.counts.engine.empty()) {
    return "the orientations of its template were not counted: register the template again";
  }
  if (search.image.width <= 0 || search.image.height <= 0) {
    return kImageUnknown;
  }
  return "";
}

std::optional<WorkEstimate> estimate_work(const Measures& known,
                                          const std::map<std::string, double>& site_rates,
                                          const SearchSize& search) {
  if (!why_unknown(search).empty()) return std::nullopt;
  const std::string device = search.device.empty() ? usual_device(known) : search.device;
  WorkEstimate estimate;
  if (const Measure* nearest = nearest_rate(known, search, device)) {
    estimate = from_measure(*nearest, search);
  } else {
    estimate = from_site(site_rates, search, device).value_or(nominal(search, device));
  }
  const db::SearchCounts& counts = search.counts;
  estimate.correlations = static_cast<double>(counts.orientations) *
                          static_cast<double>(counts.defocus_planes) *
                          static_cast<double>(counts.pixel_sizes);
  estimate.seconds = estimate.correlations / estimate.rate;
  return estimate;
}

std::string describe(const WorkEstimate& estimate) {
  const std::string images =
      std::to_string(estimate.width) + " x " + std::to_string(estimate.height) + " pixels";
  std::string text = count_text(estimate.correlations) + " correlations at " +
                     base::rate_text(estimate.rate) + "/s, ";
  switch (estimate.source) {
    case RateSource::kMeasured:
      text += runs_text(estimate.runs);
      break;
    case RateSource::kOtherSize:
      text += "scaled from " + runs_text(estimate.runs) + " on images of " + images;
      break;
    case RateSource::kOtherEngine:
      text += runs_text(estimate.runs) +
              " of another version of the engine or of fourier_crop on images of " + images;
      break;
    case RateSource::kSite:
      return text + "the site's rate of '" + estimate.device + "'";
    case RateSource::kNominal:
      return text + "not measured yet";
  }
  return text + ", +-" + number("%.0f", 100 * estimate.sigma) + " %";
}

RuntimeModel learned_model(const Measures& known, const WorkEstimate& estimate) {
  RuntimeModel model;
  model.sigma = estimate.sigma;
  // Of several versions of the engine, what the most searches say.
  std::map<std::pair<MeasureKind, int64_t>, const Measure*> best;
  for (const Measure& measure : known) {
    if (measure.device != estimate.device || measure.runs < 1) continue;
    const Measure*& entry = best[{measure.kind, measure.gpus}];
    if (entry == nullptr || measure.runs > entry->runs) entry = &measure;
  }
  for (const auto& [key, measure] : best) {
    const double value = std::exp(measure->mean);
    switch (measure->kind) {
      case MeasureKind::kRate:
        break;
      case MeasureKind::kLoss:
        model.straggler_loss[static_cast<int>(measure->gpus)] = value - 1;
        break;
      case MeasureKind::kSerial:
        model.serial_seconds = value;
        break;
      case MeasureKind::kStart:
        if (measure->gpus == 1) model.start_seconds_gpu = value;
        if (measure->gpus == 2) model.start_seconds_node = value;
        if (measure->gpus == 3) model.start_seconds_nodes = value;
        break;
    }
  }
  return model;
}

std::optional<SearchTime> search_time(const Measures& known,
                                      const std::map<std::string, double>& site_rates,
                                      const SearchSize& search) {
  const auto estimate = estimate_work(known, site_rates, search);
  if (!estimate) return std::nullopt;
  return SearchTime{
      .work = estimate->seconds,
      .model = learned_model(known, *estimate),
      .source = describe(*estimate),
      .well_known = estimate->source == RateSource::kMeasured && estimate->runs >= kEnoughRuns};
}

}  // namespace scheduler
