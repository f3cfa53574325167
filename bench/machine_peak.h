// Measures what this machine can do at most, from which the least time of a search follows.
#pragma once

namespace bench {

// What all threads together do in a second.
struct MachinePeak {
  double operations;  // of floats; a fused multiply-add is two
  double read;        // bytes from memory
  double write;       // bytes to memory, past the caches
};

// Takes about a second and 256 MB for each thread.
MachinePeak measure_peak(int threads);

}  // namespace bench
