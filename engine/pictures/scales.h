// Prepares what a picture shows: colours, ticks, ranges, smaller images and text that Cairo can
// draw.
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

// Each returns the colour at a position along a scale from 0 to 1; other positions are clamped.
Colour grey(double position);
Colour viridis(double position);      // dark blue, green, yellow; perceptually uniform
Colour peak_colour(double position);  // bright on grey: yellow, orange, red, magenta

// Returns the smallest of 1, 2 or 5 times a power of ten that is at least `smallest`; 1 where that
// is not positive and finite.
double nice_step(double smallest);
// Returns the largest such value that is at most `largest`; 1 where that is not positive and
// finite.
double nice_length(double largest);
// Returns about `count` multiples of a nice step within [low, high]; none where low >= high.
std::vector<double> ticks(double low, double high, int count);
// Writes the value with just enough decimals to distinguish values that differ by `step`.
std::string tick_text(double value, double step);

// Returns the values below which the fractions `low` and `high` (0 to 1) of the finite pixels lie;
// {0, 0} when no pixel is finite.
std::pair<double, double> percentiles(const Image& image, double low, double high);

enum class Binning { kMean, kMaximum };
// Makes each pixel the mean or maximum of factor x factor pixels; at the right and bottom edges, of
// those that are left.
Image binned(const Image& image, int factor, Binning binning);
// Blurs with a Gaussian of standard deviation `sigma`, in pixels; the edge pixels are repeated
// beyond the edge.
Image blurred(const Image& image, double sigma);

// Returns valid UTF-8 in one line: invalid bytes become U+FFFD, and control characters blanks.
std::string plain_text(const std::string& bytes);
// Shortens text to `count` characters: an ellipsis takes the place of the middle ones.
std::string elided_text(const std::string& text, size_t count);
size_t character_count(const std::string& text);

}  // namespace engine
