// A time span for the user: "35 s", "16.7 min", "11.2 h". Pure.
#pragma once

#include <string>

namespace scheduler {

std::string with_digits(double value, int digits);
std::string span_text(double seconds);

}  // namespace scheduler
