// What a machine can do at most, measured, as the floor of what a search can take.
#pragma once

namespace bench {

// Of so many threads together, per second.
struct MachinePeak {
  double operations;  // of floats; a fused multiply-add is two
  double read;        // bytes from memory
  double write;       // bytes to memory, past the caches
};

// Takes about a second and 256 MB for each thread.
MachinePeak measure_peak(int threads);

}  // namespace bench
