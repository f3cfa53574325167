// Keeps a database to one process at a time: flock on a file beside it, which holds the owner's
// pid.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace db {

class LockFile {
 public:
  // Throws DatabaseHeld when another process holds it.
  explicit LockFile(const std::string& path);

 private:
  // The file is not removed with the lock: otherwise two processes could lock two files of the same
  // name.
  base::Descriptor file_;
};

}  // namespace db
