#include "engine/backend/transforms.h"

namespace engine {

std::vector<Transform> list_transforms(std::span<const Unit> units, int planes,
                                       int64_t orientations) {
  std::vector<Transform> out;
  list_transforms(units, planes, orientations, out);
  return out;
}

void list_transforms(std::span<const Unit> units, int planes, int64_t orientations,
                     std::vector<Transform>& out) {
  const auto index = [&](int plane, int64_t orientation) {
    return static_cast<int32_t>(plane * orientations + orientation);
  };
  out.clear();
  int32_t slot = 0;
  for (const Unit& unit : units) {
    const bool paired = unit.second >= 0;
    for (int plane = 0; plane < planes; plane += paired ? 1 : 2) {
      Transform t{.a = slot + plane, .first = index(plane, unit.first)};
      if (paired) {
        t.b = t.a;
        t.second = index(plane, unit.second);
      } else if (plane + 1 < planes) {
        t.b = t.a + 1;
        t.second = index(plane + 1, unit.first);
      }
      out.push_back(t);
    }
    slot += planes;
  }
}

}  // namespace engine
