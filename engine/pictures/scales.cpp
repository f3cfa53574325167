#include "engine/pictures/scales.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/io/format.h"

namespace engine {
namespace {

// `anchors`: 0xRRGGBB, evenly spaced.
template <size_t N>
Colour between(const std::array<uint32_t, N>& anchors, double position) {
  const double place = std::clamp(position, 0.0, 1.0) * static_cast<double>(N - 1);
  const size_t first = std::min(static_cast<size_t>(place), N - 2);
  const double part = place - static_cast<double>(first);
  const auto channel = [&](int shift) {
    const double from = anchors[first] >> shift & 255, to = anchors[first + 1] >> shift & 255;
    return (from * (1 - part) + to * part) / 255.0;
  };
  return {channel(16), channel(8), channel(0), 1.0};
}

}  // namespace

Colour grey(double position) {
  const double value = std::clamp(position, 0.0, 1.0);
  return {value, value, value, 1.0};
}

Colour viridis(double position) {
  constexpr std::array<uint32_t, 16> anchors = {
      0x440154, 0x481a6c, 0x472f7d, 0x414487, 0x39568c, 0x31688e, 0x2a788e, 0x23888e,
      0x1f988b, 0x22a884, 0x35b779, 0x54c568, 0x7ad151, 0xa5db36, 0xd2e21b, 0xfde725};
  return between(anchors, position);
}

Colour peak_colour(double position) {
  constexpr std::array<uint32_t, 4> anchors = {0xffec50, 0xff9f1c, 0xff4e42, 0xff54d0};
  return between(anchors, position);
}

double nice_step(double smallest) {
  if (!(smallest > 0) || !std::isfinite(smallest)) return 1.0;
  const double power = std::pow(10.0, std::floor(std::log10(smallest)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= smallest * (1 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

double nice_length(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1.0;
  const double power = std::pow(10.0, std::floor(std::log10(largest)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= largest * (1 + 1e-9)) return factor * power;
  }
  return power;
}

std::vector<double> ticks(double low, double high, int count) {
  std::vector<double> values;
  if (!(high > low)) return values;
  const double step = nice_step((high - low) / std::max(1, count));
  const double slack = 1e-9 * step;
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; k += 1.0) {
    values.push_back(k * step);
  }
  return values;
}

std::string tick_text(double value, double step) {
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
  return format("%.*f", decimals, value == 0 ? 0.0 : value);
}

std::pair<double, double> percentiles(const Image& image, double low, double high) {
  std::vector<float> values;
  values.reserve(image.pixels.size());
  for (const float value : image.pixels) {
    if (std::isfinite(value)) values.push_back(value);
  }
  if (values.empty()) return {0.0, 0.0};
  const auto at = [&](double fraction) {
    const double place = fraction * static_cast<double>(values.size() - 1);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(place + 0.5);
    std::nth_element(values.begin(), middle, values.end());
    return static_cast<double>(*middle);
  };
  const double first = at(low);
  return {first, at(high)};
}

Image binned(const Image& image, int factor, Binning binning) {
  if (factor <= 1) return image;
  Image result((image.height + factor - 1) / factor, (image.width + factor - 1) / factor);
  for (int row = 0; row < result.height; ++row) {
    for (int column = 0; column < result.width; ++column) {
      double sum = 0;
      float largest = -std::numeric_limits<float>::infinity();
      int count = 0;
      for (int y = row * factor; y < std::min(image.height, (row + 1) * factor); ++y) {
        for (int x = column * factor; x < std::min(image.width, (column + 1) * factor); ++x) {
          sum += image.at(y, x);
          largest = std::max(largest, image.at(y, x));
          ++count;
        }
      }
      result.at(row, column) =
          binning == Binning::kMaximum ? largest : static_cast<float>(sum / count);
    }
  }
  return result;
}

Image blurred(const Image& image, double sigma) {
  const int reach = static_cast<int>(std::ceil(3.0 * sigma));
  if (reach < 1 || image.pixels.empty()) return image;
  std::vector<float> weights;
  float sum = 0;
  for (int k = -reach; k <= reach; ++k) {
    weights.push_back(static_cast<float>(std::exp(-0.5 * k * k / (sigma * sigma))));
    sum += weights.back();
  }
  const auto pass = [&](const Image& from, int rows, int columns) {
    Image to(from.height, from.width);
    for (int row = 0; row < from.height; ++row) {
      for (int column = 0; column < from.width; ++column) {
        float value = 0;
        for (int k = -reach; k <= reach; ++k) {
          value += weights[static_cast<size_t>(k + reach)] *
                   from.at(std::clamp(row + k * rows, 0, from.height - 1),
                           std::clamp(column + k * columns, 0, from.width - 1));
        }
        to.at(row, column) = value / sum;
      }
    }
    return to;
  };
  return pass(pass(image, 0, 1), 1, 0);
}

}  // namespace engine
