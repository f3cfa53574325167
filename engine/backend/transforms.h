// Decides which projections share a transform, and gives the indices of their correlations. Pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/numerics/orientations.h"

namespace engine {

// One complex transform carries up to two real projections a and b: conj(FFT(a - i b)) x image
// comes back with the correlation of a in the real part and that of b in the imaginary part.
struct Transform {
  int32_t a = -1;       // slot of the projection; -1: none, all zeros
  int32_t b = -1;       // slot of projection b; equal to a: a mirrored; -1: there is no b
  int32_t first = 0;    // index of a's correlation in the statistics (see pack_best)
  int32_t second = -1;  // index of b's correlation, above `first`; -1: there is no b
};

// Returns the transforms of `units`, in their order. The projection of unit u in defocus plane d
// has slot u x planes + d. In each plane, a pair of orientations shares a transform; for a single
// orientation, two planes share one. `orientations` is the number in the whole search.
std::vector<Transform> list_transforms(std::span<const Unit> units, int planes,
                                       int64_t orientations);
// Replaces what `out` holds by them, and reuses its memory.
void list_transforms(std::span<const Unit> units, int planes, int64_t orientations,
                     std::vector<Transform>& out);

}  // namespace engine
