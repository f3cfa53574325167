#include "base/size_text.h"

#include <array>
#include <cstddef>
#include <cstdio>

#include "base/text.h"

namespace base {
namespace {

constexpr uint64_t kMegabyte = 1'000'000;

std::string megabytes(uint64_t count) {
  return grouped_number(static_cast<int64_t>(count)) + " MB";
}

}  // namespace

std::string size_text(int64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string megabytes_needed(uint64_t bytes) {
  return megabytes(bytes / kMegabyte + (bytes % kMegabyte == 0 ? 0 : 1));
}

std::string megabytes_free(uint64_t bytes) { return megabytes(bytes / kMegabyte); }

}  // namespace base
