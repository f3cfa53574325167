// The ranges of a microscope's optics, in the units of the search settings. They are wide, and keep
// out only numbers that no microscope has: such a number is a slip or in another unit, and the
// search would find nothing or never end.
#pragma once

namespace base {

struct Limits {
  double least = 0;
  double most = 0;
  const char* unit = "";  // with a blank before it
};

inline constexpr Limits kPixelSize{0.01, 100, " A"};
inline constexpr Limits kVoltage{1, 10000, " kV"};
inline constexpr Limits kSphericalAberration{0, 100, " mm"};
inline constexpr Limits kAmplitudeContrast{0, 1};
inline constexpr Limits kDefocus{-1e6, 1e6, " A"};
inline constexpr Limits kAngle{-360, 360, " degrees"};
inline constexpr Limits kBFactor{0, 1e6, " A^2"};

}  // namespace base
