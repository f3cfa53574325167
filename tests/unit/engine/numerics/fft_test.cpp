// The transforms of the preparation against their definition, whichever library computes them.
#include "engine/numerics/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <thread>

#include "engine/numerics/fft_plan.h"

namespace engine {
namespace {

using Value = std::complex<double>;

// exp(sign 2 pi i numerator / denominator)
Value root(size_t numerator, size_t denominator, int sign) {
  const double turns =
      static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
  return std::polar(1.0, sign * 2 * std::numbers::pi * turns);
}

class Noise {
 public:
  float operator()() { return gaussian_(random_); }

 private:
  std::mt19937 random_{7};
  std::normal_distribution<float> gaussian_;
};

Image noise_image(int height, int width) {
  Noise noise;
  Image image(height, width);
  for (float& pixel : image.pixels) pixel = noise() + 3;
  return image;
}

constexpr std::pair<int, int> kSizes[] = {{6, 10},  {7, 9},   {5, 22}, {1, 4},
                                          {16, 13}, {31, 30}, {62, 58}};

TEST(Fft, OfAnImageIsItsDefinition) {
  for (const auto& [height, width] : kSizes) {
    SCOPED_TRACE(std::to_string(height) + " x " + std::to_string(width));
    const Image image = noise_image(height, width);
    const std::vector<Value> spectrum = forward_2d(image);
    const auto h = static_cast<size_t>(height);
    const auto w = static_cast<size_t>(width);
    ASSERT_EQ(spectrum.size(), h * (w / 2 + 1));
    for (size_t v = 0; v < h; ++v) {
      for (size_t u = 0; u <= w / 2; ++u) {
        Value wanted;
        for (size_t y = 0; y < h; ++y) {
          for (size_t x = 0; x < w; ++x) {
            wanted += static_cast<double>(image.pixels[y * w + x]) * root(v * y, h, -1) *
                      root(u * x, w, -1);
          }
        }
        EXPECT_LT(std::abs(spectrum[v * (w / 2 + 1) + u] - wanted),
                  1e-10 * static_cast<double>(h * w))
            << v << ", " << u;
      }
    }
  }
}

TEST(Fft, BackAndForthIsTheImage) {
  for (const auto& [height, width] : kSizes) {
    const Image image = noise_image(height, width);
    const std::vector<double> back = inverse_2d(forward_2d(image), height, width);
    for (size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], image.pixels[i], 1e-12);
  }
}

// Frequencies that are their own mirrors have no imaginary part in the spectrum of a real line.
TEST(Fft, ImaginaryPartsThatNoRealLineHasAreIgnored) {
  std::vector<Value> spectrum(8 * 5);
  spectrum[0] = {3, 100};
  spectrum[4] = {2, 50};
  const std::vector<double> out = inverse_2d(spectrum, 8, 8);
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_NEAR(out[i], (3 + (i % 2 == 0 ? 2 : -2)) / 64.0, 1e-12) << i;
  }
}

TEST(Fft, OfAVolumeIsItsDefinition) {
  for (const int size : {6, 7, 8}) {
    SCOPED_TRACE(size);
    const auto n = static_cast<size_t>(size);
    Noise noise;
    std::vector<float> values(n * n * n);
    for (float& value : values) value = noise();
    const std::vector<std::complex<float>> spectrum = forward_3d(values, size);
    ASSERT_EQ(spectrum.size(), n * n * (n / 2 + 1));
    for (size_t i = 0; i < spectrum.size(); ++i) {
      const size_t kx = i % (n / 2 + 1), ky = i / (n / 2 + 1) % n, kz = i / (n / 2 + 1) / n;
      Value wanted;
      for (size_t j = 0; j < values.size(); ++j) {
        wanted += static_cast<double>(values[j]) *
                  root(kx * (j % n) + ky * (j / n % n) + kz * (j / n / n), n, -1);
      }
      EXPECT_LT(std::abs(Value(spectrum[i]) - wanted), 2e-5) << i;
    }
  }
}

TEST(Fft, OfALineIsItsDefinition) {
  for (const int length : {1, 2, 12, 22, 35, 37, 58}) {
    const auto n = static_cast<size_t>(length);
    Noise noise;
    cpu::AlignedArray<cpu::Complex> in(n), out(n);
    for (size_t x = 0; x < n; ++x) in[x] = {noise(), noise()};
    for (const auto& [direction, sign] :
         {std::pair{cpu::Direction::kForward, -1}, std::pair{cpu::Direction::kInverse, 1}}) {
      cpu::LinePlan(length, direction).execute(in.data(), out.data());
      for (size_t k = 0; k < n; ++k) {
        Value wanted;
        for (size_t x = 0; x < n; ++x) wanted += Value(in[x]) * root(k * x, n, sign);
        EXPECT_LT(std::abs(Value(out[k]) - wanted), 2e-5) << length << ", " << k;
      }
    }
  }
}

struct Projection {
  explicit Projection(int size)
      : n(static_cast<size_t>(size)), half_plane(n * (n / 2 + 1)), pixels(n * n) {}

  void compute(const cpu::ProjectionPlan& plan) {
    Noise noise;
    for (size_t i = 0; i < half_plane.size(); ++i) half_plane[i] = {noise(), noise()};
    plan.execute(half_plane.data(), pixels.data());
  }

  size_t n;
  cpu::AlignedArray<cpu::Complex> half_plane;
  cpu::AlignedArray<float> pixels;
};

TEST(Fft, OfAProjectionIsThatOfItsHalfPlane) {
  for (const int size : {8, 9, 22, 58}) {
    Projection one(size);
    one.compute(cpu::ProjectionPlan(size));
    Noise noise;
    std::vector<Value> spectrum;
    for (size_t i = 0; i < one.half_plane.size(); ++i) {
      const float re = noise();
      const float im = noise();
      spectrum.emplace_back(re, im);
    }
    const std::vector<double> wanted = inverse_2d(spectrum, size, size);
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(one.pixels[i], wanted[i] * size * size, 1e-4) << size << ", " << i;
    }
  }
}

TEST(Fft, ThreadsShareAPlan) {
  for (const int size : {16, 22, 58}) {
    const cpu::ProjectionPlan plan(size);
    std::vector<Projection> all;
    for (int i = 0; i < 4; ++i) all.emplace_back(size);
    {
      std::vector<std::jthread> threads;
      for (Projection& one : all) {
        threads.emplace_back([&] {
          for (int i = 0; i < 50; ++i) one.compute(plan);
        });
      }
    }
    for (const Projection& one : all) {
      for (size_t i = 0; i < one.pixels.size(); ++i) EXPECT_EQ(one.pixels[i], all[0].pixels[i]);
    }
  }
}

}  // namespace
}  // namespace engine
