#include "engine/numerics/whitening.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace engine {
namespace {

double interpolate(double x, const std::vector<double>& xs, const std::vector<double>& ys) {
  if (x <= xs.front()) return ys.front();
  if (x >= xs.back()) return ys.back();
  const auto right = static_cast<size_t>(std::upper_bound(xs.begin(), xs.end(), x) - xs.begin());
  const size_t left = right - 1;
  const double t = (x - xs[left]) / (xs[right] - xs[left]);
  return ys[left] + t * (ys[right] - ys[left]);
}

std::vector<double> bin_centres(int bins) {
  std::vector<double> x(static_cast<size_t>(bins));
  const double last = std::numbers::sqrt2 / 2.0;
  const double step = bins > 1 ? last / (bins - 1) : 0.0;
  for (size_t j = 0; j < x.size(); ++j) x[j] = static_cast<double>(j) * step;
  x.back() = last;
  return x;
}

// Mean over the half-plane's samples, each counting once, split linearly between the two bins.
std::vector<double> radial_mean(const std::vector<std::complex<double>>& spectrum, int height,
                                int width, const std::vector<double>& x, bool power) {
  std::vector<double> sum(x.size()), count(x.size());
  const size_t columns = static_cast<size_t>(width) / 2 + 1;
  for (int row = 0; row < height; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const std::complex<double> f = spectrum[static_cast<size_t>(row) * columns + column];
      const double value = power ? std::norm(f) : std::abs(f);
      const double rho = frequency(row, static_cast<int>(column), height, width);
      const auto i = std::lower_bound(x.begin(), x.end(), rho) - x.begin();
      const auto last = static_cast<std::ptrdiff_t>(x.size()) - 1;
      const auto left = static_cast<size_t>(std::clamp<std::ptrdiff_t>(i - 1, 0, last));
      const auto right = static_cast<size_t>(std::clamp<std::ptrdiff_t>(i, 0, last));
      const double w = (rho - x[left]) / std::max(x[right] - x[left], 1e-6);
      sum[left] += value * (1.0 - w);
      sum[right] += value * w;
      count[left] += 1.0 - w;
      count[right] += w;
    }
  }
  for (size_t j = 0; j < sum.size(); ++j) sum[j] /= count[j] == 0 ? 1.0 : count[j];
  return sum;
}

}  // namespace

double frequency(int row, int column, int height, int width) {
  const int signed_row = row < (height + 1) / 2 ? row : row - height;
  return std::hypot(static_cast<double>(signed_row) / height, static_cast<double>(column) / width);
}

double WhiteningCurve::at(double rho) const {
  return rho >= frequencies.back() ? 1.0 : interpolate(rho, frequencies, weights);
}

int automatic_bins(int height, int width) {
  return static_cast<int>((std::max(height, width / 2 + 1) / 2 + 1) * std::numbers::sqrt2 + 1);
}

WhiteningCurve whitening_curve(const std::vector<std::complex<double>>& spectrum, int height,
                               int width, const WhiteningFilter& filter) {
  WhiteningCurve curve;
  curve.frequencies = bin_centres(filter.num_freq_bins.value_or(automatic_bins(height, width)));
  curve.power = radial_mean(spectrum, height, width, curve.frequencies, filter.do_power_spectrum);
  const auto excluded = [&](size_t j) {
    return filter.max_freq && curve.frequencies[j] > *filter.max_freq;
  };
  double largest = 0;
  for (size_t j = 0; j < curve.power.size(); ++j) {
    if (filter.do_power_spectrum) curve.power[j] = std::sqrt(curve.power[j]);
    curve.weights.push_back(curve.power[j] > 0 ? 1.0 / curve.power[j] : 0.0);
    if (!excluded(j)) largest = std::max(largest, curve.weights[j]);
  }
  for (size_t j = 0; j < curve.weights.size(); ++j) {
    curve.weights[j] = excluded(j) || largest == 0 ? 1.0 : curve.weights[j] / largest;
  }
  return curve;
}

double bandpass_at(double rho, const BandpassFilter& filter) {
  if (!filter.enabled) return 1.0;
  const double low = filter.low_freq_cutoff;
  const double high = filter.high_freq_cutoff;
  if (rho > low && rho <= high) return 1.0;
  const bool rising = rho > low - filter.falloff && rho <= low;
  const bool falling = rho > high && rho <= high + filter.falloff;
  if (filter.falloff <= 0 || (!rising && !falling)) return 0.0;
  const double distance = std::min(std::abs(rho - low), std::abs(rho - high));
  return std::cos(std::numbers::pi / 2.0 * distance / filter.falloff);
}

double curve_at(double rho, const ArbitraryCurveFilter& filter) {
  if (!filter.enabled) return 1.0;
  if (rho < filter.frequencies.front() || rho >= filter.frequencies.back()) return 1.0;
  return interpolate(rho, filter.frequencies, filter.amplitudes);
}

}  // namespace engine
