// Which projections share a transform, and the indices of their correlations. Pure.
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
  int32_t b = -1;       // its slot; `a` again: the projection a mirrored; -1: there is no b
  int32_t first = 0;    // index of a's correlation in the statistics (see pack_best)
  int32_t second = -1;  // of b's, above `first`; -1: there is no b
};

// The transforms of `units`, in their order. The projection of unit u in defocus plane d has slot
// u x planes + d. A pair of orientations shares a transform; the planes of a single one share
// theirs two by two. `orientations` is how many the whole search has.
std::vector<Transform> list_transforms(std::span<const Unit> units, int planes,
                                       int64_t orientations);

}  // namespace engine
