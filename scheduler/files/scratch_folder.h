// A folder of this process's own among the temporary files, removed with all that is in it.
#pragma once

#include <string>

namespace scheduler {

class ScratchFolder {
 public:
  // Its name begins with `name`. Throws FileError.
  explicit ScratchFolder(const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace scheduler
