// Facts and hashes of files that users name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "db/records.h"

namespace scheduler {

struct FileFacts {
  std::string path{};  // canonical
  int64_t bytes = 0;
  int64_t mtime_ns = 0;
  db::FileId id{};
  // The inode's change time: it changes even with a write that resets the modification time.
  int64_t ctime_ns = 0;
};

// The facts of a file now. Throws Invalid when it is not a readable regular file, or when its path
// is not valid UTF-8 (the engine's configuration could not name it).
FileFacts file_facts(const std::string& path);
// The facts of an open file, so that the rights of the user who opened it count.
FileFacts file_facts(int descriptor);

// SHA-256, in lower-case hex, of the first `bytes` of an open file, which may grow while it is
// read. `is_stopped` is called before each block is read; nullopt when it returned true. Throws
// base::FileError.
std::optional<std::string> hash_file_unless(int descriptor, int64_t bytes,
                                            const std::function<bool()>& is_stopped);

}  // namespace scheduler
