// What a picture needs before a line is drawn: colours, ticks, ranges, smaller images, safe text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/image.h"

namespace engine {

struct Colour {
  double red = 0, green = 0, blue = 0, alpha = 1;
};
inline constexpr Colour kInk = {0.1, 0.1, 0.1, 1};  // of lines and letters

// The colour at a position along a scale from 0 to 1 (clamped).
Colour grey(double position);
Colour viridis(double position);      // dark blue, green, yellow; even to the eye
Colour peak_colour(double position);  // bright on grey: yellow, orange, red, magenta

// 1, 2 or 5 times a power of ten, the smallest that is at least `smallest`.
double nice_step(double smallest);
// The largest such value that is at most `largest`.
double nice_length(double largest);
// Multiples of a nice step within [low, high], about `count` of them.
std::vector<double> ticks(double low, double high, int count);
// The value with as few decimals as keep values one `step` apart different.
std::string tick_text(double value, double step);

// Values below which the two fractions of the finite pixels lie; {0, 0} when none is finite.
std::pair<double, double> percentiles(const Image& image, double low, double high);

enum class Binning { kMean, kMaximum };
// Each pixel is the mean or maximum of factor x factor pixels, at the far edges of what is left.
Image binned(const Image& image, int factor, Binning binning);
// Blurs with a Gaussian of that standard deviation in pixels; beyond the edge the edge pixels
// repeat.
Image blurred(const Image& image, double sigma);

// Valid UTF-8 in one line: bytes that are not become U+FFFD, control characters a blank.
std::string plain_text(const std::string& bytes);
// Removes whole characters from the middle until `count` are left and puts an ellipsis there.
std::string elided_text(const std::string& text, size_t count);
size_t character_count(const std::string& text);

}  // namespace engine
