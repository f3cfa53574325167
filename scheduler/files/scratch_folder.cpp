#include "scheduler/files/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace scheduler {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const std::string& name)
    : path_((fs::temp_directory_path() / (name + "-XXXXXX")).string()) {
  if (::mkdtemp(path_.data()) != nullptr) return;
  throw base::FileError(errno,
                        "cannot make a folder in '" + fs::temp_directory_path().string() + "'");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // a few bytes are left where temporary files may be left
  fs::remove_all(path_, ignored);
}

}  // namespace scheduler
