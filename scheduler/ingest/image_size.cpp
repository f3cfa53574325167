#include "scheduler/ingest/image_size.h"

#include <unistd.h>

#include <cerrno>

#include "base/mrc_header.h"

namespace scheduler {

db::ImageSize image_size(int descriptor, int64_t bytes) {
  base::mrc_bytes::HeaderBytes header{};
  size_t got = 0;
  while (got < header.size()) {
    const ssize_t count =
        ::pread(descriptor, header.data() + got, header.size() - got, static_cast<off_t>(got));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    got += static_cast<size_t>(count);
  }
  try {
    const base::MrcHeader image = base::parse_mrc_header(header, got, bytes);
    if (image.nz != 1) return {};
    return {.width = image.nx, .height = image.ny, .pixel_size = image.pixel_size[0]};
  } catch (const base::MrcError&) {
    return {};
  }
}

}  // namespace scheduler
