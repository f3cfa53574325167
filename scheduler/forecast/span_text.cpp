#include "scheduler/forecast/span_text.h"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace scheduler {
namespace {

constexpr double kMinute = 60;
constexpr double kHour = 3600;

}  // namespace

std::string with_digits(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string span_text(double seconds) {
  if (seconds < kMinute) return with_digits(std::ceil(seconds), 0) + " s";
  if (seconds < kHour) return with_digits(seconds / kMinute, 1) + " min";
  return with_digits(seconds / kHour, 1) + " h";
}

}  // namespace scheduler
