#include "base/private_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace base {

PrivateFolder::PrivateFolder(const std::string& word, const std::string& parent)
    : path_(((parent.empty() ? std::filesystem::temp_directory_path()
                             : std::filesystem::path(parent)) /
             ("margay-" + word + "-XXXXXX"))
                .string()) {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw FileError(errno, "cannot make a folder of its own " +
                               std::string(parent.empty() ? "under TMPDIR " : "") + "('" + path_ +
                               "')");
  }
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;  // a folder left over harms nobody
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace base
