// Keeps a database to one process at a time: flock on a file beside it, which holds the owner's
// pid.
#pragma once

#include <string>

namespace db {

class LockFile {
 public:
  // Throws DatabaseHeld when another process holds it.
  explicit LockFile(const std::string& path);
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace db
