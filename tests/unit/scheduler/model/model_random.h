// The same numbers from the same seed, on every machine.
#pragma once

#include <cstdint>
#include <random>

namespace tests {

class ModelRandom {
 public:
  explicit ModelRandom(uint64_t seed) : engine_(seed) {}
  // From `least` to `most`, both included.
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(engine_() % static_cast<uint64_t>(most - least + 1));
  }
  // Of a thousand.
  bool chance(int of_1000) { return between(0, 999) < of_1000; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tests
