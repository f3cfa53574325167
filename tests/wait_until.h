// Waiting for a condition instead of for a time.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace tests {

// Asks again and again, for so long that only what never comes true is given up.
inline bool becomes_true(const std::function<bool()>& condition,
                         std::chrono::seconds limit = std::chrono::seconds(120)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

}  // namespace tests
