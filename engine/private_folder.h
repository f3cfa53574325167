// A folder for the while that something runs.
#pragma once

#include <string>

namespace engine {

// Under TMPDIR, nobody else's, and gone with this object. Throws std::system_error.
class PrivateFolder {
 public:
  // Its name has this word in it.
  explicit PrivateFolder(const std::string& word);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace engine
