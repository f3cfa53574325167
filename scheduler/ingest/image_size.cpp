#include "scheduler/ingest/image_size.h"

#include "scheduler/files/mrc_file.h"

namespace scheduler {

db::ImageSize image_size(int descriptor, int64_t bytes) {
  try {
    const base::MrcHeader image = read_mrc_header(descriptor, bytes);
    if (image.nz != 1) return {};
    return {.width = image.nx, .height = image.ny, .pixel_size = image.pixel_size[0]};
  } catch (const base::MrcError&) {
    return {};
  }
}

std::string image_problem(int descriptor, int64_t bytes) {
  try {
    const base::MrcHeader image = read_mrc_header(descriptor, bytes);
    return image.nz == 1 ? "" : "is a stack or a volume, not one image";
  } catch (const base::MrcError& error) {
    return error.what();
  }
}

}  // namespace scheduler
