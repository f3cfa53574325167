#include "base/ctf_doubts.h"

#include <cmath>

namespace base {
namespace {

constexpr double kLeastDefocus = 100;     // A, either sign, but for 0
constexpr double kMostDefocus = 200'000;  // A, either sign
constexpr double kMostRadians = 3.2;      // of a phase shift, either sign, but for 0

}  // namespace

bool is_usual_defocus(double defocus) {
  return defocus == 0 || (defocus >= kLeastDefocus && defocus <= kMostDefocus);
}

std::string defocus_doubt(double defocus) {
  if (is_usual_defocus(defocus)) return "";
  std::string doubt;
  if (defocus < 0) doubt = "underfocus is positive here, so this is overfocus; is the sign right?";
  const auto add = [&](const std::string& words) {
    doubt += (doubt.empty() ? "" : " And ") + words;
  };
  if (std::abs(defocus) < kLeastDefocus) add("is it in um? 1 um is 10000 A");
  if (std::abs(defocus) > kMostDefocus) {
    add("has it a digit too many? Micrographs have some 500 to 60000 A");
  }
  return doubt;
}

std::string phase_shift_doubt(double phase_shift) {
  if (phase_shift == 0 || std::abs(phase_shift) >= kMostRadians) return "";
  return "phase plates shift by 30 to 150 degrees; is it in radians, as CTFFIND writes it?";
}

}  // namespace base
