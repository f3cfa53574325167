#include "scheduler/files/mrc_file.h"

#include <unistd.h>

#include <cerrno>

#include "base/mrc_bytes.h"

namespace scheduler {

base::MrcHeader read_mrc_header(int descriptor, int64_t bytes) {
  base::mrc_bytes::HeaderBytes header{};
  size_t got = 0;
  while (got < header.size()) {
    const ssize_t count =
        ::pread(descriptor, header.data() + got, header.size() - got, static_cast<off_t>(got));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    got += static_cast<size_t>(count);
  }
  return base::parse_mrc_header(header, got, bytes);
}

}  // namespace scheduler
