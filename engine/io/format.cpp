#include "engine/io/format.h"

#include <ctime>

namespace engine {

std::string utc_time_text(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, size);
}

std::string duration_text(double seconds) {
  constexpr double kLongest = 1e9;  // an estimate of decades says only "very long"
  const auto whole = static_cast<int64_t>(seconds < kLongest ? seconds + 0.5 : kLongest);
  struct Unit {
    int64_t seconds, smaller;
    const char* pattern;
  };
  constexpr Unit units[] = {
      {86400, 3600, "%lldd %02lldh"}, {3600, 60, "%lldh %02lldm"}, {60, 1, "%lldm %02llds"}};
  for (const Unit& unit : units) {
    if (whole < unit.seconds) continue;
    return format(unit.pattern, static_cast<long long>(whole / unit.seconds),
                  static_cast<long long>(whole % unit.seconds / unit.smaller));
  }
  return format("%llds", static_cast<long long>(whole < 0 ? 0 : whole));
}

std::string grouped_number(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t sign = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > sign + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string rate_text(double per_second) {
  return format(per_second < 100 ? "%.1f" : "%.0f", per_second);
}

}  // namespace engine
